"""Episodes of finished teams, to be seen: one team's, or those of several on the same instances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from merlax import config, figures
from merlax.envs.drawing import Filmed
from merlax.envs.outside import Outside
from merlax.figures import Replay, style
from merlax.figures.page import SUFFIX
from merlax.runs import evaluation, reader, teams
from merlax.runs.reader import Run
from merlax.runs.teams import Lineup
from merlax.types import UserError

EPISODES = 5  # of a page, unless somebody says so
EPISODES_IN_PICTURES, PICTURES = 1, 300  # where a world draws itself, which takes long; and pictures of all of them
MOST_EPISODES = 100


def replay(runs: Sequence[Run | Lineup], seed: int = 0, number: int | None = None) -> Replay:
    """A page that plays the same instances as every team plays them."""
    if number is None:
        number = EPISODES_IN_PICTURES if isinstance(runs[0].env, Outside | Filmed) else EPISODES
    found = episodes(runs, seed, number, pictures=PICTURES)
    return figures.make_replay(runs[0].title, subtitle(runs), found)


def render(runs: Sequence[Run | Lineup], out: Path, seed: int = 0, number: int | None = None) -> None:
    """Write a page that plays episodes, a film, or a picture, by the file's name."""
    suffix = style.check_suffix(out, figures.SUFFIXES)
    paged = suffix == SUFFIX
    if number is not None and not paged and number != 1:
        raise UserError(
            f"'{out}' shows a single episode; leave --episodes out, or let the file's name end in {SUFFIX}."
        )
    if paged:
        replay(runs, seed, number).save(out)
    else:
        figures.render(episodes(runs, seed, 1)[0].scenes, out)


def episodes(
    runs: Sequence[Run | Lineup], seed: int, number: int, *, pictures: int | None = None
) -> list[figures.Episode]:
    """The same instances as every team plays them, each from a seed of its own.

    Of a world that draws itself there are at most so many pictures in all, or those of every instant.
    """
    if not 1 <= number <= MOST_EPISODES:
        raise UserError(f"episodes is {number}; choose a whole number from 1 to {MOST_EPISODES}.")
    _refuse_others(runs)
    labels, each = names(runs), pictures and max(1, pictures // (number * len(runs)))
    return [
        figures.Episode(
            at,
            tuple(
                figures.scene(run.env, evaluation.trace(run, at), label, pictures=each)
                for run, label in zip(runs, labels, strict=True)
            ),
        )
        for at in range(seed, seed + number)
    ]


def names(runs: Sequence[Run | Lineup]) -> list[str]:
    """What tells teams apart: the algorithm, the seed, or the folder; a single team needs no name."""
    if len(runs) == 1:
        return [""]
    for of in (_kind, _made, lambda run: run.path.resolve().name if isinstance(run, Run) else run.name):
        found = [of(run) for run in runs]
        if len(set(found)) == len(found):
            return found
    return [f"{_kind(run)} {number}" for number, run in enumerate(runs, 1)]


def subtitle(runs: Sequence[Run | Lineup]) -> str:
    """Whose episodes these are."""
    return " beside ".join(map(_made, runs))


def _kind(run: Run | Lineup) -> str:
    return run.config["algorithm"] if isinstance(run, Run) else teams.label(run.name)


def _made(run: Run | Lineup) -> str:
    return f"{_kind(run)}, seed {run.config['seed']}" if isinstance(run, Run) else _kind(run)


def _refuse_others(runs: Sequence[Run | Lineup]) -> None:
    first = runs[0]
    for run in runs[1:]:
        ours, theirs = (reader.env_record(each.env) | reader.shape_record(each.env) for each in (first, run))
        different = config.difference(ours, theirs)
        if different:
            ours, theirs = (f"'{each.path}'" if isinstance(each, Run) else f"'{each.title}'" for each in (first, run))
            raise UserError(
                f"The teams of {ours} and {theirs} cannot be compared, for their worlds differ: {different}."
            )
