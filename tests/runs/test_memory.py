"""What does not fit is refused before anything is compiled."""

import time

import pytest

import merlax
from merlax import cli, envs
from merlax.algorithms import Game, presets
from merlax.runs import free_memory, memory, setup
from merlax.types import UserError
from tests.probes.episodes import Countdown
from tests.support import peaks
from tests.support.own import RandomSearch
from tests.support.settings import TINY

HUGE = 2 * 10**9


def game(world="rover-3", algorithm="merl", env=None, opponent=None, **settings) -> Game:
    planned = setup.plan(
        envs.make(world, **(env or {})), algorithm, frames=10**6, seed=1, settings=settings, opponent_settings=opponent,
        world=world,
    )  # fmt: skip
    return planned.game()


@pytest.mark.parametrize(
    ("made", "option"),
    [
        ({"env": {"horizon": 10**8}}, "--env.horizon 100000000"),
        ({"actor_hidden": [10**9]}, "--actor-hidden 1000000000"),
        ({"actor_hidden": [50, 10**9]}, "--actor-hidden 50 1000000000"),
        ({"learners": [{"buffer": HUGE}]}, f"--td3.buffer {HUGE}"),
        ({"learners": [{"buffer": HUGE, "batch": 10**8}]}, f"--td3.buffer {HUGE}"),
        ({"learners": [{"critic_hidden": [10**9]}]}, "--td3.critic-hidden 1000000000"),
        ({"learners": [{}, {"critic_hidden": [10**9]}]}, "--learners.1.critic-hidden 1000000000"),
        ({"population": 10**8}, "--population 100000000"),
        ({"fitness": {"episodes": 10**9}}, "--fitness.episodes 1000000000"),
        ({"explore_episodes": 10**9}, "--explore-episodes 1000000000"),
        ({"algorithm": "es", "population": 10**8}, "--population 100000000"),
        ({"algorithm": "es", "actor_hidden": [10**9]}, "--actor-hidden 1000000000"),
        ({"algorithm": "es", "fitness_episodes": 10**9}, "--fitness-episodes 1000000000"),
        ({"algorithm": "ea", "fitness": {"episodes": 10**9}}, "--fitness.episodes 1000000000"),
        ({"algorithm": "matd3", "learner": {"critic_hidden": [10**9]}}, "--td3.critic-hidden 1000000000"),
        ({"world": "predator-prey", "env": {"horizon": 10**8}}, "--env.horizon 100000000"),
        ({"world": "predator-prey", "opponent": {"learner": {"buffer": HUGE}}}, f"--opponent.td3.buffer {HUGE}"),
    ],
    ids=lambda value: value.replace(" ", "=") if isinstance(value, str) else "",
)
def test_sizes_beyond_any_machine_are_refused_at_once_with_the_option_that_decides(made, option):
    start = time.perf_counter()
    one = game(**made)
    with pytest.raises(UserError, match=r"would take about [\d,.e+]+ [GT]B of memory") as error:
        memory.check(one)
    assert f"most of it because of {option}, but" in str(error.value)
    assert "--ignore-memory" in str(error.value)
    assert time.perf_counter() - start < 1.0  # a tenth of that alone, as no program is traced


def test_numbers_that_no_float_holds_have_an_estimate_too():
    with pytest.raises(UserError, match=r"--env\.horizon 1000"):
        memory.check(Game(Countdown(horizon=10**300), presets.preset("fast", None)))


def test_what_fits_is_not_refused_and_what_does_not_says_how_much_there_is():
    one = game()
    needed = memory.estimate(one).total
    memory.check(one, available=needed + 1)
    with pytest.raises(UserError, match=r"about 1\.\d GB of memory, .* but 500 MB are available here"):
        memory.check(one, available=500)


def test_the_parts_add_up_and_the_buffers_are_what_they_are():
    found = memory.estimate(game())
    assert found.total == sum(found.parts.values())
    assert found.parts["buffers"] == 4 * 100_000 * 6 * 160 // 2**20


def test_an_algorithm_of_the_users_own_is_estimated_too():
    one = Game(envs.make("rover-1"), RandomSearch(episodes=10**6))
    with pytest.raises(UserError, match="most of it because of --episodes 1000000,"):
        memory.check(one, available=700)


@pytest.mark.parametrize(
    ("megabytes", "text"),
    [(450, "450 MB"), (1536, "1.5 GB"), (3 * 2**20, "3.0 TB"), (5 * 10**9, "4,768.4 TB"), (10**400, "1e+34 TB")],
)
def test_sizes_are_told_in_units_that_can_be_read(megabytes, text):
    assert memory.readable(megabytes) == text


def test_the_command_line_refuses_and_writes_nothing(refuses):
    refuses(["train", "rover-3", "--env.horizon", "100000000"], "because of --env.horizon 100000000, but")
    refuses(["train", "rover-3", "--td3.buffer", "2000000000"], "because of --td3.buffer 2000000000, but")


@pytest.mark.slow  # a run is trained
def test_whoever_ignores_it_goes_on_in_training_and_in_resuming(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(free_memory, "available_mb", lambda: 100)
    frames = 2 * (6 * 2 + 2) * 30
    arguments = {"settings": TINY, "frames": frames, "out": tmp_path / "run", "quiet": True}
    with pytest.raises(UserError, match="MB of memory but 100 MB are available here; make it smaller, or"):
        merlax.train("two-rovers", **arguments)
    assert not (tmp_path / "run").exists()
    stop = [lambda row: row["generation"] == 1]
    merlax.train("two-rovers", **arguments, ignore_memory=True, callbacks=stop)
    assert cli.main(["resume", str(tmp_path / "run"), "--quiet"]) == 2
    assert "100 MB are available" in capsys.readouterr().err
    assert cli.main(["resume", str(tmp_path / "run"), "--quiet", "--ignore-memory"]) == 0
    assert len((tmp_path / "run" / "progress.csv").read_text().splitlines()) == 3


@pytest.mark.slow
def test_the_estimate_is_within_30_percent_of_what_a_process_takes(tmp_path):
    """A run as a user makes it, in a process of its own, with nothing compiled yet; `benchmarks/memory.py` has more."""
    found = peaks.measure("rover-6", "td3", cache=tmp_path / "cache")
    assert found.estimated_mb == pytest.approx(found.peak_mb, rel=0.3)
