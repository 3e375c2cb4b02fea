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
import shutil
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from merlax import files
from merlax.runs import forms, zarr
from merlax.runs.snapshots import Arrays, check_shapes, restore
from merlax.types import UserError, shown

T = TypeVar("T")

FORMAT = 5
KEEP = 2
PIECE_BYTES = 4_000_000  # of an array that are written at a time
FOLDER, MIDWAY = "checkpoints", "midway"
NONE_YET = "none-yet"  # a file that lies there until the first is complete
_ROUNDS = 10**9  # more than one generation has
# Of `config.json`; not the frames, for a run can be extended.
_DECIDES = ("world", "env", "algorithm", "preset", "settings", "opponent", "start", "seed")
_MANIFEST_BYTES = 10_000_000
_LOG = logging.getLogger("merlax")


@dataclass(frozen=True)
class Position:
    """How far a run is."""

    generation: int = 0
    frames: int = 0
    seconds: float = 0.0
    rounds: int = 0
    """Of learning that are done in the generation under way."""


def identity(config: dict[str, Any]) -> dict[str, Any]:
    """What a checkpoint must have in common with the run that it continues."""
    text = json.dumps({name: config.get(name) for name in _DECIDES}, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"world": config["world"], "algorithm": config["algorithm"], "config": digest}


def save(folder: Path, position: Position, run: dict[str, Any], arrays: Arrays) -> None:
    """Write one checkpoint; it appears under its name only when it is complete. The newest two are kept."""
    with manager(folder) as keeper:
        write(keeper, position, run, arrays)


def write(keeper: Any, position: Position, run: dict[str, Any], arrays: Arrays) -> None:
    """Let Orbax's keeper write one checkpoint."""
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
    keeper.save(number(position), args=items, force=True)


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
        if str(number(position)) != path.name:
            raise files.Unreadable("it has another number than its folder")
        check_shapes(described, template)
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
    return 0 if (folder / NONE_YET).exists() else None


def number(position: Position) -> int:
    """What a checkpoint is called: by its generation or, within one, by the rounds, too."""
    return position.generation * _ROUNDS + position.rounds if position.rounds else position.generation


def _read(folder: Path, shape: tuple[int, ...], dtype: str, checksum: int) -> np.ndarray:
    array = zarr.read(folder, math.prod(shape), dtype)
    if _checksum(array) != checksum:
        raise files.Unreadable(f"the numbers of {folder.name} were changed")
    return array.reshape(shape)


def _piece_bytes(line: np.ndarray) -> int:
    """Bytes that are written at a time: pieces are equal, and a size that has no such divisor stays in one piece.

    Left to itself, Orbax would make of a prime number of numbers as many files.
    """
    fewest = max(1, math.ceil(line.nbytes / PIECE_BYTES))
    return next((line.nbytes // number for number in range(fewest, 4 * fewest) if line.size % number == 0), line.nbytes)


def manager(folder: Path) -> Any:
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
