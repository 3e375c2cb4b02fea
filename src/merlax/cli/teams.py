"""The commands that use a finished team: evaluate, crossplay, render."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from rich.table import Table
from tyro.conf import Positional, arg

from merlax import api
from merlax.cli.parsing import open_run, parse, show
from merlax.config import to_json
from merlax.runs.evaluation import FINAL_EPISODES
from merlax.runs.reader import SCRIPTED


def evaluate(args: Sequence[str]) -> int:
    """Test a run's champion on fresh episodes, without noise."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        run: Annotated[Positional[Path], arg(metavar="RUN")]
        """A run folder."""
        episodes: int = FINAL_EPISODES
        """Fresh instances of the world to play."""
        seed: int = 0
        """Seed of the instances."""
        against: str | None = None
        """In a world with an opponent: "scripted", or a run folder whose opponent to meet instead of the run's own."""
        env: str | None = None
        """The world again as module:World, if it is one of your own."""
        json: bool = False
        """Print JSON instead of a sentence."""

    o = parse(Options, "evaluate", args, evaluate.__doc__)
    against = o.against if o.against in (None, SCRIPTED) else open_run(Path(o.against), o.env)
    result = api.evaluate(open_run(o.run, o.env), o.episodes, o.seed, against)
    if o.json:
        print(to_json(dataclasses.asdict(result)))
    elif result.interval95 is None:
        print(f"{result} (1 episode, no interval)")
    else:
        print(f"{result} (mean of {result.episodes} episodes, 95% interval)")
    return 0


def crossplay(args: Sequence[str]) -> int:
    """Play every run's team against every run's opponent and the scripted one: a table and a heat map."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        runs: Annotated[Positional[tuple[Path, ...]], arg(metavar="RUN")]
        """Run folders on one world with an opponent."""
        episodes: int = FINAL_EPISODES
        """Fresh instances of the world to play, the same for every pair."""
        seed: int = 0
        """Seed of the instances."""
        out: Path | None = None
        """Heat map to write (.png, .pdf or .svg), with the scores beside it as .csv."""
        env: str | None = None
        """The world again as module:World, if it is one of your own."""
        json: bool = False
        """Print JSON instead of a table."""

    o = parse(Options, "crossplay", args, crossplay.__doc__)
    matrix = api.play_each_other([open_run(run, o.env) for run in o.runs], o.episodes, o.seed)
    if o.json:
        print(to_json(dataclasses.asdict(matrix)))
    else:
        table = Table("team \\ opponent", *matrix.opponents, box=None, pad_edge=False)
        for team, line in zip(matrix.teams, matrix.scores, strict=True):
            table.add_row(team, *map(str, line))
        show(table, 160)
    if o.out is not None:
        print(api.plot_matrix(matrix, o.out))
    return 0


def render(args: Sequence[str]) -> int:
    """Show episodes of a run's champion: a page that plays them, a film, or a picture."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        run: Annotated[Positional[Path], arg(metavar="RUN")]
        """A run folder."""
        out: Path
        """File to write: .html for a page; .gif or .mp4 for a film; .png, .pdf or .svg for a picture."""
        seed: int = 0
        """Seed of the instance; a page's next episodes have the next seeds."""
        episodes: int | None = None
        """Episodes that a page holds to choose from; by default 5."""
        compare: Path | None = None
        """Another run on the same world, to be seen beside it on the same instances."""
        env: str | None = None
        """The world again as module:World, if it is one of your own."""

    o = parse(Options, "render", args, render.__doc__)
    other = None if o.compare is None else open_run(o.compare, o.env)
    print(api.render(open_run(o.run, o.env), o.out, o.seed, compare=other, episodes=o.episodes))
    return 0
