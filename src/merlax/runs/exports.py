"""A champion as one file for other programs: ONNX, which plays without JAX, or safetensors, the weights alone."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from merlax.runs import onnx_graph, policies, reader
from merlax.types import UserError

ONNX, SAFETENSORS = ".onnx", ".safetensors"
_ALIGNED = 8  # bytes


def export(run: Path, out: Path) -> None:
    """Write the champion of a run folder; the world itself is not needed."""
    if out.suffix.lower() not in (ONNX, SAFETENSORS):
        raise UserError(f"'{out}' cannot be written; let the file's name end in {ONNX} or {SAFETENSORS}.")
    told = _properties(run)
    policy = policies.load(run / "champion")
    told["policy"] = json.dumps(policies.describe(policy))
    data = onnx_graph.build(policy, told) if out.suffix.lower() == ONNX else safetensors(policies.arrays(policy), told)
    fresh = out.with_name(out.name + ".new")
    try:
        fresh.write_bytes(data)
        os.replace(fresh, out)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise UserError(f"'{out}' cannot be written ({error.strerror}); choose another --out.") from error


def safetensors(arrays: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    """Arrays of float32 in the format of that name: the length of a JSON header, the header, then all numbers."""
    header: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNED)
    numbers = (np.ascontiguousarray(array, "<f4").tobytes() for array in arrays.values())
    return b"".join([len(text).to_bytes(8, "little"), text, *numbers])


def _properties(run: Path) -> dict[str, str]:
    """Where the champion comes from, in words."""
    config = reader.read_config(run)
    world = config["world"] or (config.get("shape") or {}).get("class", "a world of its own")
    made_by = f"merlax {importlib.metadata.version('merlax')}"
    return {"made_by": made_by, "world": world, "algorithm": config["algorithm"], "seed": str(config["seed"])}
