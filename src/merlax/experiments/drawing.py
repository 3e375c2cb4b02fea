"""From the results of an experiment to its figure."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np

from merlax import figures
from merlax.core import devices
from merlax.experiments import catalogue, jobs, report, statistics
from merlax.experiments.measures import AGAINST
from merlax.experiments.results import MIGRANTS, Results
from merlax.experiments.spec import REFERENCE, Experiment, bare, slug
from merlax.figures.series import Finals, Line, Panel, Point, Reference, Sweep, distinct
from merlax.runs import evaluation, reader, teams
from merlax.runs.published import SELECTION_RATE

YARDSTICK_EPISODES = 1000
SOLVED = 0.999  # a final score, of 1 at most
_SMOOTH, _SMOOTH_RATE = 0.05, 0.15  # shares of a run that running means reach back over


def draw(found: Results, root: Path, out: Path, experiment: Experiment | None = None) -> Path:
    """Draw the figure of an experiment, by default of the named one; only trajectories need the run folders: `root`."""
    named = experiment or catalogue.experiment(found.experiment)
    experiment = dataclasses.replace(named, title=f"{named.title}, {_seeds(found)}")
    drawings = {
        "curves": _curves,
        "sweep": _sweep,
        "selection": _selection,
        "finals": _finals,
        "losses": _losses,
        "map": _map,
    }
    if experiment.figure == "trajectories":
        _trajectories(found, named, root, out)
    else:
        drawings[experiment.figure](found, experiment, out)
    return out


def _curves(found: Results, experiment: Experiment, out: Path) -> None:
    panels = []
    for world in found.worlds:
        lines = [_line(found, world, method, "champion_score", _SMOOTH, method) for method in found.methods(world)]
        if experiment.name not in catalogue.experiments():  # its methods have no colours of their own
            hues = distinct([method.label for method in experiment.methods])
            lines = [line and dataclasses.replace(line, hue=hues[line.label]) for line in lines]
        claimed = dict.fromkeys(claim.method for claim in experiment.claims)
        scores = {method: experiment.published(world, method) for method in claimed}
        known = [Reference(method, score) for method, score in scores.items() if score is not None]
        panels.append(Panel(world, tuple(line for line in lines if line), tuple(known), hand_rules(experiment, world)))
    figures.compare(panels, out, title=experiment.title)
    _migrants(found, experiment, out.with_name(f"{out.stem}-selection{out.suffix}"))
    for world in found.worlds:
        _crossplay(found, experiment, world, out.with_name(f"{out.stem}-crossplay-{slug(world)}{out.suffix}"))


def _crossplay(found: Results, experiment: Experiment, world: str, out: Path) -> None:
    """Where every team met every opponent, whom the methods' teams beat: a further figure."""
    measures = [measure for measure in report.further_measures(found) if measure.startswith(AGAINST)]
    methods = found.methods(world)
    scores = [[[*found.final(world, method, measure).values()] for measure in measures] for method in methods]
    if not measures or not all(itertools.chain(*scores)):
        return
    figures.heat_map(
        np.array([[np.mean(cell) for cell in line] for line in scores]),
        methods, [measure.removeprefix(AGAINST) for measure in measures], out,
        title=f"{experiment.title}: {world}", row_name="team", column_name="opponent",
    )  # fmt: skip


def _migrants(found: Results, experiment: Experiment, out: Path) -> None:
    """Where a tuned team joins the learner's, how often each of the two is selected: a second figure."""
    names = {"migrant_selected": "the learner's team", "tuned_selected": "the tuned team"}
    panels = []
    for world in found.worlds:
        lines = [_line(found, world, REFERENCE, measure, _SMOOTH_RATE, name) for measure, name in names.items()]
        if all(lines):
            panels.append(Panel(world, tuple(_begun(line) for line in lines if line)))
    if panels:
        figures.compare(panels, out, title=f"{experiment.title}: migrants selected", measure="share selected")


