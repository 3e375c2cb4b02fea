"""Makes what pages show of each world: docs/replays/WORLD.html, which plays, and docs/images/wall/WORLD.gif.

    python docs/tools/replays.py              # all worlds
    python docs/tools/replays.py rover-3      # some
    python docs/tools/replays.py --pages      # no films: as `make docs` does, for the pages are not committed

The trained teams are those of champions/, on some pages beside a hand rule. The films show the same team beside one
whose network was never trained, on the same instance.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import jax

from merlax.core import devices
from merlax.core.networks import TeamPolicy
from merlax.core.players import PolicyPlayer
from merlax.figures import episode, scene
from merlax.runs import evaluation, replays, teams
from merlax.runs.reader import Run
from merlax.runs.teams import Lineup

ROOT = Path(__file__).parents[2]
PIXELS = 220  # of each of the two pictures of a film
EPISODES = 3  # of a page


@dataclasses.dataclass(frozen=True)
class Shown:
    """Who is seen in a world beside the trained team, on its page; and in which instance."""

    beside: str | None = None
    seed: int = 0


WORLDS = {
    "rover-3": Shown(),
    "rover-7": Shown(),
    "two-rovers": Shown(beside="scripted"),
    "predator-prey": Shown(),
    "physical-deception": Shown(beside="scripted"),
    "keep-away": Shown(beside="scripted"),
}


def untrained(team: Run | Lineup) -> Lineup:
    """A team in the same place whose network is as it was made."""
    policy = TeamPolicy(jax.random.key(0), team.env.sides[0], (100, 100))
    return Lineup("untrained", "untrained", team.env, PolicyPlayer(policy), team.opponent)


def make_page(world: str, team: Run | Lineup, shown: Shown) -> Path:
    """The team's episodes, which play."""
    others = [] if shown.beside is None else [teams.beside(team, shown.beside)]
    return replays.replay([team, *others], shown.seed, EPISODES).save(ROOT / "docs" / "replays" / f"{world}.html")


def make_film(world: str, team: Run | Lineup, shown: Shown) -> Path:
    """The team beside an untrained one."""
    pair = {"trained": team, "untrained": untrained(team)}
    scenes = [scene(each.env, evaluation.trace(each, shown.seed), name) for name, each in pair.items()]
    film = ROOT / "docs" / "images" / "wall" / f"{world}.gif"
    episode.animate(scenes, film, pixels=PIXELS)
    return film


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("worlds", nargs="*", metavar="WORLD", help=f"of {', '.join(WORLDS)}; by default all")
    arguments.add_argument("--pages", action="store_true", help="make no films")
    asked = arguments.parse_args()
    devices.prepare()
    for world in asked.worlds or WORLDS:
        team = teams.find(ROOT / "champions" / world)
        for make in (make_page,) if asked.pages else (make_page, make_film):
            path = make(world, team, WORLDS[world])
            print(f"{path.relative_to(ROOT)}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
