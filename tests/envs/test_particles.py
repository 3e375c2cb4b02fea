"""The particle worlds keep their contract and their stated ranges, at every size."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs import Contest, KeepAway, ParticleState, PhysicalDeception, PredatorPrey, Side, make
from merlax.types import UserError

NAMES = ["predator-prey", "predator-prey-hard", "physical-deception", "keep-away"]
SIZES = [2, 3, 5]
every_world = pytest.mark.parametrize("name", NAMES)
every_size = pytest.mark.parametrize("size", SIZES)


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
    """Everything that happens in episodes of a team that plays by a rule: [episode, time, ...]."""

    def episode(seed):
        key_reset, key_act = jax.random.split(jax.random.key(seed))
        obs, state = env.reset(key_reset)

        def step(state, key):
            theirs = (opponent or env.scripted_opponent)(state)
            result = env.step(jax.random.key(0), state, team(key, env, state), theirs)
            return result[1], (*result, env.opponent_obs(state), theirs)

        return (obs, state), jax.lax.scan(step, state, jax.random.split(key_act, env.horizon))[1]

    return jax.vmap(episode)(seeds)


def at_random(key, env, state):
    return jax.random.uniform(key, (env.num_agents, 2), minval=-1.0, maxval=1.0)


def chase(key, env, state):
    """Every predator runs straight for the prey."""
    return jnp.clip(10.0 * (state.position[-1][None] - state.position[:-1]), -1.0, 1.0)


def stand(state):
    return jnp.zeros((1, 2))


def after(env, state, action, opponent_action):
    """The result of one step."""
    return env.step(jax.random.key(0), state, jnp.array(action, jnp.float32), jnp.array(opponent_action, jnp.float32))


@every_world
def test_a_named_world_keeps_the_contract_of_a_contest(name):
    env = make(name)
    assert isinstance(env, Contest)
    assert hash(env) == hash(make(name))
    (obs, _), (next_obs, state, reward, terminated, _, _, opponent_obs, action) = play(env, jnp.arange(3), at_random)
    assert obs.shape == (3, env.num_agents, env.obs_size)
    assert next_obs.shape == (3, env.horizon, env.num_agents, env.obs_size)
    assert reward.team.shape == (3, env.horizon)
    assert reward.agent.shape == (3, env.horizon, env.num_agents)
    assert opponent_obs.shape == (3, env.horizon, 1, env.opponent.obs_size)
    assert action.shape == (3, env.horizon, 1, env.opponent.act_size)
    assert jax.vmap(jax.vmap(env.opponent_reward))(state).shape == (3, env.horizon, 1)
    assert not terminated.any()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves((obs, next_obs, reward, opponent_obs, action)))


def test_the_named_worlds_have_the_published_sizes():
    sizes = {name: (make(name).num_agents, make(name).obs_size, make(name).opponent) for name in NAMES}
    assert sizes == {
        "predator-prey": (3, 16, Side(1, 14, 2)),
        "predator-prey-hard": (3, 16, Side(1, 14, 2)),
        "physical-deception": (2, 10, Side(1, 8, 2)),
        "keep-away": (2, 21, Side(1, 10, 2)),
    }


def test_only_the_prey_of_the_hard_world_is_faster():
    assert make("predator-prey-hard") == make("predator-prey", prey_speed=2.0)
    assert make("predator-prey").prey_speed == 1.3


@every_size
@pytest.mark.parametrize("kind", [PredatorPrey, PhysicalDeception, KeepAway])
def test_observations_of_both_sides_grow_with_the_world(kind, size):
    env = sized(kind, size)
    obs, state = env.reset(jax.random.key(0))
    assert env.num_agents == size
    assert obs.shape == (size, env.obs_size)
    assert env.opponent_obs(state).shape == (1, env.opponent.obs_size)
    positions = 2 * size + 2 * size  # landmarks and others
    own, opponent = {
        PredatorPrey: (4 + positions + 2, 4 + positions),
        PhysicalDeception: (2 + positions, positions),
        KeepAway: (4 + positions + max(3, size + 1) * (1 + size), 2 + positions),
    }[kind]
    assert (env.obs_size, env.opponent.obs_size) == (own, opponent)


@every_size
def test_deception_has_as_many_landmarks_as_agents_unless_told_otherwise(size):
    _, state = PhysicalDeception(num_agents=size).reset(jax.random.key(0))
    assert state.landmark.shape == (size, 2)


@every_size
def test_colours_name_the_landmarks_and_only_the_agents_wear_that_of_the_target(size):
    env, length = KeepAway(num_agents=1, num_landmarks=size), max(3, size + 1)
    landmark = np.linspace(-1.0, 1.0, 2 * size).reshape(size, 2)
    for target in range(size):
        state = state_of([(0.0, 0.0), (0.5, 0.5)], landmark=landmark, target=target)
        obs = env._observe(state)[0]
        own, colors = obs[4 : 4 + length], obs[4 + length + 2 * size :][: size * length].reshape(size, length)
        np.testing.assert_allclose(own, np.where(np.arange(length) == target + 1, 0.75, 0.25))
        np.testing.assert_allclose(colors, np.where(np.eye(size, length, k=1) == 1.0, 0.9, 0.1))
        np.testing.assert_allclose(obs[2:4], landmark[target] - 0.5, atol=1e-6)
        np.testing.assert_allclose(obs[-2:], (-0.5, -0.5))


@every_world
def test_the_opponent_does_not_see_the_target(name):
    if name.startswith("predator-prey"):
        assert make(name).opponent.obs_size == make(name).obs_size - 2  # there is no target; its own velocity is first
        return
    env = make(name)
    seen = [env.opponent_obs(state_of(np.eye(3, 2), landmark=((0.3, 0.2), (-0.4, 0.6)), target=t)) for t in (0, 1)]
    np.testing.assert_array_equal(*seen)


@every_world
def test_everything_starts_at_rest_all_over_its_square(name):
    env = make(name)
    _, state = jax.vmap(env.reset)(jax.random.split(jax.random.key(1), 4000))
    side = 0.9 if isinstance(env, PredatorPrey) else 1.0
    for place, limit in ((state.position, 1.0), (state.landmark, side)):
        assert np.abs(place).max() <= limit
        assert np.abs(place).max() > 0.999 * limit
        np.testing.assert_allclose(np.mean(place, axis=0), 0.0, atol=0.06)
        np.testing.assert_allclose(np.std(place, axis=0), limit / np.sqrt(3), rtol=0.05)
    assert not state.velocity.any()
    assert not state.time.any()


@pytest.mark.parametrize("kind", [PhysicalDeception, KeepAway])
def test_every_landmark_is_the_target_equally_often(kind):
    _, state = jax.vmap(sized(kind, 5).reset)(jax.random.split(jax.random.key(2), 5000))
    share = np.bincount(np.asarray(state.target), minlength=5) / 5000
    np.testing.assert_allclose(share, 0.2, atol=0.03)


@every_world
def test_an_episode_is_truncated_at_its_horizon_only(name):
    env = make(name, horizon=7)
    _, (_, state, _, terminated, truncated, *_) = play(env, jnp.arange(2), at_random)
    np.testing.assert_array_equal(truncated, np.broadcast_to(np.arange(1, 8) == 7, (2, 7)))
    np.testing.assert_array_equal(state.time[0], np.arange(1, 8))
    assert not terminated.any()


@every_world
def test_actions_beyond_their_range_count_as_its_limit(name):
    env = make(name)
    _, state = env.reset(jax.random.key(3))
    team, one = (env.num_agents, 1), (1, 1)
    wild = after(env, state, np.tile([[3.0, -7.0]], team), np.tile([[-9.0, 2.0]], one))[1]
    tame = after(env, state, np.tile([[1.0, -1.0]], team), np.tile([[-1.0, 1.0]], one))[1]
    np.testing.assert_array_equal(wild.velocity, tame.velocity)


@pytest.mark.parametrize("kind", [PredatorPrey, KeepAway])
def test_bodies_in_the_same_place_do_not_make_nan(kind):
    state = state_of(np.zeros((4 if kind is PredatorPrey else 3, 2)), landmark=np.zeros((2, 2)))
    env = kind()
    obs, state, reward, *_ = after(env, state, np.zeros((env.num_agents, 2)), np.zeros((1, 2)))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves((obs, state, reward)))


def test_a_touch_needs_less_than_both_radii_and_each_predator_counts():
    env = PredatorPrey(num_landmarks=1, touch_bonus=5.0)
    near, far = 0.124, 0.126
    state = state_of([(near, 0.0), (-near, 0.0), (0.0, far), (0.0, 0.0)])
    reward, info = after(env, state, np.zeros((3, 2)), np.zeros((1, 2)))[2::3][0:2]
    assert float(reward.team) == 2.0
    assert float(info["touches"]) == 2.0
    np.testing.assert_allclose(reward.agent, 5.0 * 2 - 0.1 * (2 * near + far) / 3, rtol=1e-5)


def test_obstacles_block_and_landmarks_of_the_other_worlds_do_not():
    pushed = {}
    for env, bodies in ((PredatorPrey(num_predators=1, num_landmarks=1), 2), (KeepAway(1, 1), 2)):
        state = state_of([(0.1, 0.0), (0.9, 0.9)][:bodies], landmark=((0.0, 0.0),))
        state = after(env, state, np.zeros((1, 2)), np.zeros((1, 2)))[1]
        pushed[type(env)] = float(state.velocity[0, 0])
    assert pushed[PredatorPrey] > 0.1
    assert pushed[KeepAway] == 0.0


def test_nothing_collides_in_deception():
    state = state_of([(0.0, 0.0), (0.01, 0.0), (0.0, 0.01)], landmark=((0.0, 0.0), (0.01, 0.01)))
    state = after(PhysicalDeception(), state, np.zeros((2, 2)), np.zeros((1, 2)))[1]
    assert not state.velocity.any()


def test_predators_that_chase_touch_a_prey_that_stands_more_often_than_one_that_flees():
    seeds = jnp.arange(200)
    standing = play(PredatorPrey(), seeds, chase, stand)[1][2].team.sum(axis=1).mean()
    fleeing = play(PredatorPrey(), seeds, chase)[1][2].team.sum(axis=1).mean()
    assert fleeing < 0.5 * standing
    assert fleeing > 0.0


def test_the_scripted_prey_runs_from_the_nearest_predator():
    env = PredatorPrey(num_predators=2, num_landmarks=1)
    action = env.scripted_opponent(state_of([(0.3, 0.0), (0.0, -0.9), (0.0, 0.0)]))
    np.testing.assert_allclose(action, [[-1.0, 0.0]], atol=1e-6)


@pytest.mark.parametrize("name", ["predator-prey", "predator-prey-hard"])
def test_the_scripted_prey_stays_within_the_walls(name):
    """Only a body that shoves it can carry it beyond them: no obstacles here, and only episodes without a touch."""
    env = make(name, num_landmarks=0)
    (_, first), (_, state, reward, *_) = play(env, jnp.arange(300), chase)
    free = np.asarray(reward.team.sum(axis=1) == 0.0)
    farthest = np.abs(np.asarray(state.position)[free, :, -1]).max(axis=-1)
    assert (np.abs(np.asarray(first.position)[free, -1]) > 0.95).any()  # some start at the wall
    assert farthest[:, 5:].max() < 1.0


@pytest.mark.parametrize("kind", [PhysicalDeception, KeepAway])
def test_the_scripted_adversary_comes_to_rest_among_the_agents(kind):
    env = kind()
    _, (_, state, *_) = play(env, jnp.arange(50), lambda key, env, state: jnp.zeros((env.num_agents, 2)))
    centroid = state.position[:, :, 1:].mean(axis=2)
    gap = np.linalg.norm(state.position[:, :, 0] - centroid, axis=-1)
    apart = np.linalg.norm(state.position[:, 0, 1] - state.position[:, 0, 2], axis=-1) > 0.3  # room between them
    assert apart.sum() > 20
    assert gap[apart, -1].max() < 0.05
    assert gap[apart, 0].mean() > 0.4


@pytest.mark.parametrize(
    ("name", "options", "field"),
    [
        ("predator-prey", {"num_predators": 0}, "num_predators"),
        ("predator-prey", {"num_landmarks": -1}, "num_landmarks"),
        ("predator-prey", {"prey_speed": -1.3}, "prey_speed"),
        ("predator-prey-hard", {"predator_speed": 0.0}, "predator_speed"),
        ("predator-prey", {"prey_size": float("nan")}, "prey_size"),
        ("predator-prey", {"predator_acceleration": -3.0}, "predator_acceleration"),
        ("predator-prey", {"touch_bonus": -1.0}, "touch_bonus"),
        ("predator-prey", {"horizon": 0}, "horizon"),
        ("physical-deception", {"num_agents": 0}, "num_agents"),
        ("physical-deception", {"num_landmarks": 0}, "num_landmarks"),
        ("physical-deception", {"acceleration": -5.0}, "acceleration"),
        ("keep-away", {"num_agents": 2.5}, "num_agents"),
        ("keep-away", {"num_landmarks": 0}, "num_landmarks"),
        ("keep-away", {"size": 0.0}, "size"),
        ("keep-away", {"predators": 3}, "predators"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_an_impossible_world_is_refused_in_one_sentence_that_names_the_field(name, options, field):
    with pytest.raises(UserError) as error:
        make(name, **options)
    message = str(error.value)
    assert field in message
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.usefixtures("unchecked")
def test_a_world_without_obstacles_and_with_whole_numbers_for_speeds_can_be_played():
    env = PredatorPrey(num_landmarks=0, prey_speed=2, predator_speed=1)
    (obs, _), (next_obs, *_) = play(env, jnp.arange(2), at_random)
    assert obs.shape == (2, 3, 12)
    assert np.isfinite(next_obs).all()
