"""Checkpoints: everything that a run needs to go on exactly, as plain arrays (Orbax) and a manifest (JSON).

`RUN/checkpoints/<generation>/` holds one. Orbax writes it under another name and renames it when it is complete; the
manifest carries a checksum of every array and of itself, so that whatever happened to the files later is noticed.
Nothing of it is ever executed: arrays are numbers, and names are only compared.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import shutil
import sys
import zlib
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from merlax.core import replay
from merlax.types import UserError

T = TypeVar("T")
Arrays = dict[str, np.ndarray]

FORMAT = 1
KEEP = 2
PIECE_BYTES = 4_000_000  # of an array that are written at a time
FOLDER = "checkpoints"
_DECIDES = ("world", "env", "algorithm", "preset", "opponent", "frames", "seed", "config")  # of `config.json`
_LOG = logging.getLogger("merlax")


@dataclass(frozen=True)
class Position:
    """How far a run is."""

    generation: int = 0
    frames: int = 0
    seconds: float = 0.0


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

    def put(path: Any, leaf: Any) -> Any:
        name = _name(path)
        array = np.concatenate([arrays[part] for part in _shards(name, leaf)]) if _is_rows(name) else arrays[name]
        if array.shape != leaf.shape:
            missing = [(0, whole - part) for whole, part in zip(leaf.shape, array.shape, strict=True)]
            array = np.pad(array, missing)
        return jax.device_put(array, leaf.sharding)

    return jax.tree_util.tree_map_with_path(put, template)


def save(folder: Path, position: Position, run: dict[str, Any], arrays: Arrays) -> None:
    """Write one checkpoint; it appears under its name only when it is complete. Then drop all but the newest two."""
    import orbax.checkpoint as ocp

    described = {name: [list(a.shape), a.dtype.name, _checksum(a)] for name, a in arrays.items()}
    manifest = {"format": FORMAT, "run": run, "position": asdict(position), "arrays": described}
    manifest["checksum"] = _digest(manifest)
    lines = {name: array.reshape(-1) for name, array in arrays.items()}  # of these, pieces are views
    pieces = dict.fromkeys(arrays, ocp.SaveArgs(chunk_byte_size=PIECE_BYTES))
    items = ocp.args.Composite(
        state=ocp.args.PyTreeSave(lines, pieces),  # type: ignore[call-arg]
        manifest=ocp.args.JsonSave(manifest),  # type: ignore[call-arg]
    )
    with _checkpointer() as checkpointer:
        checkpointer.save((folder / str(position.generation)).absolute(), args=items, force=True)
    for old in generations(folder)[:-KEEP]:
        shutil.rmtree(folder / str(old), ignore_errors=True)


def newest(folder: Path, run: dict[str, Any], template: T) -> tuple[Position, T] | None:
    """The newest checkpoint that is whole and of this run; nothing if none was ever made.

    One that cannot be used is put aside, with a sentence, and the one before it is tried.
    """
    reason = ""
    for generation in reversed(generations(folder)):
        path = folder / str(generation)
        try:
            position, arrays = load(path, run, template)
        except UserError as error:
            reason = str(error)
            _LOG.warning("%s", reason)
            continue
        for later in generations(folder):
            if later > generation:
                _put_aside(folder / str(later))
        return position, restore(template, arrays)
    if reason:
        raise UserError(f"{reason} There is no other checkpoint to go on from; train anew with --force.")
    return None


def load(path: Path, run: dict[str, Any], template: Any) -> tuple[Position, Arrays]:
    """One checkpoint, or one sentence on why it cannot be used."""
    try:
        manifest = json.loads((path / "manifest" / "metadata").read_text())
        form = manifest["format"]
        if isinstance(form, int) and form > FORMAT:
            raise UserError(f"The checkpoint '{path}' was made by a newer version of merlax; install that one.")
        if manifest.pop("checksum") != _digest(manifest):
            raise ValueError("its manifest was changed")
    except UserError:
        raise
    except Exception as error:  # whatever a broken or foreign file throws, the user reads one sentence
        raise UserError(f"The checkpoint '{path}' is damaged ({_brief(error)}).") from error
    for name, here in run.items():
        there = manifest["run"].get(name)
        if there != here:
            what = "other settings" if name == "config" else f"another {name} ('{there}', not '{here}')"
            raise UserError(f"The checkpoint '{path}' belongs to a run with {what}.")
    try:
        _check_shapes(manifest["arrays"], template)
        return Position(**manifest["position"]), _read(path, manifest["arrays"])
    except Exception as error:
        raise UserError(f"The checkpoint '{path}' is damaged ({_brief(error)}).") from error


def generations(folder: Path) -> list[int]:
    """The generations that have a checkpoint, oldest first."""
    if not folder.is_dir():
        return []
    return sorted(int(path.name) for path in folder.iterdir() if path.name.isascii() and path.name.isdigit())


def clean(folder: Path) -> None:
    """Remove what a process left that was killed while it saved."""
    for path in folder.glob("*.orbax-checkpoint-tmp*"):
        shutil.rmtree(path, ignore_errors=True)


def _read(path: Path, described: dict[str, Any]) -> Arrays:
    import orbax.checkpoint as ocp

    shapes = {name: np.empty(math.prod(shape), dtype) for name, (shape, dtype, _) in described.items()}
    wanted = {name: ocp.RestoreArgs(restore_type=np.ndarray) for name in shapes}
    items = ocp.args.Composite(state=ocp.args.PyTreeRestore(shapes, restore_args=wanted))  # type: ignore[call-arg]
    with _checkpointer() as checkpointer:
        lines = checkpointer.restore(path.absolute(), args=items)["state"]
    for name, (_, dtype, checksum) in described.items():
        if lines[name].dtype.name != dtype or _checksum(lines[name]) != checksum:
            raise ValueError(f"the numbers of {name} were changed")
    return {name: lines[name].reshape(shape) for name, (shape, *_) in described.items()}


def _check_shapes(described: dict[str, Any], template: Any) -> None:
    """Refuse arrays that are not the state's; only a buffer that is not full is smaller."""
    leaves = {_name(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(template)[0]}
    wanted = {part: leaf for name, leaf in leaves.items() for part in _shards(name, leaf)}
    if wanted.keys() != described.keys():
        raise ValueError("it holds other arrays than this run")
    for name, (shape, dtype, _) in described.items():
        whole = wanted[name].shape
        fits = len(shape) == len(whole) and all(0 <= a <= b for a, b in zip(shape, whole, strict=True))
        if wanted[name].dtype.name != dtype or not (list(whole) == shape or (_is_rows(name) and fits)):
            raise ValueError(f"{name} has another shape or type")


def _is_rows(name: str) -> bool:
    """Whether these are the rows of a buffer, or of one shard of it."""
    return name.endswith(".rows") or ".rows." in name


def _shards(name: str, leaf: Any) -> list[str]:
    """The names under which a leaf is stored: a buffer's rows by shard."""
    return [f"{name}.{shard}" for shard in range(leaf.shape[0])] if _is_rows(name) else [name]


def _checkpointer() -> Any:
    """The least memory and time: no copy of the arrays, one file per piece, nothing compressed (it hardly shrinks)."""
    import orbax.checkpoint as ocp

    _hush()
    handlers = ocp.type_handlers
    registry = handlers.create_type_handler_registry((np.ndarray, handlers.NumpyHandler(deepcopy_host_arrays=False)))
    handler = ocp.CompositeCheckpointHandler(
        state=ocp.PyTreeCheckpointHandler(use_compression=False, use_ocdbt=False, type_handler_registry=registry),
        manifest=ocp.JsonCheckpointHandler(),
    )
    return ocp.Checkpointer(handler)


@cache
def _hush() -> None:
    """Let Orbax fail silently: the caller says what failed in one sentence.

    It logs pages through absl, and where one array fails, the others report to a loop that is closed already, which
    Python prints once for each of them.
    """
    logging.getLogger("absl").setLevel(logging.CRITICAL)
    show = sys.unraisablehook

    def filtered(found: Any) -> None:
        if str(found.exc_value) != "Event loop is closed":
            show(found)

    sys.unraisablehook = filtered


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


def _is_buffer(node: Any) -> bool:
    return isinstance(node, replay.Buffer)


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
