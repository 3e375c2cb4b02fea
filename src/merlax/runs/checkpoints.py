"""Checkpoints: everything that a run needs to go on exactly, as plain arrays (Orbax) and a manifest (JSON).

`RUN/checkpoints/<generation>/` holds one, and `RUN/checkpoints/midway/` those within a generation that takes long.
Orbax writes each under another name and renames it when it is complete, and keeps the newest two, of a finished run the
last, from which it can be extended; the manifest carries
a checksum of every array and of itself, so that whatever happened to the files later is noticed. Nothing of it is ever
executed: arrays are numbers, and names are only compared.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import re
import shutil
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from merlax import files
from merlax.core import replay
from merlax.runs import dealing, forms, hosts, zarr
from merlax.types import UserError, shown

T = TypeVar("T")
Arrays = dict[str, np.ndarray]

FORMAT = 4
KEEP = 2
PIECE_BYTES = 4_000_000  # of an array that are written at a time
EVERY_SECONDS = 90.0
LARGEST_SHARE = 0.02  # of the run's time that checkpoints may take; where they take longer, they come less often
FOLDER, MIDWAY = "checkpoints", "midway"
_NONE_YET = "none-yet"  # a file that lies there until the first is complete
_ROUNDS = 10**9  # more than one generation has
# Of `config.json`; not the frames, for a run can be extended.
_DECIDES = ("world", "env", "algorithm", "preset", "settings", "opponent", "start", "seed")
_MANIFEST_BYTES = 10_000_000
_MOST_SHARDS = 4096  # devices of one process
_LOG = logging.getLogger("merlax")


@dataclass(frozen=True)
class Position:
    """How far a run is."""

    generation: int = 0
    frames: int = 0
    seconds: float = 0.0
    rounds: int = 0
    """Of learning that are done in the generation under way."""


class Saver:
    """The checkpoints of one run: now and then, and so that they cost next to nothing.

    Training waits while one is written: the state goes to disk from where it lies, without a copy, which takes less
    time and half the memory of writing a copy beside training.
    """

    def __init__(self, run: Path, config: dict[str, Any], every: float = EVERY_SECONDS, *, keep: bool = True):
        """Of a run that reaches its last frame, `keep` the last one, so that it can be extended."""
        if not 0 <= every < float("inf"):
            raise UserError(f"checkpoint_every is {every}; give a number of seconds, 0 for every generation.")
        self.folder = run / FOLDER
        self.seconds = 0.0  # that training waited in all
        self._run = identity(config)
        self._every = every
        self._keep = keep
        self._due = time.monotonic() + every
        self._managers: dict[str, Any] = {}

    def newest(self, template: T, midway: Callable[[], T]) -> tuple[Position, T] | None:
        """Where to go on from; a state within a generation is like `midway`."""
        found = self._find(template, midway)
        copied = hosts.copied(found and (asdict(found[0]), found[1]))
        return restored(copied and (Position(**copied[0]), copied[1]), template, midway)

    def _find(self, template: T, midway: Callable[[], T]) -> tuple[Position, Arrays] | None:
        return find(self.folder, self._run, template, midway)

    def begin(self) -> None:
        """Note that there is no checkpoint yet, so that those which go missing later are noticed."""
        if not all_of(self.folder):
            self.folder.mkdir(exist_ok=True)
            (self.folder / _NONE_YET).touch()

    def maybe(self, position: Position, state: Any) -> None:
        """Save if it is time; within a generation only by the clock."""
        if time.monotonic() >= self._due and (self._every or not position.rounds):
            self.save(position, state)

    def save(self, position: Position, state: Any) -> None:
        """Save now, unless this very moment is saved already."""
        start, name = time.monotonic(), MIDWAY if position.rounds else ""
        if _number(position) in generations(self.folder / name):
            return
        try:
            if name not in self._managers:
                self._managers[name] = _manager(self.folder / name)
            _save(self._managers[name], position, self._run, snapshot(state))
            (self.folder / _NONE_YET).unlink(missing_ok=True)
            if not position.rounds:
                self._drop_midway()
        except Exception as error:
            raise _refused_by_the_disk(error) from error  # the run folder says the rest
        took = time.monotonic() - start
        self.seconds += took
        self._due = time.monotonic() + (max(self._every, took / LARGEST_SHARE) if self._every else 0)

    def save_end(self, position: Position, state: Any) -> None:
        """Save the state at the last frame, if it is to be kept."""
        if self._keep:
            self.save(position, state)

    def tidy(self) -> None:
        """Remove what a run that has reached its last frame does not need."""
        tidy(self.folder, keep=self._keep)

    def _drop_midway(self) -> None:
        """A generation that has ended is not begun again."""
        if (self.folder / MIDWAY).exists():
            if MIDWAY in self._managers:
                self._managers.pop(MIDWAY).close()
            shutil.rmtree(self.folder / MIDWAY, ignore_errors=True)

    def last_good(self) -> str:
        """The newest complete checkpoint, in words."""
        found = generations(self.folder)
        return (
            f"the last good checkpoint is '{self.folder / str(found[-1])}'" if found else "there is no checkpoint yet"
        )

    def close(self) -> None:
        """Let go of the folder."""
        for manager in self._managers.values():
            manager.close()


class Onlooker(Saver):
    """Where another process keeps the checkpoints."""

    def __init__(self) -> None: ...

    def _find(self, template: Any, midway: Any) -> None: ...

    def maybe(self, position: Position, state: Any) -> None: ...

    def save(self, position: Position, state: Any) -> None: ...

    def save_end(self, position: Position, state: Any) -> None: ...

    def last_good(self) -> str:
        return "process 0 says from where it goes on"


def identity(config: dict[str, Any]) -> dict[str, Any]:
    """What a checkpoint must have in common with the run that it continues."""
    text = json.dumps({name: config.get(name) for name in _DECIDES}, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"world": config["world"], "algorithm": config["algorithm"], "config": digest}


def snapshot(state: Any) -> Arrays:
    """All arrays as the host sees them; of the buffers, the part that is filled, shard by shard.

    They are views where they can be: valid only until the state is used up.
    """
    arrays: Arrays = {}
    for path, node in jax.tree_util.tree_flatten_with_path(state, is_leaf=_is_buffer)[0]:
        if _is_buffer(node):
            filled = int(np.max(node.size))
            parts = {"cursor": np.asarray(node.cursor), "size": np.asarray(node.size)}
            for shard in node.rows.addressable_shards:  # each by itself: as a whole, JAX would keep a copy of its own
                parts[f"rows.{shard.index[0].start or 0}"] = np.asarray(shard.data)[:, :filled]
            arrays |= {f"{_name(path)}.{part}": array for part, array in parts.items()}
        else:
            arrays[_name(path)] = np.asarray(node)
    return arrays


def restore(template: T, arrays: Arrays) -> T:
    """A state like `template`, on the same devices, with the numbers of a snapshot."""

    def put(name: str, leaf: Any) -> Any:
        return jax.device_put(arrays[name], leaf.sharding)

    def put_node(path: Any, node: Any) -> Any:
        if not _is_buffer(node):
            return put(_name(path), node)
        name, (shards, capacity, *_) = _name(path), node.rows.shape
        cursor, size = arrays[f"{name}.cursor"], arrays[f"{name}.size"]
        parts = [arrays[f"{name}.rows.{shard}"] for shard in range(len(size))]
        if len(size) == shards:
            rows = np.concatenate(parts)
        else:
            rows, cursor, size = dealing.deal([part[0] for part in parts], cursor, size, shards, capacity)
        rows = np.pad(rows, [(0, whole - part) for whole, part in zip(node.rows.shape, rows.shape, strict=True)])
        return replay.Buffer(
            jax.device_put(rows, node.rows.sharding),
            jax.device_put(cursor, node.cursor.sharding),
            jax.device_put(size, node.size.sharding),
            node.obs_size,
            node.act_size,
            node.leaving,
        )

    return jax.tree_util.tree_map_with_path(put_node, template, is_leaf=_is_buffer)


def save(folder: Path, position: Position, run: dict[str, Any], arrays: Arrays) -> None:
    """Write one checkpoint; it appears under its name only when it is complete. The newest two are kept."""
    with _manager(folder) as manager:
        _save(manager, position, run, arrays)


def _save(manager: Any, position: Position, run: dict[str, Any], arrays: Arrays) -> None:
    import orbax.checkpoint as ocp

    described = {name: [list(a.shape), a.dtype.name, _checksum(a)] for name, a in arrays.items()}
    manifest = {"format": FORMAT, "run": run, "position": asdict(position), "arrays": described}
    manifest["checksum"] = _digest(manifest)
    lines = {name: array.reshape(-1) for name, array in arrays.items()}  # of these, pieces are views
    pieces = {name: ocp.SaveArgs(chunk_byte_size=_piece_bytes(line)) for name, line in lines.items()}
    items = ocp.args.Composite(
        state=ocp.args.PyTreeSave(lines, pieces),  # type: ignore[call-arg]
        manifest=ocp.args.JsonSave(manifest),  # type: ignore[call-arg]
    )
    manager.save(_number(position), args=items, force=True)


def newest(
    folder: Path, run: dict[str, Any], template: T, midway: Callable[[], T] | None = None
) -> tuple[Position, T] | None:
    """The state of the newest checkpoint that is whole and of this run; nothing if none was ever made."""
    return restored(find(folder, run, template, midway), template, midway)


def restored(
    found: tuple[Position, Arrays] | None, template: T, midway: Callable[[], T] | None
) -> tuple[Position, T] | None:
    """The state of a checkpoint that was found; one within a generation is like `midway`."""
    if found is None:
        return None
    position, arrays = found
    like = midway() if midway is not None and position.rounds else template
    return position, restore(like, arrays)


def find(
    folder: Path, run: dict[str, Any], template: T, midway: Callable[[], T] | None = None
) -> tuple[Position, Arrays] | None:
    """The newest checkpoint that is whole and of this run; nothing if none was ever made.

    One that cannot be used is put aside, with a sentence, and the one before it is tried.
    """
    reason, unusable = "", []
    for path in reversed(all_of(folder)):
        like = midway() if midway is not None and path.parent.name == MIDWAY else template
        try:
            position, arrays = load(path, run, like)
        except UserError as error:
            reason = str(error)
            _LOG.warning("%s", reason)
            unusable.append(path)
            continue
        for bad in unusable:
            _put_aside(bad)
        return position, arrays
    if reason:
        raise UserError(f"{reason} There is no other checkpoint to go on from; start anew with --restart.")
    return None


def load(path: Path, run: dict[str, Any], template: Any) -> tuple[Position, Arrays]:
    """One checkpoint, or one sentence on why it cannot be used."""
    try:
        manifest = _manifest(path)
        for name, here in run.items():
            there = manifest["run"].get(name)
            if there != here:
                what = "other settings" if name == "config" else f"another {name} ({shown(there)}, not {shown(here)})"
                raise UserError(f"The checkpoint '{path}' belongs to a run with {what}.")
        position, described = Position(**manifest["position"]), manifest["arrays"]
        if str(_number(position)) != path.name:
            raise files.Unreadable("it has another number than its folder")
        _check_shapes(described, template)
        return position, {name: _read(path / "state" / name, *about) for name, about in described.items()}
    except files.Unreadable as error:
        raise UserError(f"The checkpoint '{path}' is damaged ({error}).") from error


def _manifest(path: Path) -> dict[str, Any]:
    """What a checkpoint says of itself, unchanged since it was written."""
    data = files.read_json(path / "manifest" / "metadata", _MANIFEST_BYTES)
    manifest = forms.fill(forms.Manifest, data, ("format",))
    if manifest["format"] != FORMAT:
        other = "a newer" if manifest["format"] > FORMAT else "an older"
        raise UserError(f"The checkpoint '{path}' was made by {other} version of merlax; continue it with that one.")
    forms.fill(forms.Manifest, data, forms.names(forms.Manifest))
    if data.pop("checksum") != _digest(data):
        raise files.Unreadable("its manifest was changed")
    forms.fill(forms.Place, manifest["position"], forms.names(forms.Place))
    return manifest


def generations(folder: Path) -> list[int]:
    """The generations that have a checkpoint, oldest first."""
    if not folder.is_dir():
        return []
    digits = [path.name for path in folder.iterdir() if path.name.isascii() and path.name.isdigit()]
    return sorted(int(name) for name in digits if name == str(int(name)))


def all_of(folder: Path) -> list[Path]:
    """All checkpoints, those within a generation, too, oldest first."""
    whole = {generation * _ROUNDS: folder / str(generation) for generation in generations(folder)}
    within = {number: folder / MIDWAY / str(number) for number in generations(folder / MIDWAY)}
    return [path for _, path in sorted((whole | within).items())]


def tidy(folder: Path, *, keep: bool) -> None:
    """Of a run that has reached its last frame: keep only the newest, or none."""
    newest = [str(generation) for generation in generations(folder)[-1:] if keep]
    for path in [folder] if not newest else folder.iterdir():
        if path.name not in newest:
            shutil.rmtree(path, ignore_errors=True)


def reached(folder: Path) -> int | None:
    """After how many generations the newest checkpoint goes on; 0 if the run never got as far as its first."""
    if found := all_of(folder):
        newest = found[-1]
        return int(newest.name) // (_ROUNDS if newest.parent.name == MIDWAY else 1)
    return 0 if (folder / _NONE_YET).exists() else None


def _number(position: Position) -> int:
    """What a checkpoint is called: by its generation or, within one, by the rounds, too."""
    return position.generation * _ROUNDS + position.rounds if position.rounds else position.generation


def _read(folder: Path, shape: tuple[int, ...], dtype: str, checksum: int) -> np.ndarray:
    array = zarr.read(folder, math.prod(shape), dtype)
    if _checksum(array) != checksum:
        raise files.Unreadable(f"the numbers of {folder.name} were changed")
    return array.reshape(shape)


def _check_shapes(described: dict[str, Any], template: Any) -> None:
    """Refuse arrays that are not the state's; only a buffer that is not full is smaller."""
    wanted = {name: (array.shape, array.dtype.name) for name, array in _arrays_of(template, described).items()}
    if wanted.keys() != described.keys():
        raise files.Unreadable("it holds other arrays than this run")
    for name, (shape, dtype, _) in described.items():
        whole, kind = wanted[name]
        fits = len(shape) == len(whole) and all(0 <= a <= b for a, b in zip(shape, whole, strict=True))
        if kind != dtype or not fits or (tuple(whole) != shape and ".rows." not in name):
            raise files.Unreadable(f"{name} has another shape or type")