def hand_rules(experiment: Experiment, world: str) -> tuple[Reference, ...]:
    """How well the hand rules of a world do, which is named by its task's label; in a contest, against the scripted
    opponent, which is not the one that the runs' own tests met."""
    task = next((task for task in experiment.tasks if task.label == world), None)
    if task is None:
        return ()
    devices.prepare()
    env = jobs.env_of(task)
    against = ", scripted opponent" if len(env.sides) > 1 else ""
    scores = teams.yardsticks(env, YARDSTICK_EPISODES)
    return tuple(Reference(f"{teams.label(rule)}{against}", score.mean) for rule, score in scores.items())


def _selection(found: Results, experiment: Experiment, out: Path) -> None:
    variants = {world.removeprefix(bare(world)) for world in found.worlds}
    title, name = (f"{experiment.title}{variants.pop()}", bare) if len(variants) == 1 else (experiment.title, str)
    lines = [line for world in found.worlds for line in _learners(found, world, name(world))]
    figures.selection_rate(lines, out, title=title, expected=SELECTION_RATE)


def _learners(found: Results, world: str, label: str) -> list[Line]:
    """How often the migrants of each of MERL's learners are selected."""
    lines = [_line(found, world, REFERENCE, measure, _SMOOTH_RATE, label) for measure in MIGRANTS.values()]
    known = [_begun(line) for line in lines if line]
    if len(known) < 2:
        return known
    return [dataclasses.replace(line, label=f"{label}, learner {n}") for n, line in enumerate(known, 1)]


def _sweep(found: Results, experiment: Experiment, out: Path) -> None:
    world = found.worlds[0]
    settings = {method.label: method.value for method in experiment.methods if method.value is not None}
    points = [_point(found, world, label, value) for label, value in settings.items()]
    name = next(iter(settings)).split(",")[0]
    beside = _point(found, world, REFERENCE, 0.0)
    claims = [
        Reference(name if claim.method in settings else claim.method, claim.published.score, settings.get(claim.method))
        for claim in experiment.claims
    ]
    title, seeds = experiment.title.rsplit(", ", 1)
    title = f"{title}\n{world}, {_budgets(found, world)}, {seeds}"
    measured = tuple(point for point in points if point)
    figures.draw_sweep(Sweep(title, experiment.parameter, name, measured, beside, tuple(claims)), out)


def _finals(found: Results, experiment: Experiment, out: Path) -> None:
    """What was measured of the finished runs, or else their final scores."""
    measures = report.further_measures(found) or ["final_score"]
    panels = []
    for world in found.worlds:
        methods = found.methods(world)
        values = {
            measure.replace("_", " "): [_point(found, world, m, float(row), measure) for row, m in enumerate(methods)]
            for measure in measures
        }
        points = {name: tuple(point for point in own if point) for name, own in values.items()}
        known = {name: own for name, own in points.items() if own}
        panels.append(Finals(world, tuple(methods), known, hand_rules(experiment, world)))
    figures.draw_finals(panels, out, title=experiment.title)


def _losses(found: Results, experiment: Experiment, out: Path) -> None:
    """How much more, or less, each method's champions score than the first one's: a panel for each kind of world."""
    whole = catalogue.experiment(experiment.name).methods[0].label
    if not any(row.method == whole for row in found.rows):  # a part without what the others are compared with
        return _finals(found, experiment, out)
    others = [label for label in dict.fromkeys(row.method for row in found.rows) if label != whole]
    panels: dict[str, dict[str, tuple[Point, ...]]] = {}
    for world in found.worlds:
        differences = [tuple(_differences(found, world, label, whole).values()) for label in others]
        points = [_summary(own, float(row)) for row, own in enumerate(differences)]
        kind = world.removeprefix(bare(world)).strip(" ()")
        panels.setdefault(kind, {})[bare(world)] = tuple(point for point in points if point)
    drawn = [
        Finals(f"final score less {whole}'s, {kind}", tuple(others), own, (Reference(whole, 0.0),))
        for kind, own in panels.items()
    ]
    figures.draw_finals(drawn, out, title=experiment.title)


def _differences(found: Results, world: str, method: str, base: str) -> dict[int, float]:
    """Between the final scores of two methods, by seed."""
    scores = found.final(world, base)
    return {seed: score - scores[seed] for seed, score in found.final(world, method).items() if seed in scores}


