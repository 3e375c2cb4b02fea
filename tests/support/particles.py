"""Particle worlds in chosen states, and episodes of them by simple rules."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import ParticleState, PredatorPrey, base, make
from merlax.types import UserError

WORLDS = ["predator-prey", "predator-prey-hard", "physical-deception", "keep-away"]


def sized(kind, size):
    """A world with this many of everything."""
    team = {"num_predators": size} if kind is PredatorPrey else {"num_agents": size}
    return kind(**team, num_landmarks=size)


def state_of(position, velocity=None, landmark=((5.0, 5.0),), target=0):
    """A world in a given state; its landmark is out of the way."""
    position, landmark = jnp.array(position, jnp.float32), jnp.array(landmark, jnp.float32)
    velocity = jnp.zeros_like(position) if velocity is None else jnp.array(velocity, jnp.float32)
    return ParticleState(position, velocity, landmark, jnp.array(target), jnp.array(0))


@functools.partial(jax.jit, static_argnums=(0, 2, 3))
def play(env, seeds, team, opponent=None):
    """Episodes by rules, the opponent's own unless told: the first `obs, state`, all steps, and all actions by side."""
    opponent = opponent or env.rules(1)["scripted"].act

    def episode(seed):
        key_reset, key_act = jax.random.split(jax.random.key(seed))
        first = base.reset(env, key_reset)

        def step(state, key):
            actions = team(key, env, state), opponent(state)
            after = base.step(env, jax.random.key(0), state, actions)
            return after.state, (after, actions)

        return first, *jax.lax.scan(step, first[1], jax.random.split(key_act, env.horizon))[1]

    return jax.vmap(episode)(seeds)


def at_random(key, env, state):
    """Any action of the team's."""
    del state
    return jax.random.uniform(key, (env.sides[0].num_agents, 2), minval=-1.0, maxval=1.0)


def at_rest(key, env, state):
    """A team that does nothing."""
    del key, state
    return jnp.zeros((env.sides[0].num_agents, 2))


def after(env, state, team=None, opponent=None):
    """What one step leads to; who is given no action does nothing."""
    still = [np.zeros((side.num_agents, side.act_size)) for side in env.sides]
    chosen = [default if given is None else given for given, default in zip((team, opponent), still, strict=True)]
    return base.step(env, jax.random.key(0), state, tuple(jnp.array(action, jnp.float32) for action in chosen))


def assert_refused(world, options):
    """That a world does not take these options, and says so in one sentence that names the first of them."""
    with pytest.raises(UserError) as error:
        make(world, **options)
    message = str(error.value)
    assert next(iter(options)) in message
    assert message.endswith(".")
    assert "\n" not in message
