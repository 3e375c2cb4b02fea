"""A team policy as two small files: its sizes (JSON) and its weights (plain arrays, never pickle)."""

from __future__ import annotations

import functools
import json
import os
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from merlax import files
from merlax.core.networks import TeamPolicy, untuned
from merlax.envs.base import Box, Discrete, Side
from merlax.runs import forms
from merlax.types import UserError

FORMAT = 1
_SIZES = ("num_agents", "obs_size", "act_size", "hidden")
_SPACES = ("obs_sizes", "act_sizes", "choose", "masked")


def save(folder: Path, policy: TeamPolicy) -> None:
    """Write a policy; an older one is replaced only once the new one is complete."""
    fresh, old = folder.with_name(folder.name + ".new"), folder.with_name(folder.name + ".old")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    (fresh / "policy.json").write_text(json.dumps(describe(policy), indent=2) + "\n")
    weights: dict[str, Any] = arrays(policy)
    np.savez(fresh / "weights.npz", **weights)
    if folder.exists():  # else the old one is all there is: the last save was killed between its renames
        shutil.rmtree(old, ignore_errors=True)
        os.replace(folder, old)
    os.replace(fresh, folder)
    shutil.rmtree(old, ignore_errors=True)


def load(folder: Path) -> TeamPolicy:
    """Read a policy that `save` wrote."""
    if not folder.exists() and folder.with_name(folder.name + ".old").exists():
        folder = folder.with_name(folder.name + ".old")  # killed between the two renames of `save`
    try:
        said = forms.read(folder / "policy.json", forms.Sizes, ("format", *_SIZES))
        if said["format"] != FORMAT:
            raise files.Unreadable("it was made by another version of merlax")
        sizes = {name: said[name] for name in _SIZES} | {"tuned": said.get("tuned", False)}
        files.check_size(folder / "weights.npz", 4 * _num_weights(**sizes))
        empty = _empty(_side(said), sizes["hidden"], sizes["tuned"])
        wanted = {_name(path): files.Shape(leaf.shape, "float32") for path, leaf in _leaves(empty)}
        found = files.read_arrays(folder / "weights.npz", wanted)
        for name, array in found.items():
            if not np.isfinite(array).all():
                raise files.Unreadable(f"{name} holds a number that is not finite")
    except files.Unreadable as error:
        raise UserError(f"'{folder}' holds no champion that merlax can read ({error}).") from error
    return jax.tree_util.tree_map_with_path(lambda path, leaf: jnp.asarray(found[_name(path)]), empty)


def check_fits(policy: TeamPolicy, side: Side, what: str) -> None:
    """Refuse a policy that was made for another world; `what` names it at the start of a sentence."""
    own, asked = describe(policy), side_record(side)
    for name in ("num_agents", "obs_size", "act_size", *_SPACES):
        if own.get(name) != asked.get(name):
            told = [values.get(name, "not said") for values in (own, asked)]
            raise UserError(
                f"{what} was trained for another world: its {name} is {told[0]}, this world's is {told[1]}."
            )


def side_record(side: Side) -> dict[str, Any]:
    """What files say of a side: its sizes and, where its agents differ or choose, their spaces."""
    sizes = {name: int(getattr(side, name)) for name in ("num_agents", "obs_size", "act_size")}
    return sizes | ({} if side.plain else _spaces(side))


def _spaces(side: Side) -> dict[str, Any]:
    return {
        "obs_sizes": [space.size for space in side.obs],
        "act_sizes": [space.size for space in side.action],
        "choose": [isinstance(space, Discrete) for space in side.action],
        "masked": side.masked,
    }


def _side(said: dict[str, Any]) -> Side:
    """The side that a file describes."""
    found = [said[name] for name in _SPACES if name in said]
    if not found:
        return Side.equal(said["num_agents"], said["obs_size"], said["act_size"])
    if len(found) < len(_SPACES) or {len(each) for each in found[:3]} != {said["num_agents"]}:
        raise files.Unreadable(f"{', '.join(_SPACES)} do not fit each other")
    obs, sizes, choose, masked = found
    action = tuple(Discrete(size) if chooses else Box(size) for size, chooses in zip(sizes, choose, strict=True))
    side = Side(tuple(map(Box, obs)), action, masked)
    if (side.obs_size, side.act_size) != (said["obs_size"], said["act_size"]):
        raise files.Unreadable(f"{', '.join(_SPACES)} do not fit obs_size and act_size")
    return side


def arrays(policy: TeamPolicy) -> dict[str, np.ndarray]:
    """The weights of a policy, by name."""
    return {_name(path): np.asarray(leaf) for path, leaf in _leaves(policy)}


def describe(policy: TeamPolicy) -> dict[str, Any]:
    """What files say of a policy: its sizes, whether it has gains and, where agents differ or choose, their spaces."""
    return {
        "format": FORMAT,
        "num_agents": policy.num_agents,
        "obs_size": policy.trunk[0].weight.shape[0],
        "act_size": policy.heads.weight.shape[1] // policy.num_agents,
        "hidden": [layer.weight.shape[1] for layer in policy.trunk],
        "tuned": policy.gain is not None,
        **({} if policy.side is None else _spaces(policy.side)),
    }


def _num_weights(num_agents: int, obs_size: int, act_size: int, hidden: tuple[int, ...], tuned: bool) -> int:
    """Weights and biases of all layers, and gains."""
    layers = sum((inputs + 1) * outputs for inputs, outputs in pairwise([obs_size, *hidden, num_agents * act_size]))
    return layers + tuned * num_agents * obs_size


@functools.lru_cache(64)
def _empty(side: Side, hidden: tuple[int, ...], tuned: bool) -> TeamPolicy:
    """The shapes of a policy, without computing one."""
    dress = untuned if tuned else lambda policy: policy
    return jax.eval_shape(lambda: dress(TeamPolicy(jax.random.key(0), side, hidden)))


def _leaves(policy: TeamPolicy) -> list[tuple[Any, Any]]:
    return jax.tree_util.tree_flatten_with_path(policy)[0]


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
