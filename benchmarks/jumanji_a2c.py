"""Jumanji's own A2C on SearchAndRescue, with Jumanji's own settings: what stands beside ours in docs/real-worlds.md.

    pip install jumanji==1.1.2 dm-haiku distrax rlax optax
    python benchmarks/jumanji_a2c.py --out results/benchmarks/real-search-and-rescue-a2c.json

One network sees what all searchers see and moves them all, for the sum of their rewards; merlax is not used. Greedy and
with its own noise, each over 200 episodes, before it learns and after as many frames as ours had.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jumanji.environments.swarms.search_and_rescue.env import SearchAndRescue
from jumanji.environments.swarms.search_and_rescue.generator import RandomGenerator
from jumanji.training.agents.a2c.a2c_agent import A2CAgent
from jumanji.training.evaluator import Evaluator
from jumanji.training.networks.search_and_rescue.actor_critic import make_actor_critic_search_and_rescue
from jumanji.training.types import ActingState, TrainingState
from jumanji.wrappers import MultiToSingleWrapper, VmapAutoResetWrapper
from reporting import parser, report

SEEDS, FRAMES, EPISODES = (1, 2, 3), (300_000,), 200
LAYERS, BATCH, STEPS = (128, 128), 128, 20  # these, and the agent's, are jumanji/training/configs/env's
SEARCHERS = 4


def world() -> Any:
    """As in real_worlds.py."""
    made = SearchAndRescue()
    sizes = {name: getattr(made.generator, name) for name in ("num_targets", "env_size")}
    return MultiToSingleWrapper(SearchAndRescue(generator=RandomGenerator(num_searchers=SEARCHERS, **sizes)))


def learner(env: Any) -> A2CAgent:
    """With Jumanji's settings."""
    return A2CAgent(
        env=env, n_steps=STEPS, total_batch_size=BATCH,
        actor_critic_networks=make_actor_critic_search_and_rescue(env.unwrapped, LAYERS),
        optimizer=optax.adam(3e-4), normalize_advantage=False, discount_factor=0.997, bootstrapping_factor=0.95,
        l_pg=1.0, l_td=1.0, l_en=0.01,
    )  # fmt: skip


def begin(agent: A2CAgent, env: Any, key: jax.Array) -> TrainingState:
    """Everything with a leading axis of one device."""
    key_params, key_reset, key_act = jax.random.split(key, 3)
    state, timestep = jax.vmap(env.reset)(jax.random.split(key_reset, BATCH)[None].reshape(BATCH, -1))
    none: Any = jnp.zeros(())
    acting = ActingState(state, timestep, key_act, none, none)
    return jax.tree.map(lambda leaf: leaf[None], TrainingState(agent.init_params(key_params), acting))


def scores(seed: int) -> dict[str, dict[str, float]]:
    """After so many frames, of one seed."""
    agent, tested = learner(VmapAutoResetWrapper(world())), world()
    tests = {name: Evaluator(tested, agent, EPISODES, stochastic) for name, stochastic in
             (("greedy", False), ("noisy", True))}  # fmt: skip
    key, key_init = jax.random.split(jax.random.PRNGKey(seed))
    state, done, found = begin(agent, tested, key_init), 0, {}

    @functools.partial(jax.pmap, axis_name="devices", static_broadcasted_argnums=1)
    def learn(state: TrainingState, updates: int) -> TrainingState:
        return jax.lax.scan(lambda state, _: (agent.run_epoch(state)[0], None), state, None, updates)[0]

    for frames in (0, *FRAMES):
        state = learn(state, frames // (BATCH * STEPS) - done) if frames else state
        done = frames // (BATCH * STEPS)
        mean = lambda test: float(test.run_evaluation(state.params_state, key)["episode_return"][0])  # noqa: B023, E731
        found[f"{frames:,}"] = {name: round(mean(test), 2) for name, test in tests.items()}
        print(f"seed {seed}, {frames:,} frames: {found[f'{frames:,}']}", flush=True)
    return found


def main() -> None:
    asked = parser(__doc__).parse_args()
    report({"searchers": SEARCHERS, "seeds": SEEDS, "scores": {seed: scores(seed) for seed in SEEDS}}, asked.out)


if __name__ == "__main__":
    main()
