"""What a run has left behind is read again, by whoever has no more than the folder."""

import contextlib
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from merlax import envs
from merlax.core.networks import TeamPolicy
from merlax.core.players import PolicyPlayer, ScriptedPlayer
from merlax.envs.base import Side
from merlax.envs.rover import Rover
from merlax.runs import policies, reader
from merlax.runs.reader import Run
from merlax.runs.recorders import ALWAYS
from merlax.types import UserError
from tests.probes.rendezvous import Rendezvous
from tests.support.weights import weights


def policy(side) -> TeamPolicy:
    return weights(lambda key: TeamPolicy(key, side, (4,)))


def made(path: Path, world: str, opponent: str | None = None) -> Path:
    """A run folder with the least that can be read."""
    env = envs.make(world)
    path.mkdir(exist_ok=True)
    config = {"world": world, "env": reader.env_record(env), "algorithm": "ea", "seed": 1}
    (path / "config.json").write_text(json.dumps(config | {"opponent": opponent and {"kind": opponent}}))
    policies.save(path / "champion", policy(env.sides[0]))
    return path


@pytest.mark.parametrize("text", ["", "{", "[]", '{"world": "rover-3"}'])
def test_what_is_no_run_folder_is_refused(tmp_path, text):
    with pytest.raises(UserError, match="not a run folder of merlax"):
        reader.load(tmp_path)
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(UserError, match="not a run folder of merlax"):
        reader.load(tmp_path)


RECORDED = {"format": 2, "preset": "fast", "settings": {}, "frames": 100, "versions": {}, "devices": 2}
DEEP: Any = "x"
for _ in range(50):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"world": ["rover-3"]}, "world is ['rover-3']; give a value of type str"),
        ({"seed": None}, "seed is None; give a whole number"),
        ({"versions": [1]}, "versions is [1]; give an object with named fields"),
        ({"frames": "x"}, "frames is 'x'; give a whole number"),
        ({"opponent": 3}, "opponent is 3; give an object with named fields"),
        ({"settings": []}, "settings is []; give an object with named fields"),
        ({"seed": 10**400}, "seed is 1000"),
        ({"seed": float("nan")}, "seed is nan; give a finite number"),
        ({"algorithm": "\ud800"}, "surrogates not allowed"),
        ({"env": {"num_poi": DEEP}}, "nested too deeply"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_wrong_field_is_named_with_its_file(tmp_path, change, reason):
    made(tmp_path, "rover-3")
    config = json.loads((tmp_path / "config.json").read_text()) | RECORDED
    reader.read_config(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(UserError) as error:
        reader.load(tmp_path)
    said = str(error.value)
    assert said.startswith(f"'{tmp_path}' is not a run folder of merlax: its config.json cannot be read (")
    assert reason in said
    assert len(said) < 400


@pytest.mark.parametrize("name", RECORDED)
def test_a_run_says_all_that_continues_it(tmp_path, name):
    made(tmp_path, "rover-3")
    config = json.loads((tmp_path / "config.json").read_text()) | RECORDED
    del config[name]
    (tmp_path / "config.json").write_text(json.dumps(config))
    if name in ("format", "versions", "devices"):  # what an older run may lack
        reader.load(tmp_path)
    else:
        with pytest.raises(UserError, match=f"it lacks '{name}'"):
            reader.load(tmp_path)


def test_a_world_with_more_than_it_can_have_is_refused(tmp_path):
    made(tmp_path, "rover-3")
    config = json.loads((tmp_path / "config.json").read_text())
    config["env"]["num_poi"] = 10**9
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match=r"In '.*config\.json', env\.num_poi is 1000000000; .* from 1 to 1,000"):
        reader.load(tmp_path)


@pytest.mark.parametrize("name", ["config.json", "final.json", "progress.csv"])
@pytest.mark.parametrize("kind", ["fifo", "endless"])
def test_what_is_no_regular_file_is_not_read(tmp_path, name, kind):
    run = reader.load(made(tmp_path, "rover-3"))
    (tmp_path / name).unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).symlink_to("/dev/zero")
    read = {"config.json": reader.read_config, "final.json": reader.read_final, "progress.csv": lambda _: run.progress}
    with pytest.raises(UserError, match="it is not a regular file"):
        read[name](tmp_path)


