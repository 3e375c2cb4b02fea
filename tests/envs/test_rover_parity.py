"""JAX agrees with the NumPy reference, step by step."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import RoverState
from tests.support.rover_reference import RoverReference, head_for, scatter
from tests.support.worlds import rover

pytestmark = pytest.mark.slow

WORLDS = [*(f"rover-{coupling}" for coupling in range(1, 8)), "two-rovers"]
EPISODES = 24  # a third each: at random, everyone to the nearest POI, two groups
ERROR = 5e-5  # how far single precision may carry a rover from its place
ENCODINGS = ("clean", "published")


def choose(rng, world):
    """Actions of all episodes, a little beyond the limits at times."""
    third = EPISODES // 3
    num_agents = world.position.shape[1]
    action = rng.uniform(-1.3, 1.3, (EPISODES, num_agents, 2))
    distance = np.where(world.observed[:, None, :], np.inf, world.distance())
    first, last = np.argmin(world.observed, axis=1), world.poi.shape[1] - 1 - np.argmin(world.observed[:, ::-1], axis=1)
    group = np.where(np.arange(num_agents) % 2 == 0, first[:, None], last[:, None])
    chosen = np.where(np.arange(EPISODES)[:, None] < 2 * third, distance.argmin(axis=2), group)
    heading = head_for(world, np.take_along_axis(world.poi, chosen[..., None], axis=1))
    return np.concatenate([action[:third], (heading + 0.02 * action)[third:]]).astype(np.float32)


def layout(env):
    """Where everything starts: [episode, agent, 2] and [episode, poi, 2]."""
    if env.rover_start:
        fixed = np.array(env.rover_start), np.array(env.poi_start)
        return tuple(np.broadcast_to(points, (EPISODES, *points.shape)) for points in fixed)
    return scatter(np.random.default_rng(env.side), EPISODES, env.num_agents, env.num_poi, env.side)


def begin(position, poi):
    """One world before its first step."""
    nothing = jnp.zeros(position.shape[0])
    return RoverState(position, nothing, nothing, poi, jnp.zeros(poi.shape[0], bool), jnp.zeros((), jnp.int32))


def jax_episodes(env):
    """Play given actions in both encodings, in one program."""
    worlds = {encoding: dataclasses.replace(env, encoding=encoding) for encoding in ENCODINGS}

    def episode(position, poi, actions):
        def step(states, action):
            results = {e: world.step(jax.random.key(0), states[e], action) for e, world in worlds.items()}
            return {e: result[1] for e, result in results.items()}, results

        return jax.lax.scan(step, dict.fromkeys(worlds, begin(position, poi)), actions)[1]

    return jax.jit(jax.vmap(episode, in_axes=(0, 0, 1), out_axes=1))


@functools.cache
def sample(name, speed):
    """The same episodes played by both: the reference's steps, what is uncertain in them, and JAX's steps."""
    env = rover(name, speed=speed)
    position, poi = layout(env)
    world = RoverReference(
        position, poi, coupling=env.coupling, side=env.side, horizon=env.horizon,
        r_obs=env.observation_distance, speed=speed,
    )  # fmt: skip
    rng = np.random.default_rng(env.num_agents)
    steps, actions, uncertain, positions, margins = [], [], [], [], []
    for _ in range(env.horizon):
        actions.append(choose(rng, world))
        before = world.observed
        steps.append(world.step(actions[-1]))
        after, world.observed = world.observed, before
        uncertain.append(world.uncertain(ERROR))
        world.observed = after
        positions.append(world.position)
        margins.append(np.abs(world.distance() - world.r_obs).min(axis=(1, 2)))
    results = jax_episodes(env)(position.astype(np.float32), poi.astype(np.float32), np.stack(actions))
    ended = np.stack([step.terminated | step.truncated for step in steps])
    played = np.cumsum(ended, axis=0) - ended == 0  # the last step included
    clear = (np.where(played, np.stack(margins), np.inf) > 1e-4).all(axis=0)
    return steps, np.stack(uncertain), np.stack(positions), played & clear, clear, jax.tree.map(np.asarray, results)


def stack(steps, field):
    return np.stack([getattr(step, field) for step in steps])


def tolerance(encoding, obs):
    """What an error of position can make of each number: an intensity 1 / d² changes by 2 / d³ times the error."""
    plain = np.full_like(obs, 1e-4)
    if encoding == "clean":
        return plain
    strength = np.maximum(obs[..., 1:73], 0.0)
    plain[..., 1:73] = 1e-6 + 1e-5 * strength + 4 * ERROR * strength**1.5
    return plain


every_world = pytest.mark.parametrize("name", WORLDS)
both_speeds = pytest.mark.parametrize("speed", ["free", "pinned"])


@every_world
@both_speeds
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_step_agrees_with_the_reference(name, speed, encoding):
    steps, uncertain, positions, compared, _, results = sample(name, speed)
    obs, state, reward, terminated, truncated, info = results[encoding]
    np.testing.assert_allclose(state.position[compared], positions[compared], rtol=0, atol=ERROR)
    np.testing.assert_allclose(reward.team[compared], stack(steps, "team")[compared], rtol=0, atol=1e-6)
    np.testing.assert_allclose(reward.agent[compared], stack(steps, "agent")[compared], rtol=0, atol=1e-4)
    np.testing.assert_array_equal(terminated[compared], stack(steps, "terminated")[compared])
    np.testing.assert_array_equal(truncated[compared], stack(steps, "truncated")[compared])
    np.testing.assert_array_equal(state.observed[compared], stack(steps, "observed")[compared])
    np.testing.assert_array_equal(info["observed"][compared], stack(steps, "observed")[compared])

    expected = np.stack([step.obs[encoding] for step in steps])[compared]
    certain = np.ones_like(expected, bool)
    certain[..., :73] = ~uncertain[compared]
    assert certain[..., 1:73].mean() > 0.998
    wrong = certain & ~(np.abs(obs[compared] - expected) <= tolerance(encoding, expected))
    assert not wrong.any(), np.argwhere(wrong)[:5]


@every_world
@both_speeds
def test_the_compared_episodes_cover_what_can_happen(name, speed):
    steps, _, _, compared, clear, _ = sample(name, speed)
    assert clear.mean() > 0.7
    observed = stack(steps, "observed")[-1][clear]
    assert observed.any()
    assert not observed.all()
    assert (stack(steps, "terminated") & compared).any()
    assert (stack(steps, "truncated") & compared).any()
    assert set(np.unique(stack(steps, "team")[compared])) >= {0.0, 1.0}


@pytest.mark.parametrize("name", ["rover-1", "rover-3", "two-rovers"])
def test_the_first_observation_agrees_with_the_reference(name):
    worlds = {encoding: rover(name, encoding=encoding) for encoding in ENCODINGS}
    reset = jax.jit(jax.vmap(lambda seed: {e: world.reset(jax.random.key(seed)) for e, world in worlds.items()}))
    for encoding, (obs, state) in reset(np.arange(50)).items():
        env = worlds[encoding]
        world = RoverReference(state.position, state.poi, coupling=env.coupling, side=env.side)
        certain = np.ones(obs.shape, bool)
        certain[..., :73] = ~world.uncertain(0.0)
        np.testing.assert_allclose(np.asarray(obs)[certain], world.observe()[encoding][certain], rtol=1e-5, atol=1e-6)
