"""What there is, and how fast it is."""

import json
import sys

import pytest

import merlax
from merlax import cli
from merlax.envs import adapters


def test_envs_lists_every_world(capsys):
    assert cli.main(["envs"]) == 0
    shown = capsys.readouterr().out
    assert all(f"rover-{coupling} " in shown for coupling in range(1, 8))
    assert "two-rovers" in shown


def test_envs_tells_who_has_an_opponent(capsys):
    assert cli.main(["envs"]) == 0
    lines = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines()}
    assert (lines["predator-prey"][5], lines["rover-3"][5]) == ("yes", "no")


def test_envs_as_json_has_the_sizes_and_parameters_of_all(capsys):
    assert cli.main(["envs", "--json"]) == 0
    worlds = json.loads(capsys.readouterr().out)
    assert [name for name in worlds if ":" not in name] == merlax.ids()  # others are of extras that are installed
    team = merlax.make("rover-3").sides[0]
    sizes = {"num_agents": team.num_agents, "obs_size": team.obs_size, "act_size": 2, "horizon": 50, "coupling": 3}
    assert sizes.items() <= worlds["rover-3"].items()


@pytest.mark.parametrize("options", [[], ["--trials", "20000"]], ids=["worked out", "simulated"])
def test_selection_rate_prints_the_papers_number(capsys, options):
    assert cli.main(["selection-rate", *options]) == 0
    assert capsys.readouterr().out.strip() == "0.47"


def test_selection_rate_takes_a_population_of_ones_own(capsys):
    assert cli.main("selection-rate --population 6 --elites 4 --tournament 1".split()) == 0
    # All but the migrant's slot go on: 4 elites, and one of 6 by chance, which is new in 2 cases of 6.
    assert capsys.readouterr().out.strip() == f"{(4 + 2 / 6) / 6:.2f}"


def test_what_cannot_be_measured_is_refused(refuses):
    refuses(["bench", "rovr-3"], "did you mean 'rover-3'")
    refuses(["selection-rate", "--population", "3"], "it needs at least 6")
    refuses(["selection-rate", "--population", "1000000000"], "population is 1000000000; choose")
    refuses(["selection-rate", "--trials", "1000000000000"], "trials is 1000000000000; choose")
    refuses(["selection-rate", "--elites", "0"], "elites is 0; make it a whole number of at least 1")


BROKEN = """
import dataclasses
import jax.numpy as jnp
from tests.probes.rendezvous import Rendezvous


@dataclasses.dataclass(frozen=True)
class Broken(Rendezvous):
    shift: int = 0

    def reset(self, key):
        obs, state = super().reset(key)
        return obs[:, self.shift :], state

    def step(self, key, state, action):
        obs, state, reward, terminated, truncated, info = super().step(key, state, action)
        return obs, state, reward, terminated, truncated.astype(jnp.int32), info
"""


def test_check_tells_all_that_is_wrong_with_a_world_at_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "broken_world.py").write_text(BROKEN)
    assert cli.main(["check", "broken_world:Broken", "--env.shift", "1"]) == 2
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("reset shows the team's agents float32[2, 1]")
    assert second.startswith("`truncated` is int32[]")
    sys.modules.pop("broken_world", None)


def test_check_has_nothing_to_say_of_a_sound_world(capsys):
    assert cli.main(["check", "tests.probes.tag:Tag"]) == 0
    assert "nothing to change" in capsys.readouterr().out


def test_envs_names_the_extras_and_how_to_install_them(monkeypatch, capsys):
    monkeypatch.setattr(adapters, "installed", lambda prefix: False)
    assert cli.main(["envs"]) == 0
    assert "jaxmarl:…  with pip install 'merlax[jaxmarl]'" in capsys.readouterr().out
