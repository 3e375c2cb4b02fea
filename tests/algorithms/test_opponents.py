"""The other side of a contest: it learns beside any algorithm, from all rollouts, or stays as it is."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.algorithms import Ea, Game, Merl, Seat, opponents
from merlax.algorithms.opponents import FixedOpponent, Opponent, OpponentState
from merlax.core import devices, replay, rollout
from merlax.core.evolution.fitness import Fitness
from merlax.core.networks import TeamPolicy
from merlax.core.players import Gallery, PolicyPlayer, ScriptedPlayer
from merlax.core.rollout import Field
from merlax.core.td3 import Td3
from tests.probes.tag import BEST, SCRIPT, Tag
from tests.support.trees import copy, same

pytestmark = pytest.mark.slow  # both sides learn

QUICK = Td3(
    actor_rate=0.01, critic_rate=0.01, target_weight=0.05, discount=0.0, batch=32, buffer=512, reward_scale=1.0,
    order="joint", updates_per_frame=1.0, burn_in=1, critic_hidden=(16,), **opponents.DDPG,
)  # fmt: skip
OPPONENT = opponents.ddpg(QUICK, (8,))
EA = Ea(population=6, fitness=Fitness(episodes=2), actor_hidden=(8,))
MERL = Merl(population=6, fitness=Fitness(episodes=2), learners=(dataclasses.replace(QUICK, critics=2),),
            explore_episodes=6, actor_hidden=(8,))  # fmt: skip
BESIDE_MERL = Game(Tag(), MERL, OPPONENT)


def place(player):
    """Where the opponent goes."""
    obs, state = Tag().reset(None)
    return float(player.act(Tag(), state, obs[1])[0, 0])


@pytest.fixture(scope="module")
def generation():
    return BESIDE_MERL.step(jax.random.key(1), BESIDE_MERL.init(jax.random.key(0)))


def test_the_opponent_is_the_gradient_algorithm_as_ddpg():
    assert type(OPPONENT) is Opponent
    learner = opponents.ddpg(Td3()).learner
    assert (learner.critics, learner.delay, learner.smoothing, learner.order) == (1, 1, 0.0, "joint")
    assert learner.discount == Td3().discount


@pytest.mark.slow
def test_the_opponent_learns_its_best_action_beside_merl():
    state = BESIDE_MERL.init(jax.random.key(0))
    for generation in range(12):
        state, told = BESIDE_MERL.step(jax.random.key(generation), state)
        assert told.opponent is not None
        assert int(told.opponent.info.learning.updates) == int(told.frames)
    assert place(BESIDE_MERL.opponent_player(state)) == pytest.approx(BEST, abs=0.1)


def test_its_buffer_holds_its_side_of_every_rollout(generation):
    state, told = generation
    buffer = state.opponent.buffer
    stored = int(buffer.size.sum())
    assert stored == int(told.frames) == BESIDE_MERL.frames_per_generation()
    assert (buffer.obs_size, buffer.act_size) == (Tag().sides[1].obs_size, Tag().sides[1].act_size)
    kept = replay.unpack(buffer.rows[0, :stored], buffer.obs_size, buffer.act_size)
    paid = -np.abs(np.asarray(kept.action)[:, :, 0] - BEST)  # its own reward, for its own action
    np.testing.assert_allclose(kept.agent_reward, paid, atol=1e-6)
    np.testing.assert_allclose(kept.team_reward, paid, atol=1e-6)


def test_the_teams_buffer_holds_the_teams_side(generation):
    state, told = generation
    buffer = state.team.buffer
    assert int(buffer.size.sum()) == int(told.frames)
    assert buffer.rows.shape[-2] == Tag().num_agents
    assert buffer.obs_size == Tag().sides[0].obs_size


def test_an_opponent_has_a_reward_but_no_score(generation):
    state, told = generation
    buffer = state.opponent.buffer
    kept = replay.unpack(buffer.rows[0, : int(told.frames)], buffer.obs_size, buffer.act_size)
    assert float(told.opponent.info.agent_reward) == pytest.approx(float(kept.agent_reward.mean()), rel=1e-5)
    assert told.opponent.info.explore_score is None
    assert told.opponent.finite.all()


def test_the_opponent_explores_in_the_learners_episodes_only():
    state = BESIDE_MERL.init(jax.random.key(0))
    field = BESIDE_MERL.field(state)
    quiet = place(BESIDE_MERL.opponent_player(state))
    arguments = devices.spread(None, (jax.random.key(1), MERL.players(state.team), field))
    teams, learner = jax.jit(MERL.play)(*arguments)
    np.testing.assert_allclose(teams.transitions[1].action, quiet, atol=1e-6)
    assert np.std(learner.transitions[1].action) > 0.1


@pytest.mark.slow
def test_beside_ea_the_opponent_learns_from_the_populations_episodes():
    game = Game(Tag(), EA, OPPONENT)
    state = game.init(jax.random.key(0))
    before = copy(state.opponent.learner.critics)
    for generation, begins in enumerate((False, True, True)):  # one batch is more than a generation
        state, told = game.step(jax.random.key(generation), state)
        assert told.opponent is not None
        assert int(told.opponent.info.learning.updates) == (int(told.frames) if begins else 0)
    assert not same(before, state.opponent.learner.critics)


def test_the_team_meets_the_opponent_before_it_learns_from_the_generation():
    """Both sides learn from the same episodes, in which each met the other as it was."""
    state = BESIDE_MERL.init(jax.random.key(0))
    quiet = place(BESIDE_MERL.opponent_player(state))
    after, _ = BESIDE_MERL.step(jax.random.key(1), state)
    buffer = after.team.buffer
    own = buffer.rows[:, : 6 * 3 * 2 // buffer.rows.shape[0]]  # of the population, on all devices
    kept = replay.unpack(own, buffer.obs_size, buffer.act_size)
    np.testing.assert_allclose(kept.agent_reward, -np.abs(kept.action[..., 0] - quiet), atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["scripted", "frozen"])
def test_a_fixed_opponent_stays_as_it_is(kind):
    frozen = PolicyPlayer(TeamPolicy(jax.random.key(5), Tag().sides[1], (4,)))
    player = ScriptedPlayer(1) if kind == "scripted" else frozen
    game = Game(Tag(), EA, FixedOpponent(player))
    state, told = game.step(jax.random.key(0), game.init(jax.random.key(0)))
    assert same(game.opponent_player(state), player)
    assert place(game.opponent_player(state)) == (SCRIPT if kind == "scripted" else place(frozen))
    assert told.opponent is None


def test_nobody_keeps_what_a_fixed_opponent_saw():
    game = Game(Tag(), EA, FixedOpponent(ScriptedPlayer(1)))
    field = game.field(game.init(jax.random.key(0)))
    assert not field.opponents_learn
    teams = jax.eval_shape(lambda: EA.start(jax.random.key(0), Seat(Tag())).population)
    (played,) = jax.eval_shape(EA.play, jax.random.key(0), teams, field)
    assert played.transitions == (None, None)


def test_a_team_meets_the_opponent_it_is_given():
    champion = PolicyPlayer(TeamPolicy(jax.random.key(0), Tag().sides[0], (8,)))
    episodes = rollout.play_test(jax.random.key(0), Field(Tag(), (ScriptedPlayer(1),)), champion, 2)
    expected = jnp.full(2, Tag().horizon * -abs(SCRIPT - BEST))
    np.testing.assert_allclose(episodes.agent_reward[1], expected, rtol=1e-6)


FORGETFUL = dataclasses.replace(OPPONENT, earlier=3)
BESIDE_EARLIER = Game(Tag(), MERL, FORGETFUL)


@pytest.mark.slow
def test_a_team_trains_against_earlier_opponents_and_is_tested_against_the_newest():
    state, selves = BESIDE_EARLIER.init(jax.random.key(0)), []
    for generation in range(3):
        state, _ = BESIDE_EARLIER.step(jax.random.key(generation), state)
        selves.append(place(BESIDE_EARLIER.opponent_player(state)))
    assert len(set(selves)) == 3
    (partner,) = BESIDE_EARLIER.training_field(state).opponents
    assert isinstance(partner, Gallery)
    earlier = [PolicyPlayer(jax.tree.map(lambda leaf, i=i: leaf[i], partner.earlier)) for i in range(3)]
    assert [place(each) for each in earlier] == selves
    (tested,) = BESIDE_EARLIER.field(state).opponents
    assert place(tested) == selves[-1]

    newest_quiet = place(tested)
    arguments = jax.random.key(9), MERL.players(state.team), BESIDE_EARLIER.training_field(state)
    teams, *_ = jax.jit(MERL.play)(*devices.spread(None, arguments))
    quiet = np.asarray(teams.transitions[1].action)[:, : MERL.fitness.episodes]
    met = {round(float(each), 5) for each in quiet.ravel()}
    assert met <= {round(each, 5) for each in (*selves, newest_quiet)}
    assert len(met) > 1


def test_of_many_former_selves_each_is_kept_as_often_as_any_other():
    seat = Seat(Tag(), 1)
    first = FORGETFUL.start(jax.random.key(0), seat)
    assert isinstance(first, OpponentState)

    def lived(key, generations=12):
        """Which of so many selves are kept; a self is told by its first bias."""

        def one(state, told):
            number, key = told
            marked = jax.tree.map(lambda leaf: jnp.full_like(leaf, number), state.learner.actor)
            learner = dataclasses.replace(state.learner, actor=marked)
            return FORGETFUL._remember(key, dataclasses.replace(state, learner=learner)), None

        numbers = jnp.arange(generations, dtype=jnp.float32)
        state, _ = jax.lax.scan(one, first, (numbers, jax.random.split(key, generations)))
        return state.earlier.heads.bias[:, 0]

    kept = np.asarray(jax.jit(jax.vmap(lived))(jax.random.split(jax.random.key(1), 800))).astype(int)
    often = np.bincount(kept.ravel(), minlength=12) / 800
    np.testing.assert_allclose(often, 3 / 12, atol=0.06)


def test_without_earlier_ones_an_opponent_keeps_nothing_more_than_a_learner():
    state = OPPONENT.start(jax.random.key(0), Seat(Tag(), 1))
    assert not isinstance(state, OpponentState)
    assert isinstance(OPPONENT.partner(state), PolicyPlayer)


@pytest.mark.slow
@pytest.mark.parametrize("game", [BESIDE_MERL, BESIDE_EARLIER])
def test_both_sides_learn_the_same_in_pieces(game):
    key, start = jax.random.key(1), game.init(jax.random.key(0))
    state = game.begin(key, copy(start))
    _, due = game.rounds(state)
    for most in (1, 2, due):
        state = game.practise(key, state, most)
    concluded, _ = game.conclude(key, state)
    assert same(concluded, game.step(key, copy(start))[0])
