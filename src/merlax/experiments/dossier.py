"""All that a page tells of runs: curves, scores, who beats whom, what was selected, where champions come from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from merlax import figures
from merlax.core.evolution.selection import expected_selection_rate
from merlax.envs.base import Env
from merlax.experiments import gathering, statistics
from merlax.experiments.family import family, migrants_of
from merlax.experiments.gathering import Gathered
from merlax.figures import page
from merlax.figures.pack import Exact
from merlax.figures.series import running_mean
from merlax.runs import reader, replays
from merlax.types import UserError

POINTS = 240  # of a curve
SMOOTH = 0.05  # share of a run that running means reach back over
EPISODES, PICTURES = 3, 100  # of a best team; in all, where the world draws itself
_SCORES = ("champion_score", "best_fitness", "mean_fitness", "learner_score", "tuned_score", "opponent_score")
_RESAMPLED = 12  # methods that are compared pair by pair: each pair takes some milliseconds


def write(paths: Sequence[Path], out: Path, env: Env | None = None) -> list[str]:
    """Write the page, and return sentences on what could not be shown."""
    data = dossier(paths, env)
    page.write(page.page(data["title"], data, page.REPORT, "start_report.js"), out)
    return data["notes"]


def dossier(paths: Sequence[Path], env: Env | None = None) -> dict[str, Any]:
    """All of it as data for the page."""
    runs, notes = gathering.gather(paths)
    worlds = [_world(title, own, env, notes) for title, own in gathering.by_world(runs).items()]
    single = len(worlds) == 1
    number = f"{len(runs)} run{'s' if len(runs) > 1 else ''}"
    title = f"{worlds[0]['title']}: {number}" if single else f"{len(worlds)} worlds, {number}"
    return {"title": title, "notes": notes, "worlds": worlds}


def _world(title: str, runs: list[Gathered], env: Env | None, notes: list[str]) -> dict[str, Any]:
    methods = gathering.by_method(runs)
    ordered = [run for own in methods.values() for run in own]
    place = {id(run): number for number, run in enumerate(ordered)}
    scores = {label: [run.score for run in own if math.isfinite(run.score)] for label, own in methods.items()}
    known = [run for run in ordered if math.isfinite(run.score)]
    best = max(known, key=lambda run: run.score) if known else ordered[0]
    last = max(float(run.progress["frames"][-1]) for run in ordered)
    return {
        "title": title,
        "methods": [
            {"label": label, "runs": [place[id(run)] for run in own], "band": _band(own, last)}
            | _estimates(scores[label])
            for label, own in methods.items()
        ],
        "better": _better(scores),
        "grid": Exact(_grid(last)),
        "runs": [_run(run) for run in ordered],
        "config": _config(methods),
        "best": place[id(best)],
        "replay": _replay(best, env, notes),
    }  # fmt: skip


def _grid(last: float) -> np.ndarray:
    return np.linspace(0.0, max(last, 1.0), POINTS)


def _band(runs: Sequence[Gathered], last: float) -> dict[str, np.ndarray]:
    """Mean and 95% interval of the champions' running means; where only some runs have arrived, nothing."""
    grid = _grid(last)
    curves = []
    for run in runs:
        known = np.isfinite(run.progress["champion_score"])
        frames, values = run.progress["frames"][known], run.progress["champion_score"][known]
        if len(frames):
            smooth = running_mean(values, max(1, round(SMOOTH * len(values))))
            curves.append(np.interp(grid, frames, smooth, left=np.nan, right=np.nan))
    if not curves:
        nothing = np.full(POINTS, np.nan)
        return {"mean": nothing, "low": nothing, "high": nothing}
    mean, low, high = statistics.mean_band(np.stack(curves))
    return {"mean": mean, "low": low, "high": high}


def _estimates(scores: Sequence[float]) -> dict[str, Any]:
    if not scores:
        return {"scores": [], "mean": None, "iqm": None}
    both = statistics.mean(scores), statistics.iqm(scores)
    mean, iqm = ([value.value, value.low, value.high] for value in both)
    return {"scores": list(scores), "mean": mean, "iqm": iqm}


def _better(scores: dict[str, list[float]]) -> list[list[Any]]:
    """How likely a run of the row's method beats one of the column's, with its interval."""
    some = list(scores.values())[:_RESAMPLED]

    def cell(ours: list[float], theirs: list[float]) -> Any:
        if ours is theirs or not ours or not theirs:
            return None
        chance = statistics.probability_of_improvement([ours], [theirs])
        return [chance.value, chance.low, chance.high]

    return [[cell(ours, theirs) for theirs in some] for ours in some] if len(some) > 1 else []


