"""Small damage of many kinds to what is valid: text, JSON, TOML, tables, arrays; all of it repeatable."""

from __future__ import annotations

import copy
import io
import json
import math
import string
import zipfile
from random import Random
from typing import Any

import numpy as np

WHOLE = (0, 1, -1, 2, 3, 5, 8, 100, 10**4, 10**6, 10**9, 10**12, 10**18, 2**31, 2**32, 2**63, 2**64, 10**30, 10**400)
REAL = (0.0, -0.0, 0.5, 1.5, -0.5, 1e-8, 1e-320, 1e16, 1e300, math.inf, -math.inf, math.nan)
WORDS = (
    *"x merl ea rover-3 two-rovers predator-prey ddpg frozen scripted paper fast Rover GaussianMutation Td3".split(),
    *"os:path null 1 -1 nan é±漢 runs/team .. __class__ {} %s%n true".split(),
    *("", "\x00", "\x1b[2J", "\udcff", "a" * 3000),
)
KEYS = (
    *"format world env algorithm preset settings opponent frames seed versions devices kind type learners".split(),
    *"mutation selection fitness population horizon num_agents num_poi actor_hidden hidden obs_size act_size".split(),
    *"finished mean interval95 episodes x".split(),
    "",
)
SIGNS = (*string.printable[:95], *"é±\x00\n\t\x1b\udcff漢", *'[]{}",:=.-#' * 4)


def junk(rng: Random, depth: int = 2) -> Any:
    """Any JSON value."""
    kind = rng.randrange(7 if depth else 5)
    if kind == 0:
        return rng.choice((None, True, False))
    if kind == 1:
        return rng.choice(WHOLE)
    if kind == 2:
        return rng.choice(REAL)
    if kind in (3, 4):
        return rng.choice(WORDS)
    if kind == 5:
        return [junk(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(KEYS): junk(rng, depth - 1) for _ in range(rng.randrange(4))}


def data(rng: Random, value: Any) -> Any:
    """One to three changes somewhere in a JSON value."""
    changed = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        changed = _one_change(rng, changed)
    return changed


def _one_change(rng: Random, value: Any) -> Any:
    """Walk down to a random place and change what is there."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        name = rng.choice(list(value))
        action = rng.random()
        if action < 0.08:
            del value[name]
        elif action < 0.14:
            value[rng.choice((text(rng, name), rng.choice(KEYS)))] = value.pop(name)
        elif action < 0.2:
            value[rng.choice(KEYS)] = junk(rng)
        else:
            value[name] = _one_change(rng, value[name])
        return value
    if isinstance(value, list) and value and rng.random() < 0.7:
        place = rng.randrange(len(value))
        if rng.random() < 0.2:
            return value * rng.choice((0, 2, 3, 50))
        value[place] = _one_change(rng, value[place])
        return value
    if isinstance(value, bool | None) or rng.random() < 0.25:
        return junk(rng)
    if isinstance(value, int):
        near = value + 1, value - 1, -value, f"{value:x}", rng.choice(WHOLE)
        return rng.choice((*near, float(value)) if abs(value) < 2**64 else near)
    if isinstance(value, float):
        return rng.choice((value * 2, -value, round(value) if math.isfinite(value) else 0, rng.choice(REAL)))
    return text(rng, value) if isinstance(value, str) else junk(rng)


def text(rng: Random, value: str) -> str:
    """A few signs removed, repeated, exchanged or put in; no new slash, so that a path leads nowhere else."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        start = rng.randrange(len(value) + 1)
        end = min(len(value), start + rng.choice((0, 1, 1, 2, 8, 100)))
        part = value[start:end]
        middle = rng.choice(("", part * 2, part[::-1], rng.choice(SIGNS), rng.choice(SIGNS), str(rng.choice(WHOLE))))
        value = value[:start] + middle.replace("/", "-") + value[end:]
    return value


def raw(rng: Random, value: bytes) -> bytes:
    """Bytes flipped, cut, doubled or overwritten."""
    found = bytearray(value)
    for _ in range(rng.choice((1, 1, 2, 5))):
        place = rng.randrange(len(found) + 1)
        size = rng.choice((1, 1, 2, 4, 16, 300))
        action = rng.randrange(5)
        if action == 0 and place < len(found):
            found[place] ^= 1 << rng.randrange(8)
        elif action == 1:
            del found[place:]
        elif action == 2:
            found[place:place] = found[place : place + size]
        elif action == 3:
            found[place : place + size] = rng.randbytes(size)
        else:
            found[place : place + size] = rng.choice((b"\x00", b"\xff")) * size
    return bytes(found)


def as_json(rng: Random, value: Any) -> bytes:
    """A changed value in a file whose text may be damaged, too."""
    changed = data(rng, value) if rng.random() < 0.85 else value
    written = json.dumps(changed, ensure_ascii=rng.random() < 0.5)
    return _damaged(rng, written, "[", "]", '{"a":')


def as_toml(rng: Random, value: Any) -> bytes:
    changed = data(rng, value) if rng.random() < 0.85 else value
    if not isinstance(changed, dict):
        changed = {"settings": changed}
    written = "\n".join(f"{json.dumps(str(key))} = {_toml(item)}" for key, item in changed.items() if item is not None)
    return _damaged(rng, written, "a=[", "]", "a={b=")


def _damaged(rng: Random, written: str, *openings: str) -> bytes:
    """Mostly as it is."""
    chance = rng.random()
    if chance < 0.6:
        return written.encode(errors="surrogatepass")
    if chance < 0.63:
        return (rng.choice(openings) * rng.choice((500, 20_000, 300_000))).encode()
    if chance < 0.8:
        return raw(rng, written.encode(errors="surrogatepass"))
    return text(rng, written).encode(errors=rng.choice(("replace", "surrogatepass")))


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(k))} = {_toml(v)}" for k, v in value.items() if v is not None) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value if item is not None) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return json.dumps(value)


