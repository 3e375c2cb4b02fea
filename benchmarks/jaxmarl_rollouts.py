"""What JaxMARL's adapter costs: the same episodes, by JaxMARL alone and through merlax, in frames per second.

    pip install 'merlax[jaxmarl]'
    python benchmarks/jaxmarl_rollouts.py --out results/benchmarks/jaxmarl_rollouts.json

JaxMARL alone is a loop over `step_env` as anybody would write it: reset, the team's network, a step, the sum of all
rewards. Both are compiled, over the same number of episodes side by side, and take turns. Episodes of the worlds chosen
end at their limit of steps only, so that both take the same number of steps.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from reporting import parser, report

import merlax
from merlax import TeamPolicy
from merlax.core import devices, rollout
from merlax.core.played import Field
from merlax.core.players import PolicyPlayer
from merlax.envs.adapters import foreign, jaxmarl_worlds
from merlax.envs.base import Discrete

WORLDS = {"MPE_simple_spread_v3": {}, "MPE_simple_spread_v3 continuous": {"action_type": "Continuous"}}
EPISODES = 2_000
REPEATS = 15


def measure(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """One world, both ways."""
    env: Any = merlax.make(f"jaxmarl:{name.split()[0]}", team="sum", **options)
    made, side, steps = jaxmarl_worlds._made(env), env.sides[0], env.horizon
    team = TeamPolicy(jax.random.key(0), side, (100, 100))
    keys = jax.random.split(jax.random.key(1), EPISODES)
    chooses = isinstance(side.action[0], Discrete)

    def one(key: Any, team: TeamPolicy) -> Any:
        first, *later = jax.random.split(key, steps + 1)
        obs, state = made.reset(first)

        def step(carry: Any, key: Any) -> Any:
            obs, state, paid = carry
            acts = team(jnp.stack([obs[agent] for agent in made.agents]))
            acts = acts.argmax(axis=1) if chooses else (acts + 1.0) / 2.0
            obs, state, rewards, _, _ = made.step_env(key, state, dict(zip(made.agents, acts, strict=True)))
            return (obs, state, paid + sum(rewards[agent] for agent in made.agents)), None

        return jax.lax.scan(step, (obs, state, 0.0), jnp.stack(later))[0][2]

    with foreign.lenient():
        both = jax.jit(devices.shard_over(devices.count(), jax.vmap(one, in_axes=(0, None))))
        alone = lambda: both(keys, team)  # noqa: E731
        own = jax.jit(
            lambda keys, team: rollout.play_team(keys, Field(env), PolicyPlayer(team), keep=False).episode.fitness
        )
        through = lambda: own(keys, team)  # noqa: E731
        scores = [float(play().mean()) for play in (alone, through)]  # compiles, too
        pairs = [(_seconds(alone), _seconds(through)) for _ in range(REPEATS)]
    frames = EPISODES * steps
    return {
        "jaxmarl_frames_per_s": round(frames / statistics.median(first for first, _ in pairs)),
        "merlax_frames_per_s": round(frames / statistics.median(second for _, second in pairs)),
        "merlax_to_jaxmarl": round(statistics.median(first / second for first, second in pairs), 3),
        "mean_scores": [round(score, 2) for score in scores],
    }


def _seconds(play: Callable[[], Any]) -> float:
    start = time.monotonic()
    jax.block_until_ready(play())
    return time.monotonic() - start


def main() -> None:
    options = parser(__doc__).parse_args()
    devices.prepare()
    found: dict[str, Any] = {"cores": devices.count(), "load_before": round(os.getloadavg()[0], 2)}
    report(found | {name: measure(name, changed) for name, changed in WORLDS.items()}, options.out)


if __name__ == "__main__":
    main()
