"""A run never goes on wrongly: from rows without checkpoints, on another world, on other devices."""

import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import merlax
from merlax.core import devices
from merlax.runs.recorders import Row
from merlax.types import UserError
from tests.probes.rendezvous import Rendezvous
from tests.support import short
from tests.support.killing import generations, rows


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of five generations that was left alone."""
    return short.train(tmp_path_factory.mktemp("runs") / "whole", 5).path


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """The same, ended after two generations, with a checkpoint."""
    return short.stopped(tmp_path_factory.mktemp("runs") / "interrupted", 2).path


def everything(folder: Path) -> dict[Path, tuple[int, bytes]]:
    """All files and folders of a run: when each was changed, and what it holds."""
    found = [folder, *folder.rglob("*")]
    return {path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in found}


def without_checkpoints(run: Path) -> None:
    shutil.rmtree(run / "checkpoints")


def with_an_empty_folder(run: Path) -> None:
    without_checkpoints(run)
    (run / "checkpoints").mkdir()


def without_checkpoints_and_table(run: Path) -> None:
    without_checkpoints(run)
    (run / "progress.csv").unlink()


def without_table(run: Path) -> None:
    (run / "progress.csv").unlink()


def without_the_last_row(run: Path) -> None:
    table = run / "progress.csv"
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))


def with_damaged_checkpoints(run: Path) -> None:
    (run / "checkpoints" / "2" / "manifest" / "metadata").write_text("")


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (without_checkpoints, r"progress\.csv' has 2 rows but '.*checkpoints' no checkpoint to go on from"),
        (with_an_empty_folder, r"progress\.csv' has 2 rows but '.*checkpoints' no checkpoint to go on from"),
        (without_checkpoints_and_table, r"progress\.csv' has 0 rows but '.*checkpoints' no checkpoint to go on from"),
        (without_table, r"progress\.csv' has 0 rows but the newest in '.*checkpoints' goes on after 2"),
        (without_the_last_row, r"progress\.csv' has 1 rows but the newest in '.*checkpoints' goes on after 2"),
        (with_damaged_checkpoints, r"'.*checkpoints/2' is damaged .* no other checkpoint"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_run_that_lacks_what_it_goes_on_from_is_refused_and_untouched(interrupted, tmp_path, harm, sentence):
    run = Path(shutil.copytree(interrupted, tmp_path / "run"))
    harm(run)
    before = everything(run)
    with pytest.raises(UserError, match=rf"{sentence}.*--restart"):
        short.resume(run)
    assert everything(run) == before


@pytest.mark.slow
def test_a_run_restarts_on_purpose_and_keeps_its_rows_aside(interrupted, whole, tmp_path, caplog):
    run = Path(shutil.copytree(interrupted, tmp_path / "run"))
    without_checkpoints(run)
    table, champion = (run / "progress.csv").read_bytes(), (run / "champion" / "weights.npz").read_bytes()
    with caplog.at_level(logging.WARNING, "merlax"):
        short.resume(run, restart=True, callbacks=[lambda row: row["generation"] == 3])
    assert "starts anew; of what there was, it keeps progress.csv.1, champion.1" in caplog.messages[0]
    assert (run / "progress.csv.1").read_bytes() == table
    assert (run / "champion.1" / "weights.npz").read_bytes() == champion
    assert rows(run) == rows(whole)[:3]
    short.resume(run, restart=True)  # though it has a checkpoint
    assert rows(run) == rows(whole)
    assert (run / "progress.csv.2").exists()
    with pytest.raises(UserError, match="nothing to resume"):
        short.resume(run, restart=True)


def fail(row: Row) -> None:
    if row["generation"] == 2:
        raise RuntimeError("killed")


def test_a_run_that_ended_before_its_first_checkpoint_goes_on_from_its_seed(whole, tmp_path):
    with pytest.raises(RuntimeError, match="killed"):
        short.train(tmp_path, 5, callbacks=[fail])
    assert generations(tmp_path) == [1, 2]
    short.resume(tmp_path)
    assert rows(tmp_path) == rows(whole)
    assert not (tmp_path / "progress.csv.1").exists()


def test_a_run_that_ended_between_its_first_champion_and_its_first_row_goes_on(whole, tmp_path):
    with pytest.raises(RuntimeError, match="killed"):
        short.train(tmp_path, 5, callbacks=[fail])
    (tmp_path / "progress.csv").write_text("")
    assert rows(short.resume(tmp_path).path) == rows(whole)


def test_a_run_is_not_continued_on_another_world(interrupted):
    before = everything(interrupted)
    with pytest.raises(UserError, match="made on another world than this: horizon was 3 and is 7"):
        merlax.resume(interrupted, env=Rendezvous(horizon=7), quiet=True)
    with pytest.raises(UserError, match="made on another world than this: class was 'Rendezvous' and is 'Rover'"):
        merlax.resume(interrupted, env=merlax.make("rover-1"), quiet=True)
    with pytest.raises(UserError, match=r"made on Rendezvous, .* `env`, on the command line as --env module:World"):
        merlax.resume(interrupted, quiet=True)
    assert everything(interrupted) == before


# A learner's numbers depend on how many devices there are.
NOTEBOOK = """
import sys
import jax
assert jax.device_count() == 1  # it is used before merlax is
from pathlib import Path
from tests.support import short
short.learn(Path(sys.argv[1]) / "whole")
short.learn(Path(sys.argv[1]) / "cut", callbacks=[lambda row: row["generation"] == 2])
"""


def in_a_process(*command: object) -> None:
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_run_of_a_notebook_goes_on_with_its_one_device_wherever_it_is_resumed(tmp_path):
    in_a_process("-c", NOTEBOOK, tmp_path)
    shutil.copytree(tmp_path / "cut", tmp_path / "copy")
    assert json.loads((tmp_path / "cut" / "config.json").read_text())["devices"] == 1
    in_a_process("-m", "merlax.cli", "resume", tmp_path / "cut", "--env", "tests.probes.rendezvous:Rendezvous")
    assert len(rows(tmp_path / "whole")) == 3
    assert rows(tmp_path / "cut") == rows(tmp_path / "whole")
    here = rows(short.learn(tmp_path / "here").path)  # JAX runs already, with two
    assert here != rows(tmp_path / "whole")
    assert rows(short.resume(tmp_path / "copy").path) == rows(tmp_path / "whole")
    assert devices.count() == 2