def _map(found: Results, experiment: Experiment, out: Path) -> None:
    """For each method the share of runs that solve the world, over two options of it."""
    (across, columns_name), (down, rows_name) = experiment.axes
    tasks = {task.label: task.options for task in experiment.tasks if task.label in found.worlds}
    columns = sorted({options[across] for options in tasks.values()})
    rows = sorted({options[down] for options in tasks.values()}, reverse=True)
    panels = {}
    for method in dict.fromkeys(row.method for row in found.rows):
        shares = np.full((len(rows), len(columns)), np.nan)
        for world, options in tasks.items():
            scores = [*found.final(world, method).values()]
            if scores:
                solved = np.mean([score >= SOLVED for score in scores])
                shares[rows.index(options[down]), columns.index(options[across])] = solved
        panels[method] = shares
    figures.heat_maps(
        panels, [f"{row:g}" for row in rows], [f"{column:g}" for column in columns], out,
        title=f"{experiment.title}, share of runs that observe all POIs",
        row_name=rows_name, column_name=columns_name,
    )  # fmt: skip


def _trajectories(found: Results, experiment: Experiment, root: Path, out: Path) -> None:
    """The first world and seed, the first instance of its evaluation: nothing is picked."""
    world = found.worlds[0]
    seed = min(row.seed for row in found.rows)
    opened = {method: reader.load(root / slug(world) / slug(method) / str(seed)) for method in found.methods(world)}
    scenes = [figures.scene(run.env, evaluation.trace(run, seed=0), method) for method, run in opened.items()]
    figures.render(scenes, out, f"{experiment.title}: {world}, seed {seed}")


def _line(found: Results, world: str, method: str, measure: str, smooth: float, label: str) -> Line | None:
    band = report.band(found, world, method, measure, smooth)
    if band is None:
        return None
    frames, (mean, low, high) = band
    return Line(label, frames, mean, low, high)


def _begun(line: Line) -> Line:
    """The line without its first instants, where a running mean has only a few coin flips to go by."""
    skip = len(line.frames) // 20
    frames, mean, low, high = (column[skip:] for column in (line.frames, line.mean, line.low, line.high))
    return Line(line.label, frames, mean, low, high)


def _point(found: Results, world: str, method: str, at: float, measure: str = "final_score") -> Point | None:
    return _summary(tuple(found.final(world, method, measure).values()), at)


def _summary(scores: tuple[float, ...], at: float) -> Point | None:
    if not scores:
        return None
    mean = statistics.mean(scores)
    return Point(at, mean.value, mean.low, mean.high, scores)


def _budgets(found: Results, world: str) -> str:
    """How long the runs were: "2 M frames", or "MERL 2 M, EA 100 M frames"."""
    longest = {
        name: max(row.frames for row in found.rows if row.world == world and row.method.split(",")[0] == name)
        for name in dict.fromkeys(label.split(",")[0] for label in found.methods(world))
    }
    rounded = {name: _rounded(frames) for name, frames in longest.items()}
    if len(set(rounded.values())) == 1:
        return f"{rounded.popitem()[1]} frames"
    return ", ".join(f"{name} {frames}" for name, frames in rounded.items()) + " frames"


def _seeds(found: Results) -> str:
    """How many seeds the runs have: "5 seeds", or "3 to 5 seeds" where methods differ."""
    seeds: dict[tuple[str, str], set[int]] = {}
    for row in found.rows:
        seeds.setdefault((row.world, row.method), set()).add(row.seed)
    fewest, most = min(map(len, seeds.values())), max(map(len, seeds.values()))
    number = str(most) if fewest == most else f"{fewest} to {most}"
    return f"{number} seed" if number == "1" else f"{number} seeds"


def _rounded(frames: int) -> str:
    """Two digits: "2 M", "12 k"."""
    unit, letter = (1e6, "M") if frames >= 1e5 else (1e3, "k")
    return f"{float(f'{frames / unit:.2g}'):g} {letter}"
