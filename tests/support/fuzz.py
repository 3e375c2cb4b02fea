"""Cases that may mislead merlax: command lines, config files, run folders, champions, checkpoints, tables.

Each is mutated from something valid, by random numbers that follow from a seed and the case's own number, so that any
of them can be played again alone. Nothing is replaced by a fake: a command line goes through `cli.main`. Only, `train`
is mostly asked for a dry run, which checks everything and stops where training would begin.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import re
import shutil
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import merlax
from merlax import cli
from merlax.core.networks import TeamPolicy
from merlax.envs.base import Side
from merlax.experiments import catalogue, jobs, results
from merlax.runs import checkpoints, policies, reader, setup
from tests.support import mutations
from tests.support.fuzz_base import Base, files, job, train_options
from tests.support.weights import weights

OK, REFUSED, FAULT, MISUSED = "ok", "refused", "fault", "misused"

# Shares of all cases, fewer of those that take longer.
KINDS = {"command": 0.27, "train": 0.03, "config": 0.06, "run": 0.24, "champion": 0.26, "checkpoint": 0.007,
         "job": 0.06, "results": 0.0725, "training": 0.0005}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Special:
    """What may lie where a file belongs."""

    kind: str

    def put(self, path: Path) -> None:
        if self.kind == "folder":
            path.mkdir()
        elif self.kind == "fifo":
            os.mkfifo(path)
        elif self.kind == "sparse":
            with path.open("wb") as file:
                file.truncate(10**11)
        elif self.kind != "missing":
            path.symlink_to(_LINKS[self.kind])


_LINKS = {"zero": "/dev/zero", "null": "/dev/null", "endless": "/proc/self/pagemap", "dangling": "nowhere", "loop": "."}
SPECIALS = [Special(kind) for kind in ("folder", "fifo", "sparse", "missing", *_LINKS)]


@dataclasses.dataclass(frozen=True)
class Case:
    """What is done: a command line, or a function of the package; in a folder with some runs and some files."""

    kind: str
    args: tuple[str, ...]
    copies: tuple[str, ...] = ()  # of what `prepare` made
    files: tuple[tuple[str, bytes | Special], ...] = ()


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of it; if it is a fault, also what was said."""

    outcome: str
    said: str = ""


def kinds(base: Base) -> list[str]:
    """What can be made of these valid things: where nobody has trained, nobody shall."""
    return [kind for kind in KINDS if base.checkpoint_files or kind not in ("checkpoint", "training")]


def case(seed: int, number: int, base: Base) -> Case:
    """The case of this number."""
    rng = Random(f"{seed}-{number}")
    kind = rng.choices(kinds(base), [KINDS[kind] for kind in kinds(base)])[0]
    return _MAKERS[kind](rng, base)


def _command(rng: Random, base: Base) -> Case:
    name, *words = rng.choice(_LINES)
    args = [name if rng.random() < 0.97 else mutations.text(rng, name), *_changed(rng, words)]
    if args[0] == "reproduce":  # which would train for hours
        args += ["--frames", "0"]
    if args[0] in ("evaluate", "crossplay", "selection-rate"):  # which would rightly work for minutes
        args = [re.sub(r"(?<!\d)\d{6,10}(?!\d)", "100", word) for word in args]
    if args[0] == "bench":
        args.insert(1, "nowhere")
    if args[0] == "train":
        args.insert(1, "--dry-run")
    copies = _named(base, args)
    return Case("command", tuple(args), copies, (("results.csv", (base.folder / "results.csv").read_bytes()),))


