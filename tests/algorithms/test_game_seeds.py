"""Whole runs side by side: `init` and `step` within a program of the caller's own."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from merlax.algorithms import Ea, Game, Merl, opponents
from merlax.core.evolution.fitness import Fitness
from merlax.core.evolution.selection import TournamentSelection
from merlax.core.players import ScriptedPlayer
from merlax.core.td3 import Td3
from tests.probes.darts import Darts
from tests.probes.tag import Tag

SEEDS, GENERATIONS = 3, 3
# So few rows that one device takes all gradient steps of a single run, as it does in a program of the caller's own.
TD3 = Td3(batch=16, buffer=256, burn_in=1, order="joint", updates_per_frame=0.1, critic_hidden=(8,), actor_rate=0.01,
          critic_rate=0.01)  # fmt: skip
EA = Ea(population=6, fitness=Fitness(episodes=2, memory=3), selection=TournamentSelection(elites=2), actor_hidden=(8,))
MERL = Merl(**{field.name: getattr(EA, field.name) for field in dataclasses.fields(EA)}, learners=(TD3,),
            explore_episodes=4)  # fmt: skip
GAMES = {
    "MERL": Game(Darts("team"), MERL),
    "EA": Game(Darts("team"), EA),
    "a learning opponent": Game(Tag(), EA, opponents.ddpg(TD3, (8,))),
    "a fixed opponent": Game(Tag(), EA, opponents.FixedOpponent(ScriptedPlayer(1))),
}


def keys(generation):
    return jax.vmap(lambda seed: jax.random.fold_in(jax.random.key(seed), generation))(jnp.arange(SEEDS))


def fitness(init, step, keys_of):
    """Every team's, in every generation."""
    state, found = init(keys_of(0)), []
    for generation in range(1, GENERATIONS + 1):
        state, told = step(keys_of(generation), state)
        info = told.team.info
        found.append(np.asarray(getattr(info, "evolution", info).fitness))
    return np.stack(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_seeds_side_by_side_score_as_they_do_one_by_one(name):
    game = GAMES[name]
    together = fitness(jax.jit(jax.vmap(game.init)), jax.jit(jax.vmap(game.step)), keys)
    for seed in range(SEEDS):
        alone = fitness(game.init, game.step, lambda generation, seed=seed: keys(generation)[seed])
        np.testing.assert_allclose(together[:, seed], alone, rtol=1e-3, atol=1e-4)
    assert len(np.unique(together[-1].round(3))) > SEEDS  # or equality would prove nothing
