"""A team policy as two small files: its sizes (JSON) and its weights (plain arrays, never pickle)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from merlax.core.networks import TeamPolicy
from merlax.envs.base import Side
from merlax.types import UserError

FORMAT = 1


def save(folder: Path, policy: TeamPolicy) -> None:
    """Write a policy; an older one is replaced only once the new one is complete."""
    fresh, old = folder.with_name(folder.name + ".new"), folder.with_name(folder.name + ".old")
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh.mkdir(parents=True)
    (fresh / "policy.json").write_text(json.dumps(_describe(policy), indent=2) + "\n")
    weights: dict[str, Any] = {_name(path): np.asarray(w) for path, w in _leaves(policy)}
    np.savez(fresh / "weights.npz", **weights)
    if folder.exists():
        os.replace(folder, old)
    os.replace(fresh, folder)
    shutil.rmtree(old, ignore_errors=True)


def load(folder: Path) -> TeamPolicy:
    """Read a policy that `save` wrote."""
    if not folder.exists() and folder.with_name(folder.name + ".old").exists():
        folder = folder.with_name(folder.name + ".old")  # killed between the two renames of `save`
    try:
        sizes = json.loads((folder / "policy.json").read_text())
        with (folder / "weights.npz").open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            weights = {name: file[name] for name in file.files}
        if sizes.pop("format") != FORMAT:
            raise ValueError("made by another version of merlax")
        empty = _empty(**sizes)
        return jax.tree_util.tree_map_with_path(lambda path, leaf: _take(weights, _name(path), leaf), empty)
    except Exception as error:  # whatever a broken or foreign file throws, the user reads one sentence
        raise UserError(f"'{folder}' holds no champion that merlax can read ({error}).") from error


def check_fits(policy: TeamPolicy, side: Side, what: str) -> None:
    """Refuse a policy that was made for another world; `what` names it at the start of a sentence."""
    sizes = _describe(policy)
    for name in ("num_agents", "obs_size", "act_size"):
        if sizes[name] != getattr(side, name):
            raise UserError(
                f"{what} was trained for another world: its {name} is {sizes[name]}, "
                f"this world's is {getattr(side, name)}."
            )


def _describe(policy: TeamPolicy) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "num_agents": policy.num_agents,
        "obs_size": policy.trunk[0].weight.shape[0],
        "act_size": policy.heads.weight.shape[1] // policy.num_agents,
        "hidden": [layer.weight.shape[1] for layer in policy.trunk],
    }


def _empty(num_agents: int, obs_size: int, act_size: int, hidden: list[int]) -> TeamPolicy:
    """The shapes of a policy, without computing one."""
    side = Side.equal(num_agents, obs_size, act_size)
    return jax.eval_shape(lambda: TeamPolicy(jax.random.key(0), side, hidden))


def _take(weights: dict[str, np.ndarray], name: str, leaf: Any) -> jax.Array:
    value = weights[name]
    if value.shape != leaf.shape or value.dtype != np.float32:
        raise ValueError(f"{name} has shape {value.shape} and type {value.dtype}")
    if not np.isfinite(value).all():
        raise ValueError(f"{name} holds a number that is not finite")
    return jnp.asarray(value)


def _leaves(policy: TeamPolicy) -> list[tuple[Any, Any]]:
    return jax.tree_util.tree_flatten_with_path(policy)[0]


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