_LINES: list[Any] = [
    line.split()
    for line in (
        "evaluate runs/team --episodes 2 --seed 1 --json",
        "evaluate runs/team --episodes 3",
        "evaluate runs/contest --episodes 2 --against scripted",
        "evaluate runs/contest --episodes 2 --against runs/contest --json",
        "crossplay runs/contest --episodes 2 --json",
        "render runs/team --out episode.xyz --seed 3",
        "resume runs/team --quiet --checkpoint-every 0",
        "resume runs/contest --env os:path --algorithm ea",
        "envs --json",
        "envs",
        "plot results.csv --out figure.xyz",
        "plot results.csv",
        "selection-rate --population 10 --elites 4 --tournament 3 --trials 1000",
        "reproduce --list",
        "reproduce scores --seeds 1 2 3 --workers 2 --speed free --quick --out there",
        "bench rover-3 --preset fast --json",
        "--version",
        "--help",
        "train two-rovers --frames 1",
    )
]
_MORE = (
    "--out --seed --frames --episodes --json --help -h --preset --algorithm --opponent --config --force --quiet "
    "--trials --against --env --population --elites --tournament --checkpoint-every --seeds --workers --speed "
    "--restart --ignore-memory --track -- - = -V --seed=1 --nix"
).split()
_VALUES = [
    *map(str, mutations.WHOLE[:-1]),
    *map(str, mutations.REAL),
    *mutations.WORDS,
    *"runs/contest runs/stopped runs/nowhere results.csv /dev/zero /dev/full merlax:Rover nowhere:World".split(),
    *": a:b:c True None rover-7 keep-away free pinned 1e5 0x10 1_000".split(),
    *("x" * 5000, "x/" * 2500),
]


def _changed(rng: Random, words: list[str], *options: str) -> list[str]:
    """A few words changed, joined, moved or put in."""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 6))):
        place = rng.randrange(len(words) + 1)
        action = rng.randrange(8)
        if action == 0:
            del words[place : place + 1]
        elif action == 1:
            words[place:place] = words[place : place + 2]
        elif action == 2 and place < len(words):
            words[place] = mutations.text(rng, words[place]).lstrip("/")
        elif action == 3:
            words[place:place] = [rng.choice([*options, *_MORE]), rng.choice(_VALUES)]
        elif action == 4:
            words[place : place + 2] = ["=".join(words[place : place + 2])]
        elif action == 5:
            rng.shuffle(words)
        else:
            words[place : place + 1] = [rng.choice(_VALUES)]
    return [word.replace("\x00", "0") for word in words if word != "--debug"]  # no system passes a NUL


def _named(base: Base, words: list[str]) -> tuple[str, ...]:
    """The runs that a command line mentions."""
    there = [run for run in ("team", "contest", "stopped") if (base.folder / run).exists()]
    return tuple(run for run in there if any(run in word for word in words))


def _train(rng: Random, base: Base) -> Case:
    """A command line of `train` with some of its many options, of which most have a value that fits."""
    record = rng.choice(base.configs)
    words = [record["world"], "--algorithm", record.get("algorithm", "merl")]
    options = sorted(set(train_options(record))) or base.options
    for _ in range(rng.randrange(4)):
        option = rng.choice(options if rng.random() < 0.9 else base.options)
        value = rng.choice((1, 2, 4, 0.5, 0.1, "agent")) if rng.random() < 0.7 else rng.choice(_VALUES)
        words += [option, str(value)]
    if rng.random() < 0.3:
        words += ["--out", rng.choice(_VALUES)]
    if rng.random() < 0.3:
        words += ["--preset", "paper"]
    words = _changed(rng, words, *options)
    return Case("train", ("train", "--dry-run", *words), _named(base, words))


def _config(rng: Random, base: Base) -> Case:
    record, toml = rng.choice(base.configs), rng.random() < 0.4
    name = "config.toml" if toml else "config.json"
    content = mutations.as_toml(rng, record) if toml else mutations.as_json(rng, record)
    file = content if rng.random() < 0.97 else rng.choice(SPECIALS)
    more = ("--seed", "3") if rng.random() < 0.2 else ("--frames", "3000000") if rng.random() < 0.2 else ()
    return Case("config", ("train", "--dry-run", "--config", name, *more), (), ((name, file),))


def _run(rng: Random, base: Base) -> Case:
    """A run folder whose JSON or table was changed."""
    run = rng.choice(("team", "contest"))
    name = rng.choice(
        ("config.json", "config.json", "config.json", "final.json", "progress.csv", "champion/policy.json")
    )
    content = (base.folder / run / name).read_bytes()
    if name.endswith(".csv"):
        changed: Any = mutations.table(rng, content.decode())
    else:
        changed = mutations.as_json(rng, json.loads(content))
    file = changed if rng.random() < 0.95 else rng.choice(SPECIALS)
    args: tuple[str, ...] = rng.choice(
        (
            ("evaluate", f"runs/{run}", "--episodes", "2", "--json"),
            ("evaluate", f"runs/{run}", "--episodes", "2"),
            ("python", "progress", f"runs/{run}"),
            ("resume", f"runs/{run}", "--quiet"),
            ("crossplay", f"runs/{run}", "--episodes", "2"),
        )
    )
    if rng.random() < 0.05:
        args = ("train", "--dry-run", "predator-prey", "--env.horizon", "3", "--opponent", f"runs/{run}")
    if args[0] == "resume" and name in ("config.json", "final.json"):  # it could train for years
        args = ("render", f"runs/{run}", "--out", "there.png" if rng.random() < 0.05 else "there.xyz")
    return Case("run", args, (run,), ((f"runs/{run}/{name}", file),))