def test_a_bad_run_folder_is_refused_within_milliseconds(tmp_path):
    made(tmp_path, "rover-3")
    reader.load(tmp_path)
    (tmp_path / "champion" / "policy.json").write_text("[" * 100_000)
    start = time.process_time()
    for _ in range(20):
        with pytest.raises(UserError, match="nested too deeply"):
            reader.load(tmp_path)
    assert (time.process_time() - start) / 20 < 0.05


def test_a_world_comes_back_with_the_parameters_that_it_had(tmp_path):
    made(tmp_path, "rover-3")
    config = json.loads((tmp_path / "config.json").read_text())
    config["env"]["num_poi"] = 7
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert reader.load(tmp_path).env == envs.make("rover-3", num_poi=7)


def test_a_world_that_nobody_knows_must_be_given(tmp_path):
    env = Rendezvous()
    (tmp_path / "config.json").write_text(json.dumps({"world": None, "env": {}, "algorithm": "ea", "seed": 1}))
    policies.save(tmp_path / "champion", policy(env.sides[0]))
    with pytest.raises(UserError, match="`env`, on the command line as --env module:World"):
        reader.load(tmp_path)
    assert reader.load(tmp_path, env).env == env
    with pytest.raises(UserError, match="trained for another world"):
        reader.load(tmp_path, Rendezvous(num_agents=3))


def made_on(path: Path, env) -> Path:
    """A run folder on a world without a name."""
    recorded = {"world": None, "env": reader.env_record(env), "shape": reader.shape_record(env)}
    (path / "config.json").write_text(json.dumps(recorded | {"algorithm": "ea", "seed": 1}))
    policies.save(path / "champion", policy(env.sides[0]))
    return path


class Plain:
    """A world that is no dataclass, so that nobody sees its fields."""

    def __init__(self, horizon: int = 10, num_agents: int = 2):
        self.horizon = horizon
        self.sides = (Side.equal(num_agents, obs_size=2, act_size=1),)

    reset, step = Rendezvous.reset, Rendezvous.step


class Other(Plain):
    """Another world of the same form."""


@dataclasses.dataclass(frozen=True)
class Longer(Rendezvous):
    """A world with a field more."""

    patience: int = 3


@pytest.mark.parametrize(
    ("env", "other", "difference"),
    [
        (Rendezvous(horizon=10), Rendezvous(horizon=7), "horizon was 10 and is 7"),
        (Rendezvous(), Longer(), "class was 'Rendezvous' and is 'Longer'"),
        (Longer(), Longer(patience=4), "patience was 3 and is 4"),
        (Plain(), Plain(horizon=7), "horizon was 10 and is 7"),
        (Plain(), Plain(num_agents=3), "sides was .*'num_agents': 2, .* and is .*'num_agents': 3, "),
        (Plain(), Other(), "class was 'Plain' and is 'Other'"),
    ],
    ids=["field", "class", "own field", "no dataclass", "sides", "other class"],
)
def test_a_world_given_again_must_be_the_runs_field_by_field(env, other, difference, tmp_path):
    made_on(tmp_path, env)
    assert reader.load(tmp_path, env).env == env
    with pytest.raises(UserError, match=f"made on another world than this: {difference}"):
        reader.load(tmp_path, other)


def test_another_world_than_the_named_one_is_refused_too(tmp_path):
    made(tmp_path, "rover-3")
    assert reader.load(tmp_path, envs.make("rover-3")).env == envs.make("rover-3")
    with pytest.raises(UserError, match="coupling was 3 and is 2"):
        reader.load(tmp_path, envs.make("rover-3", coupling=2))
    with pytest.raises(UserError, match="class was 'Rover' and is 'Rendezvous'"):
        reader.load(tmp_path, Rendezvous())


def test_a_file_never_names_code_to_run(tmp_path):
    config = {"world": "tests.probes.rendezvous:Rendezvous", "env": {}, "algorithm": "ea", "seed": 1}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="`env`, on the command line as --env module:World"):
        reader.load(tmp_path)


def test_a_learned_opponent_is_read_and_a_scripted_one_needs_no_file(tmp_path):
    scripted = reader.load(made(tmp_path / "scripted", "predator-prey", "scripted"))
    assert scripted.opponent == ScriptedPlayer(1)
    path = made(tmp_path / "learned", "predator-prey", "ddpg")
    with pytest.raises(UserError, match="no champion that merlax can read"):
        reader.load(path)
    policies.save(path / "opponent", policy(envs.make("keep-away").sides[0]))
    with pytest.raises(UserError, match=r"The opponent in .* was trained for another world"):
        reader.load(path)
    policies.save(path / "opponent", policy(envs.make("predator-prey").sides[1]))
    learned = reader.load(path)
    assert isinstance(learned.opponent, PolicyPlayer)
    assert learned.field.opponents == (learned.opponent,)


