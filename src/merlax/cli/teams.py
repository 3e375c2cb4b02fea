"""The commands that use a finished team: evaluate, diagnose, crossplay, render, export."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

from rich.table import Table
from tyro.conf import Positional, arg

from merlax import api
from merlax.cli.parsing import find_team, open_run, parse, parse_team, show
from merlax.config import to_json
from merlax.runs import terminal
from merlax.runs.diagnosis import EPISODES, Finding
from merlax.runs.evaluation import FINAL_EPISODES
from merlax.runs.teams import is_rule

Target: TypeAlias = Annotated[
    Positional[Path], arg(metavar="RUN|WORLD", help="A run folder; or, with --team, a world (its options: --env.NAME).")
]
Rule: TypeAlias = Annotated[
    str | None,
    arg(help='A hand rule that plays instead of a champion: "scripted", another of the world\'s own, or "still".'),
]


def evaluate(args: Sequence[str]) -> int:
    """Test a run's champion, or a hand rule, on fresh episodes, without noise."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        run: Target
        team: Rule = None
        episodes: int = FINAL_EPISODES
        """Fresh instances of the world to play."""
        seed: int = 0
        """Seed of the instances."""
        against: str | None = None
        """In a world with an opponent: a rule for it, such as "scripted" or "still", or a run folder whose opponent to
        meet instead of the run's own."""
        env: str | None = None
        """The world again as module:World, if it is one of your own."""
        json: bool = False
        """Print JSON instead of a sentence."""

    o, rest = parse_team(Options, "evaluate", args, evaluate.__doc__)
    team, against = find_team(o, rest, "evaluate"), o.against
    if against is not None and Path(against).exists():
        against = open_run(Path(against), o.env)
    result = api.evaluate(team, o.episodes, o.seed, against)
    if o.json:
        print(to_json(dataclasses.asdict(result)))
    elif result.interval95 is None:
        print(f"{result} (1 episode, no interval)")
    else:
        print(f"{result} (mean of {result.episodes} episodes, 95% interval)")
    return 0


def diagnose(args: Sequence[str]) -> int:
    """Tell how a run's champion, or a hand rule, fails: a table, and one figure."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        run: Target
        team: Rule = None
        episodes: int = EPISODES
        """Fresh instances of the world to play."""
        seed: int = 0
        """Seed of the instances."""
        out: Path | None = None
        """Figure to write (.png, .pdf or .svg)."""
        env: str | None = None
        """The world again as module:World, if it is one of your own."""
        json: bool = False
        """Print JSON instead of a table."""

    o, rest = parse_team(Options, "diagnose", args, diagnose.__doc__)
    found = api.diagnose(find_team(o, rest, "diagnose"), o.episodes, o.seed)
    if o.json:
        print(to_json(dataclasses.asdict(found)))
    else:
        print(f"{found.title}: {found.score} (mean of {found.score.episodes} episodes)\n")
        for finding in found.findings:
            print(finding.says)
            table = Table(*finding.classes, box=None, pad_edge=False, padding=(0, 2, 0, 2))
            table.add_row(*_cells(finding))
            show(table, 200)
            print()
    if o.out is not None:
        print(api.plot_diagnosis(found, o.out))
    return 0


def _cells(finding: Finding) -> list[str]:
    """The values of a finding as a table shows them."""
    form = "{:.0%}" if finding.percent else "{:.3g}" if _is_large(finding) else "{:.2f}"
    halves = finding.interval95 or (None,) * len(finding.values)
    plus = [f" ± {form.format(half)}" if half is not None else "" for half in halves]
    return ["–" if v is None else form.format(v) + p for v, p in zip(finding.values, plus, strict=True)]


def _is_large(finding: Finding) -> bool:
    return any(value is not None and abs(value) >= 1000 for value in finding.values)


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
    """Show episodes of a run's champion, or of a hand rule: a page that plays them, a film, or a picture."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        run: Target
        out: Path
        """File to write: .html for a page; .gif or .mp4 for a film; .png, .pdf or .svg for a picture."""
        team: Rule = None
        seed: int = 0
        """Seed of the instance; a page's next episodes have the next seeds."""
        episodes: int | None = None
        """Episodes that a page holds to choose from; by default 5, or 1 of a world that another library draws."""
        compare: Path | None = None
        """Another run on the same world, or a hand rule of it, to be seen beside it on the same instances."""
        env: str | None = None
        """The world again as module:World, if it is one of your own."""

    o, rest = parse_team(Options, "render", args, render.__doc__)
    first = find_team(o, rest, "render")
    other = o.compare
    if other is not None and not is_rule(first, other):
        other = open_run(other, o.env)
    with terminal.busy("playing and drawing …"):
        drawn = api.render(first, o.out, o.seed, compare=other, episodes=o.episodes)
    print(drawn)
    return 0


def export(args: Sequence[str]) -> int:
    """Write a run's champion as one file for other programs: ONNX, which plays without JAX, or safetensors."""

    @dataclasses.dataclass(frozen=True)
    class Options:
        run: Annotated[Positional[Path], arg(metavar="RUN")]
        """A run folder."""
        out: Path
        """File to write: .onnx (pip install 'merlax[onnx]') or .safetensors."""

    o = parse(Options, "export", args, export.__doc__)
    print(api.export(o.run, o.out))
    return 0
