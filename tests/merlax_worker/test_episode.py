"""Episodes that a worker plays."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from merlax_worker import episode
from merlax_worker.episode import Job
from merlax_worker.players import Player
from merlax_worker.rows import Sizes
from merlax_worker.world import World, WorldError

SIDE = Sizes(("switch", "dial"), (3, 1), (3, 1), (True, False), (0, 1), masked=False)


class Perfect(Player):
    """Knows the optimum: it does what it sees."""

    def act(self, sizes, obs, noise=None):
        return np.array([obs[0, :3], [obs[1, 0], 0.0, 0.0]], np.float32)


def world(team: Any = "sum", agent="reward", horizon=4, **options) -> World:
    return World("signals", "tests.probes.signals:make", options, (), (SIDE,), horizon, 4, team, agent)


def play(told: World, player: Player | None = None, noise: float = 0.0, words=(0, 1)) -> Any:
    return episode.play(told, [player or Perfect()], [Job(words, (0,), (noise,))], (True,))[0]


def test_a_worker_never_loads_jax():
    code = "import merlax_worker.episode, sys; assert not {'jax', 'merlax'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_whoever_leaves_is_paid_no_more_and_the_others_play_on():
    result = play(world())
    lived = result.lived[0]
    assert result.steps == 4
    assert result.fitness == pytest.approx(7.0)  # four right choices and three right angles
    assert lived.present.tolist() == [[True, True]] * 3 + [[True, False]]
    assert lived.terminated.tolist() == [[False, False]] * 2 + [[False, True], [False, False]]
    assert lived.agent_reward[3].tolist() == [1.0, 0.0]
    assert not lived.seen[3, 1].any()  # it has left
    assert lived.seen[4, 0].any()  # time was up: what comes next is worth something


def test_an_end_at_the_horizon_is_no_real_end():
    assert not play(world(horizon=3)).lived[0].terminated.any()
    assert play(world(horizon=3)).steps == 3


@pytest.mark.parametrize(("team", "paid"), [("mean", 4.0), ("min", 4.0), ("max", 4.0), ("right", 4.0), (len, 7.0)])
def test_the_team_is_paid_what_the_user_chose(team, paid):
    chosen = (lambda rewards, infos: len(rewards)) if callable(team) else team
    assert play(world(team=chosen)).fitness == pytest.approx(paid)


def test_a_seed_decides_an_episode_and_its_noise():
    same, once, other = (play(world(), Player(), 1.0, words) for words in ((3, 4), (3, 4), (3, 5)))
    np.testing.assert_array_equal(same.lived[0].action, once.lived[0].action)
    assert (same.lived[0].action != other.lived[0].action).any()
    assert episode.twice(world(), [Player()], Job((0, 1), (0,), (1.0,)))[1]
    assert not episode.twice(world(trouble="random"), [Player()], Job((0, 1), (0,), (1.0,)))[1]


def test_a_reward_must_be_a_number():
    with pytest.raises(WorldError, match="signals pays switch 'plenty', which is not one number"):
        play(world(trouble="words"))


def test_a_film_has_a_picture_of_every_instant():
    frames = episode.film(world(), [Perfect()], Job((0, 1), (0,), (0.0,))).frames
    assert [frame.shape for frame in frames] == [(20, 30, 3)] * 5
    assert frames[0].any()
    assert not frames[-1].any()