def _champion(rng: Random, base: Base) -> Case:
    """A champion or an opponent whose sizes or weights were changed."""
    run, side = rng.choice((("team", "champion"), ("contest", "champion"), ("contest", "opponent")))
    folder = base.folder / run / side
    name = rng.choice(("policy.json", "weights.npz", "weights.npz"))
    if name == "policy.json":
        changed: Any = mutations.as_json(rng, json.loads((folder / name).read_text()))
    elif base.bomb is not None and rng.random() < 0.01:
        changed = base.bomb.read_bytes()
    else:
        with np.load(folder / name) as found:
            changed = mutations.arrays(rng, dict(found))
    damaged = {name: changed if rng.random() < 0.95 else rng.choice(SPECIALS)}
    if rng.random() < 0.03:  # or sound, but of other sizes
        damaged = _other_champion(rng)
    args: tuple[str, ...] = ("evaluate", f"runs/{run}", "--episodes", "2")
    if side == "opponent" and rng.random() < 0.1:
        args = ("train", "--dry-run", "predator-prey", "--env.horizon", "3", "--opponent", f"runs/{run}")
    return Case("champion", args, (run,), tuple((f"runs/{run}/{side}/{name}", file) for name, file in damaged.items()))


def _other_champion(rng: Random) -> dict[str, bytes]:
    """The files of a team of random sizes."""
    sizes = rng.choice(((2, 76, 2), (3, 16, 2), (1, 14, 2), (3, 76, 2), (2, 300, 2), (1, 1, 1)))
    hidden = [rng.choice((1, 4, 50)) for _ in range(rng.choice((1, 1, 2, 3)))]
    policy = weights(lambda key: TeamPolicy(key, Side.equal(*sizes), hidden), rng.randrange(100))
    with tempfile.TemporaryDirectory() as folder:
        policies.save(Path(folder, "champion"), policy)
        return {path.name: path.read_bytes() for path in Path(folder, "champion").iterdir()}


def _checkpoint(rng: Random, base: Base) -> Case:
    """A run that was interrupted, one of whose files was changed; or its manifest, with a checksum that fits again."""
    files: list[tuple[str, bytes | Special]] = []
    number = 0 if rng.random() < 0.02 else rng.choice((1, 1, 2))
    for name in rng.sample(base.checkpoint_files, number):
        content = (base.folder / "stopped" / name).read_bytes()
        if name.endswith("manifest/metadata"):
            manifest = mutations.data(rng, json.loads(content))
            if isinstance(manifest, dict) and rng.random() < 0.7:
                manifest.pop("checksum", None)
                with contextlib.suppress(ValueError, TypeError):
                    manifest["checksum"] = checkpoints._digest(manifest)
            changed: Any = json.dumps(manifest).encode(errors="replace")
        else:
            changed = mutations.raw(rng, content)
        files.append((f"runs/stopped/{name}", changed if rng.random() < 0.85 else rng.choice(SPECIALS)))
    if rng.random() < 0.3:  # or what lies beside it, which the checkpoint then no longer fits
        name = rng.choice(("config.json", "config.json", "progress.csv"))
        written = (base.folder / "stopped" / name).read_text()
        damage = mutations.table(rng, written) if "csv" in name else mutations.as_json(rng, json.loads(written))
        files = [(f"runs/stopped/{name}", damage)]
    return Case("checkpoint", ("resume", "runs/stopped", "--quiet"), ("stopped",), tuple(files))