def _run(run: Gathered) -> dict[str, Any]:
    progress, config = run.progress, run.config
    ends = _ends(len(progress["frames"]))
    numeric = {name: column for name, column in progress.items() if column.dtype.kind == "f"}
    curve = lambda names: {name: _thin(numeric[name], ends) for name in names if name in numeric}  # noqa: E731
    found = family(progress, migrants_of(config["settings"]))
    return {
        "name": run.path.resolve().name,
        "label": f"{config['algorithm']}, seed {config['seed']}",
        "seed": config["seed"],
        "score": run.score,
        "interval": run.final.get("interval95"),
        "finished": run.final.get("finished") is True,
        "generations": len(progress["frames"]),
        "budget": config["frames"],
        "frames": Exact(progress["frames"][ends - 1]),
        "seconds": _last(progress, "seconds"),
        "memory": run.final.get("peak_memory_mb"),
        "scores": {name: own for name, own in curve(_SCORES).items() if np.isfinite(own).any()},
        "losses": curve([name for name in numeric if "_loss" in name]),
        "rewards": curve([name for name in numeric if name.startswith(("explore_score", "agent_reward"))]),
        "speed": _speed(progress, ends),
        "population": _population(progress, ends),
        "selection": _selection(run, ends),
        "family": None if found is None else found.record(),
    }


def _ends(rows: int) -> np.ndarray:
    """Where each of the pieces ends that a curve is made of."""
    return np.unique(np.linspace(0, rows, min(rows, POINTS) + 1).round().astype(int))[1:]


def _thin(values: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The mean of each piece; nothing where nothing is known."""
    known = np.isfinite(values)
    total = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    number = np.concatenate([[0], np.cumsum(known)])
    starts = np.concatenate([[0], ends[:-1]])
    counted = number[ends] - number[starts]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counted > 0, (total[ends] - total[starts]) / counted, np.nan)


def _last(progress: dict[str, np.ndarray], name: str) -> float | None:
    return float(progress[name][-1]) if name in progress else None


def _speed(progress: dict[str, np.ndarray], ends: np.ndarray) -> np.ndarray | None:
    """Frames per second within each piece."""
    if "seconds" not in progress:
        return None
    frames, seconds = (np.concatenate([[0.0], progress[name][ends - 1]]) for name in ("frames", "seconds"))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.diff(seconds) > 0, np.diff(frames) / np.diff(seconds), np.nan)


def _population(progress: dict[str, np.ndarray], ends: np.ndarray) -> list[np.ndarray] | None:
    """The least, the quartiles and the greatest fitness of the population, at the end of each piece."""
    cells = progress.get("fitness")
    if cells is None:
        return None
    try:
        teams = [np.array(str(cells[end - 1]).split(), float) for end in ends]
    except ValueError:
        return None
    known = [own[np.isfinite(own)] for own in teams]
    shares = [0, 25, 50, 75, 100]
    return list(np.array([np.percentile(own, shares) if len(own) else [np.nan] * 5 for own in known]).T)


def _selection(run: Gathered, ends: np.ndarray) -> dict[str, Any] | None:
    """How often each migrant went on, over time and in all, beside what chance would do."""
    fates = {name: column for name, column in run.progress.items() if name.startswith(("migrant_fate", "tuned_fate"))}
    chosen = {name: np.array([np.nan if not isinstance(fate, str) or not fate else float(fate != "discarded")
                              for fate in column]) for name, column in fates.items()}  # fmt: skip
    told = {_migrant(name, chosen): own for name, own in chosen.items() if np.isfinite(own).any()}
    if not told:
        return None
    width = max(5, len(ends) // 8)
    rates = {name: running_mean(np.nan_to_num(_thin(own, ends)), width) for name, own in told.items()}
    return {
        "rates": rates,
        "overall": {name: float(np.nanmean(own)) for name, own in told.items()},
        "chance": _chance(run),
    }


def _migrant(column: str, columns: dict[str, Any]) -> str:
    if column.startswith("tuned"):
        return "tuned team"
    number = column.removeprefix("migrant_fate").lstrip("_") or "1"
    return f"learner {number}" if "migrant_fate_2" in columns else "learner"


def _chance(run: Gathered) -> float | None:
    """The rate of a migrant whose fitness is chance, where selection is by tournaments."""
    settings = run.config["settings"]
    selection = settings.get("selection")
    try:
        own = selection if isinstance(selection, dict) else {}
        sizes = settings["population"], own["elites"], own["tournament"]
        return expected_selection_rate(*sizes, migrants=len(migrants_of(settings)))
    except (KeyError, TypeError, UserError):
        return None


def _config(methods: dict[str, list[Gathered]]) -> list[dict[str, Any]]:
    """Every option of every method, and whether it differs between them; what belongs to one run alone is left out."""
    flats = [gathering.flat({name: value for name, value in own[0].config.items() if name != "seed"})
             for own in methods.values()]  # fmt: skip
    names = list(dict.fromkeys(name for own in flats for name in own))
    rows = []
    for name in names:
        values = ["–" if name not in own else _written(own[name]) for own in flats]
        rows.append({"name": name, "values": values, "differs": len(set(values)) > 1})
    return rows


def _written(value: Any) -> str:
    return "–" if value is None else str(value)[:200]


def _replay(run: Gathered, env: Env | None, notes: list[str]) -> dict[str, Any] | None:
    """The best team's episodes; a world whose code is not here, or a run without a champion, has none to show."""
    try:
        opened = reader.load(run.path, None if env is None else reader.env_like(run.path, env))
        episodes = replays.episodes([opened], 0, EPISODES, pictures=PICTURES)
        return figures.replay_data(opened.title, replays.subtitle([opened]), episodes)
    except UserError as error:
        notes.append(f"There is no replay of {run.world}: {error}")
        return None
