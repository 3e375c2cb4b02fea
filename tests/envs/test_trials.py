"""What a few episodes show of a world."""

import dataclasses
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
import pytest

from merlax.envs.check import check
from tests.probes.choices import Choices
from tests.probes.leavers import Leavers
from tests.probes.misbehaving import Misbehaving
from tests.probes.rendezvous import Rendezvous, RendezvousState
from tests.probes.tag import Tag
from tests.probes.unlike import Unlike


@pytest.mark.slow
@pytest.mark.parametrize("env", [Rendezvous(), Tag(), Unlike(), Choices(), Leavers(lies=float("nan"))], ids=str)
def test_sound_worlds_are_played_without_a_finding(env):
    assert check(env) == []


@dataclasses.dataclass(frozen=True)
class Remembering(Rendezvous):
    """Keeps something between two calls."""

    calls: ClassVar[list[int]] = []

    def reset(self, key):
        self.calls.append(1)
        obs, state = super().reset(key)
        return obs + len(self.calls), state


@dataclasses.dataclass(frozen=True)
class Endless(Rendezvous):
    """Never ends."""

    def step(self, key, state, action):
        obs, state, reward, terminated, truncated, info = super().step(key, state, action)
        return obs, state, reward, terminated, truncated & False, info


@dataclasses.dataclass(frozen=True)
class Restarting(Rendezvous):
    """Resets by itself."""

    def step(self, key, state, action):
        obs, state, reward, terminated, truncated, info = super().step(key, state, action)
        state = RendezvousState(state.start, jnp.where(truncated, 0, state.time))
        return obs, state, reward, terminated, truncated, info


@dataclasses.dataclass(frozen=True)
class Bragging(Rendezvous):
    """Pays more than it says, and shows what no network reads."""

    reward_bounds: tuple[float, float] = (1.0, 0.1)

    def _observe(self, state):
        return 1e6 * super()._observe(state)


@dataclasses.dataclass(frozen=True)
class Haunted(Leavers):
    """Whoever leaves comes back."""

    def present(self, state):
        return state.time % 2 == jnp.zeros(self.num_agents, jnp.int32)


@dataclasses.dataclass(frozen=True)
class Closed(Choices):
    """No door is open."""

    def legal(self, state):
        return super().legal(state) & False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env", "sentence"),
    [
        (Remembering(), "reset gives two different worlds for one key"),
        (Endless(), r"An episode had not ended after `horizon` (3) steps"),
        (Restarting(), "After its end the world goes on as if nothing had ended"),
        (Bragging(), "reward.agent reached"),
        (Bragging(), "Among the team's observations is 1e+06; divide them"),
        (Misbehaving(kind="team"), "Among the team's reward.team is one that is not finite"),
        (Misbehaving(kind="observation"), "Among the team's observations is one that is not finite"),
        (Haunted(), "`present` lets the team's agents come back"),
        (Closed(), "`legal` left the team's agents without any choice"),
    ],
    ids=lambda each: type(each).__name__ if not isinstance(each, str) else "",
)
def test_what_playing_shows_is_a_sentence(env: Any, sentence):
    assert [finding for finding in check(env) if sentence in finding]


def test_a_world_that_draws_from_elsewhere_is_impure():
    @dataclasses.dataclass(frozen=True)
    class Lucky(Rendezvous):
        def step(self, key, state, action) -> Any:
            obs, state, *others = super().step(key, state, action)
            return obs + jnp.float32(np.random.default_rng().random()), state, *others

    assert [finding for finding in check(Lucky()) if "step gives two different results" in finding]
