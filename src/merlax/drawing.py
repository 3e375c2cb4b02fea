"""From the results of an experiment to its figure."""

from __future__ import annotations

from pathlib import Path

from merlax import api, figures, runs
from merlax.envs import Rover
from merlax.experiments import presets, report, statistics
from merlax.experiments.experiment import REFERENCE, Experiment, slug
from merlax.experiments.results import Results
from merlax.figures.series import Line, Panel, Point, Reference, Sweep
from merlax.published import SELECTION_RATE
from merlax.types import UserError

_SMOOTH, _SMOOTH_RATE = 0.05, 0.15  # shares of a run that running means reach back over


def draw(found: Results, root: Path, out: Path) -> Path:
    """Draw the figure of an experiment; only trajectories need the run folders, too: `root`."""
    experiment = presets.experiment(found.experiment)
    drawings = {"curves": _curves, "sweep": _sweep, "selection": _selection}
    if experiment.figure == "trajectories":
        _trajectories(found, experiment, root, out)
    else:
        drawings[experiment.figure](found, experiment, out)
    return out


def _curves(found: Results, experiment: Experiment, out: Path) -> None:
    panels = []
    for world in found.worlds:
        lines = [_line(found, world, method, "champion_score", _SMOOTH, method) for method in found.methods(world)]
        known = [Reference(c.method, c.published.score) for c in experiment.claims if c.world == _bare(world)]
        panels.append(Panel(world, tuple(line for line in lines if line), tuple(known)))
    figures.compare(panels, out, title=experiment.title)


def _selection(found: Results, experiment: Experiment, out: Path) -> None:
    lines = [_line(found, world, REFERENCE, "migrant_selected", _SMOOTH_RATE, world) for world in found.worlds]
    figures.selection_rate([line for line in lines if line], out, title=experiment.title, expected=SELECTION_RATE)


def _sweep(found: Results, experiment: Experiment, out: Path) -> None:
    (world,) = found.worlds
    settings = {method.label: method.value for method in experiment.methods if method.value is not None}
    points = [_point(found, world, label, settings[label]) for label in found.methods(world) if label in settings]
    name = next(iter(settings)).split(",")[0]
    beside = _point(found, world, REFERENCE, 0.0) if REFERENCE in found.methods(world) else None
    claims = [
        Reference(name if claim.method in settings else claim.method, claim.published.score, settings.get(claim.method))
        for claim in experiment.claims
    ]
    title = f"{experiment.title}\n{world}"
    figures.draw_sweep(Sweep(title, experiment.parameter, name, tuple(points), beside, tuple(claims)), out)


def _trajectories(found: Results, experiment: Experiment, root: Path, out: Path) -> None:
    """The first world and seed, the first instance of its evaluation: nothing is picked."""
    world = found.worlds[0]
    seed = min(row.seed for row in found.rows)
    opened = {method: runs.load(root / slug(world) / slug(method) / str(seed)) for method in found.methods(world)}
    env = next(iter(opened.values())).env
    if not isinstance(env, Rover):
        raise UserError(f"There is no drawing of the world {world} yet; only rover worlds can be drawn.")
    traces = {method: api.trace(run, seed=0) for method, run in opened.items()}
    figures.side_by_side(env, traces, out, title=f"{experiment.title}: {world}, seed {seed}")


def _line(found: Results, world: str, method: str, measure: str, smooth: float, label: str) -> Line | None:
    band = report.band(found, world, method, measure, smooth)
    if band is None:
        return None
    frames, (mean, low, high) = band
    return Line(label, frames, mean, low, high)


def _point(found: Results, world: str, method: str, at: float) -> Point:
    scores = tuple(found.final(world, method).values())
    mean = statistics.mean(scores)
    return Point(at, mean.value, mean.low, mean.high, scores)


def _bare(world: str) -> str:
    return world.split(" (")[0]