def table(rng: Random, written: str) -> bytes:
    """Cells, lines and signs of a CSV."""
    lines = written.splitlines()
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not lines:
            break
        place = rng.randrange(len(lines))
        action = rng.randrange(6)
        if action == 0:
            del lines[place]
        elif action == 1:
            lines.insert(place, rng.choice(lines))
        elif action == 2:
            lines[place] = text(rng, lines[place])
        else:
            cells = lines[place].split(",")
            new = str(junk(rng, 0)) if rng.random() < 0.9 else str(rng.choice(WHOLE))
            cells[rng.randrange(len(cells))] = new if rng.random() < 0.8 else f"{new},{new}"
            lines[place] = ",".join(cells)
    found = ("\n".join(lines) + rng.choice(("\n", "\n", ""))).encode(errors="replace")
    return raw(rng, found) if rng.random() < 0.2 else found


def arrays(rng: Random, found: dict[str, np.ndarray]) -> bytes:
    """A .npz with other arrays, other headers, or other bytes."""
    members = {f"{name}.npy": _npy(array) for name, array in found.items()}
    for _ in range(rng.choice((0, 1, 1, 2))):
        name = rng.choice(list(members))
        array = found.get(name.removesuffix(".npy"), np.zeros(3, np.float32))
        action = rng.randrange(8)
        if action == 0:
            del members[name]
        elif action == 1:
            members[rng.choice((text(rng, name), "../x.npy", "extra.npy", name.upper()))] = members.pop(name)
        elif action == 2:
            members[name] = _npy(_other(rng, array))
        elif action == 3:
            members[name] = _npy(array, shape=rng.choice(((10**9,), (2**31, 2**31), (-1,), (), (0,), (10**30,), "x")))
        elif action == 4:
            members[name] = _npy(
                array, descr=rng.choice(("|O", "<f8", ">f4", "|S10", "<U1000000", "x", [("a", "<f4")]))
            )
        elif action == 5:
            members[name] = raw(rng, members[name])
        elif action == 6:
            members["extra.npy"] = _npy(rng.choice((np.zeros(3), np.zeros(10**6), np.array([{}], object))))
        else:
            members[name] = members[name][: rng.randrange(len(members[name]) + 1)]
        if not members:
            break
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if rng.random() < 0.1 else zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("\x00", "0").encode(errors="replace").decode() or "0", content)
    written = file.getvalue()
    return raw(rng, written) if rng.random() < 0.4 else written


def _other(rng: Random, array: np.ndarray) -> np.ndarray:
    """The same numbers in another form, or not quite the same."""
    with np.errstate(all="ignore"):
        action = rng.randrange(5)
        if action == 0:
            return array.reshape(-1)
        if action == 1:
            return array.astype(rng.choice((np.float64, np.float16, np.int32, bool, complex)))
        if action == 2:
            return np.full_like(array, rng.choice((np.nan, np.inf, 3e38, 0.0)))
        if action == 3:
            return np.concatenate([array.reshape(-1)] * 2)
        return array[..., :-1]


def _npy(array: np.ndarray, shape: Any = None, descr: Any = None) -> bytes:
    """An array as a .npy file, whose header may not tell the truth."""
    file = io.BytesIO()
    if shape is None and descr is None:
        np.lib.format.write_array(file, array, allow_pickle=True)
        return file.getvalue()
    kept = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": array.shape}
    header = repr(kept | {key: value for key, value in (("shape", shape), ("descr", descr)) if value is not None})
    padded = header.ljust(118 if len(header) < 118 else len(header) + 1).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded + array.tobytes()
