"""How a learner may climb choices: three losses of the actor, compared.

    python benchmarks/choices.py jaxmarl:MPE_simple_spread_v3 team=mean --frames 50000 --seeds 2

TD3 on one world with the value to be expected over all choices (what merlax does), and with straight-through gradients
at the choice taken, with Gumbel noise or without: the champion's score at the start and after each fifth of the frames.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from reporting import parser, report

import merlax
from merlax.algorithms import Game, Gradient
from merlax.core import actions, rollout, td3
from merlax.core.networks import first_layers
from merlax.core.players import PolicyPlayer
from merlax.core.rollout import Field
from merlax.core.td3 import Td3

LEARNER = Td3(
    actor_rate=1e-3, critic_rate=2e-3, target_weight=0.01, discount=0.95, batch=256, buffer=50_000, reward_scale=1.0,
    order="joint", updates_per_frame=0.05, burn_in=4, action_penalty=0.002,
)  # fmt: skip
TESTS, FIFTHS = 60, 5
EXPECTED = td3._actor_loss


def straight(gumbel: bool) -> Any:
    """The loss with a straight-through gradient: forwards the choice, backwards its softmax."""

    def loss(actor: Any, critic: Any, batch: Any, agents: Any, config: Td3) -> Any:
        (for_actor,), (for_critic,) = first_layers(batch.obs, actor), first_layers(batch.obs, critic)
        raw = td3._preactivation(actor, for_actor, batch, agents)
        possible = actions._possible(actor.side, batch.obs, agents)
        logits = jnp.where(possible, jnp.tanh(raw), -1e9)
        if gumbel:  # seeded by the outputs, which differ in every round
            seed = jax.lax.bitcast_convert_type(jax.lax.stop_gradient(jnp.tanh(raw)).sum(), jnp.int32)
            logits = logits + jax.random.gumbel(jax.random.key(seed), logits.shape)
        soft = jax.nn.softmax(logits, axis=-1)
        own = soft + jax.lax.stop_gradient(actions._choice(logits, possible) - soft)
        value = critic.complete_with_own(for_critic, batch.action, own)
        return config.action_penalty * jnp.mean(raw**2) - td3._mean(value, batch.present)

    return loss


def curve(env: Any, frames: int, seed: int) -> list[float]:
    """The champion's mean score, over the same fresh episodes each time."""
    game, key = Game(env, Gradient(LEARNER, explore_episodes=20)), jax.random.key(seed)
    state = game.init(jax.random.fold_in(key, 0))
    generations = max(FIFTHS, frames // game.frames_per_generation())
    scores = []
    for generation in range(generations + 1):
        if generation % (generations // FIFTHS) == 0:
            player = PolicyPlayer(game.champion(state))
            played = rollout.play_test(jax.random.key(99), Field(env), player, TESTS)
            scores.append(round(float(played.fitness.mean()), 3))
        state, _ = game.step(jax.random.fold_in(key, generation + 1), state)
    return scores


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("world")
    asked.add_argument("options", nargs="*", help="fields of the world, as name=value")
    asked.add_argument("--frames", type=int, default=50_000)
    asked.add_argument("--seeds", type=int, default=3)
    args = asked.parse_args()
    env = merlax.make(args.world, **dict(option.split("=") for option in args.options))
    result: dict[str, Any] = {"world": args.world, "frames": args.frames, "learner": dataclasses.asdict(LEARNER)}
    for name, loss in (("expected", EXPECTED), ("gumbel", straight(True)), ("straight", straight(False))):
        td3._actor_loss = loss
        jax.clear_caches()
        result[name] = [curve(env, args.frames, seed) for seed in range(args.seeds)]
    report(result, args.out)


if __name__ == "__main__":
    main()