def _arrays_of(template: Any, described: dict[str, Any]) -> dict[str, Any]:
    """What a snapshot of a state with full buffers would hold, by name, on as many devices as `described` says."""
    found: dict[str, Any] = {}
    for path, node in jax.tree_util.tree_flatten_with_path(template, is_leaf=_is_buffer)[0]:
        name = _name(path)
        if _is_buffer(node):
            whole = node.rows.shape[0] * node.rows.shape[1]
            shards = _shards(described.get(f"{name}.size"), whole) or node.rows.shape[0]
            one = jax.ShapeDtypeStruct((1, whole // shards, *node.rows.shape[2:]), node.rows.dtype)
            each = jax.ShapeDtypeStruct((shards,), node.size.dtype)
            found |= {f"{name}.cursor": each, f"{name}.size": each}
            found |= {f"{name}.rows.{shard}": one for shard in range(shards)}
        else:
            found[name] = node
    return found


def _shards(described: Any, whole: int) -> int | None:
    """On how many devices a buffer lay, by the shape of its sizes; nothing where so many cannot share it."""
    shape = described[0] if described else ()
    return shape[0] if len(shape) == 1 and 0 < shape[0] <= _MOST_SHARDS and whole % shape[0] == 0 else None


def _piece_bytes(line: np.ndarray) -> int:
    """Bytes that are written at a time: pieces are equal, and a size that has no such divisor stays in one piece.

    Left to itself, Orbax would make of a prime number of numbers as many files.
    """
    fewest = max(1, math.ceil(line.nbytes / PIECE_BYTES))
    return next((line.nbytes // number for number in range(fewest, 4 * fewest) if line.size % number == 0), line.nbytes)


def _manager(folder: Path) -> Any:
    """Orbax's keeper of the newest two; what a process left that was killed while it saved is removed."""
    import orbax.checkpoint as ocp

    folder.mkdir(parents=True, exist_ok=True)
    options = ocp.CheckpointManagerOptions(
        max_to_keep=KEEP, enable_async_checkpointing=False, cleanup_tmp_directories=True, create=False,
        multiprocessing_options=_alone(),
    )  # fmt: skip
    return ocp.CheckpointManager(folder.absolute(), options=options, item_handlers=_handlers())


def _handlers() -> dict[str, Any]:
    """The least memory and time: no copy of the arrays, one file per piece, nothing compressed (it hardly shrinks)."""
    import orbax.checkpoint as ocp

    logging.getLogger("absl").setLevel(logging.CRITICAL)  # it logs pages; the caller says what failed in one sentence
    registry = ocp.type_handlers.create_type_handler_registry((np.ndarray, _array_handler()))
    state = ocp.PyTreeCheckpointHandler(
        use_compression=False, use_ocdbt=False, type_handler_registry=registry, multiprocessing_options=_alone()
    )
    return {"state": state, "manifest": ocp.JsonCheckpointHandler(multiprocessing_options=_alone())}


def _alone() -> Any:
    """The first process has everything, and waits for no other when it saves."""
    import orbax.checkpoint as ocp

    return ocp.options.MultiprocessingOptions(primary_host=0, active_processes={0})


def _array_handler() -> Any:
    """Writes each array by itself.

    Orbax's own does all at once, and where one fails, leaves the others to report to an event loop that is closed by
    then, which Python prints once for each of them.
    """
    import orbax.checkpoint as ocp

    class EachByItself(ocp.type_handlers.NumpyHandler):
        async def serialize(self, values: Any, infos: Any, args: Any = None) -> Any:
            own, futures = super().serialize, []
            for value, info, arg in zip(values, infos, args or [None] * len(infos), strict=True):
                futures += await own([value], [info], arg and [arg])
            return futures

    return EachByItself(deepcopy_host_arrays=False)


def _put_aside(path: Path) -> None:
    aside = path.with_name(path.name + ".bad")
    shutil.rmtree(aside, ignore_errors=True)
    path.rename(aside)


def _checksum(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _digest(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _brief(error: Exception) -> str:
    """The first line of an error, without what a library may add."""
    return (str(error) or type(error).__name__).splitlines()[0][:120]


def _refused_by_the_disk(error: Exception) -> OSError:
    """What the system said, of which Orbax makes errors of many kinds with paths of its own."""
    coded = re.search(r"os_error_code='(\d+)'", str(error))
    number = error.errno if isinstance(error, OSError) else int(coded[1]) if coded else None
    if number:
        return OSError(number, os.strerror(number))
    return OSError(f"a checkpoint: {re.sub(r'/[^ ]+', '…', _brief(error))}")


def _is_buffer(node: Any) -> bool:
    return isinstance(node, replay.Buffer)


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