@pytest.mark.parametrize("kind", [None, "somebody"])
def test_a_contest_without_an_opponent_is_refused(tmp_path, kind):
    with pytest.raises(UserError, match="choose 'ddpg', 'scripted' or 'frozen', as it was"):
        reader.load(made(tmp_path, "predator-prey", kind))


def test_progress_is_numbers_where_they_are_numbers_and_a_half_row_is_none(tmp_path):
    run = reader.load(made(tmp_path, "rover-3"))
    (tmp_path / "progress.csv").write_text(
        "generation,frames,champion_score,migrant_fate\n1,5,,elite\n2,9,0.5,\n3,12,0.7"
    )
    found = run.progress
    np.testing.assert_array_equal(found["generation"], [1.0, 2.0])
    np.testing.assert_array_equal(found["champion_score"], [np.nan, 0.5])
    assert found["migrant_fate"].tolist() == ["elite", ""]


def test_progress_without_a_row_has_the_columns_that_every_run_has(tmp_path):
    run = reader.load(made(tmp_path, "rover-3"))
    (tmp_path / "progress.csv").touch()
    assert {name: len(column) for name, column in run.progress.items()} == dict.fromkeys(ALWAYS, 0)


@pytest.mark.parametrize(
    ("text", "finished"),
    [(None, False), ("{", False), ("[]", False), ('{"finished": false}', False), ('{"finished": true}', True)],
)
def test_a_run_has_ended_only_if_its_last_file_says_so(tmp_path, text, finished):
    if text is not None:
        (tmp_path / "final.json").write_text(text)
    assert reader.is_finished(tmp_path) is finished


def test_the_title_says_what_was_chosen_or_changed_and_only_the_papers_world_has_its_score():
    config = {"world": "rover-3"}
    run = Run(Path(), config, Rover(coupling=3, speed="pinned"), policy(Rover().sides[0]))
    assert run.title == "rover-3 (speed pinned, encoding clean)"
    assert run.published is not None
    resized = dataclasses.replace(run, env=Rover(coupling=3, num_poi=6))
    assert resized.title == "rover-3 (num_poi 6, speed free, encoding clean)"
    assert resized.published is None
    elsewhere = dataclasses.replace(run, config={"world": "a name that only its maker has registered"})
    assert elsewhere.title.startswith("a name that only")


@contextlib.contextmanager
def read_only(folder):
    """Nobody can write there, the superuser included, whom permissions do not stop."""
    mount = lambda *options: subprocess.run(["mount", *options], capture_output=True).returncode == 0  # noqa: E731
    mounted = shutil.which("mount") is not None and mount("--bind", str(folder), str(folder))
    if mounted:
        mount("-o", "remount,bind,ro", str(folder))
    else:
        folder.chmod(0o555)
    try:
        with pytest.raises(OSError, match=r"Read-only|Permission"):
            (folder / "new").touch()
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True) if mounted else folder.chmod(0o755)


BLOCKED = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("optax", "orbax", "evosax", "tensorboardX"):
            raise ImportError(name)

sys.meta_path.insert(0, Absent())
from merlax import cli
folder, out = sys.argv[1:]
assert cli.main(["evaluate", folder, "--episodes", "2"]) == 0
assert cli.main(["render", folder, "--out", out]) == 0
"""


@pytest.mark.slow
def test_a_champion_plays_without_the_training_extras_and_leaves_its_folder_alone(nursery, tmp_path):
    out = tmp_path / "run"
    tiny = "two-rovers --algorithm ea --population 6 --actor-hidden 8 --frames 180 --quiet".split()
    assert nursery.run("train", *tiny, "--out", out, log=tmp_path / "log") == 0, (tmp_path / "log").read_text()
    for name in ("progress.csv", "final.json", "champion.gif", "learning_curve.png"):
        (out / name).unlink()
    shutil.rmtree(out / "events")
    listing = lambda: sorted((str(p), p.stat().st_mtime_ns) for p in out.rglob("*"))  # noqa: E731
    before = listing()
    with read_only(out):
        command = [sys.executable, "-c", BLOCKED, str(out), str(tmp_path / "team.png")]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "team.png").exists()
    assert listing() == before