def _job_case(rng: Random, base: Base) -> Case:
    """What `reproduce` reads of runs that are there already."""
    name = rng.choice(("config.json", "final.json", "progress.csv", "output.log"))
    file = base.folder / "team" / name
    content = file.read_bytes() if file.exists() else b"merlax: no\n"
    if name.endswith(".json"):
        changed: Any = mutations.as_json(rng, json.loads(content))
    else:
        changed = mutations.table(rng, content.decode())
    changed = changed if rng.random() < 0.93 else rng.choice(SPECIALS)
    return Case("job", ("python", "job", "runs/team"), ("team",), ((f"runs/team/{name}", changed),))


def _results(rng: Random, base: Base) -> Case:
    changed = mutations.table(rng, (base.folder / "results.csv").read_text())
    file = changed if rng.random() < 0.95 else rng.choice(SPECIALS)
    out = () if rng.random() < 0.02 else ("--out", "figure.xyz")  # which is refused, once the table is read
    return Case("results", ("plot", "results.csv", *out), (), (("results.csv", file),))


def _training(rng: Random, base: Base) -> Case:
    """A tiny run that really trains, if it is accepted: its budget is below what larger ones take for a generation."""
    words = "two-rovers --env.horizon 3 --algorithm ea --population 6 --fitness.episodes 1 --actor-hidden 4".split()
    for option in rng.sample(sorted(train_options(setup.plan("two-rovers", "ea", frames=1, seed=1).record())), 2):
        words += [option, str(rng.choice((1, 2, 3, 4, 0.5, 0.1, -1, 0)))]
    return Case("training", ("train", *words, "--frames", "30", "--quiet", "--out", "there"))


_MAKERS: dict[str, Callable[[Random, Base], Case]] = {
    "command": _command, "train": _train, "config": _config, "run": _run, "champion": _champion,
    "checkpoint": _checkpoint, "job": _job_case, "results": _results, "training": _training,
}  # fmt: skip


def play(found: Case, base: Base, scratch: Path) -> Outcome:
    """Play a case in an empty folder."""
    _remove(scratch)
    scratch.mkdir()
    for run in found.copies:
        shutil.copytree(base.folder / run, scratch / "runs" / run)
    for name, content in found.files:
        path = scratch / name
        _remove(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        content.put(path) if isinstance(content, Special) else path.write_bytes(content)
    before = set(files(scratch, scratch))
    with contextlib.chdir(scratch):
        outcome, said = _called(found.args) if found.args[0] == "python" else _typed(found.args)
    if found.args[0] == "train" and outcome == REFUSED:
        fresh = set(files(scratch, scratch)) - before
        if fresh:
            return Outcome(MISUSED, f"{said}\nwas refused, but left {sorted(fresh)}")
    return Outcome(outcome, said)


def _typed(args: tuple[str, ...]) -> tuple[str, str]:
    """A command line, judged by its exit code and its words."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code: Any = cli.main(args)
        except SystemExit as ended:
            code = ended.code
        except BaseException:
            return FAULT, traceback.format_exc()
    said = out.getvalue() + err.getvalue()
    if "fault of merlax" in said or "Traceback" in said or code not in (0, 2):
        return FAULT, f"code {code}: {said}"
    if code == 0 and "--json" in args and not {"-h", "--help", "-V", "--version"} & set(args):
        try:
            json.loads(out.getvalue(), parse_constant=lambda name: 1 / 0)
        except (ValueError, ZeroDivisionError):
            return MISUSED, f"no JSON: {said}"
    if code == 2 and not err.getvalue().strip() and args:
        return MISUSED, f"refused without a word: {said}"
    return (OK if code == 0 else REFUSED), said


def _called(args: tuple[str, ...]) -> tuple[str, str]:
    """A function of the package."""
    _, what, path = args
    try:
        if what == "progress":
            for column in reader.load(path).progress.values():
                assert isinstance(column, np.ndarray)
        else:
            _reproduced(Path(path))
    except merlax.UserError as error:
        return REFUSED, str(error)
    except BaseException:
        return FAULT, traceback.format_exc()
    return OK, ""


def _reproduced(path: Path) -> None:
    """What an experiment asks of a folder that holds a run."""
    asked, root = job(), path.parent
    folder = root / asked.folder
    folder.parent.mkdir(parents=True)
    path.rename(folder)
    jobs.can_resume(asked, root)
    jobs.progress(folder)
    jobs.last_error(folder)
    if jobs.is_finished(asked, root):
        experiment = dataclasses.replace(catalogue.experiment("scores"), tasks=(asked.task,), methods=(asked.method,))
        results.collect(experiment, [asked], root)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
