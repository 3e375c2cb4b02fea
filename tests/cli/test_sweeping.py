"""Many runs by one command: what varies, one table and one figure, and the same command again runs nothing."""

import pytest

from merlax import cli
from merlax.cli import sweeping
from merlax.experiments import results
from merlax.types import UserError
from tests.support import short

WORLD = "tests.probes.rendezvous:Rendezvous"
TINY = "--algorithm ea --population 6 --fitness.episodes 1 --actor-hidden 8".split()


def test_options_with_commas_vary_and_the_others_hold_for_all():
    words = "rover-3 --td3.discount 0.5,0.8 --seeds 0,2 --population=10,20 --quiet --resources cpu=1,gpu=0.5".split()
    fixed, varied = sweeping.split(words)
    assert fixed == ["rover-3", *words[3:5], *words[6:]]
    assert varied == {"td3.discount": ["0.5", "0.8"], "population": ["10", "20"]}
    assert sweeping.split(["--out", "a,b", "--from=c,d", "--quiet"]) == (["--out", "a,b", "--from=c,d", "--quiet"], {})


@pytest.mark.parametrize("words", ["--noise 0.1, --seed 1", "--noise 0.1,0.1", "--noise 0.1,0.2 --noise 0.3,0.4"])
def test_values_that_are_empty_or_come_twice_are_refused(words):
    with pytest.raises(UserError, match=r"--noise says .*; give it once, with different values"):
        sweeping.split(words.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("sweep rover-1", "Nothing varies"),
        ("sweep rover-1 --td3.discount 0.5,2", "discount is 2.0; make it a number from 0 to 1"),
        ("sweep rover-1 --td3.discont 0.5,0.8", "did you mean --td3.discount"),
        ("sweep rover-1 --td3.discount 0.5,0.8 --frames 1", "one generation alone takes"),
        ("sweep rover-1 --td3.discount 0.5,0.8 --track wandb", "--track is for one run: leave it out"),
        ("train rover-1 --seeds 0-x", "--seeds says '0-x'"),
        ("train rover-1 --seeds 0-1 --seed 3", "--seed is for one run: leave it out"),
        ("train rover-1 --seeds 0-1 --distributed", "--distributed is for one run: leave it out"),
        ("train rover-1 --workers 2", "--workers is for several runs: name their seeds with --seeds"),
        ("train rover-1 --seeds 0-1 --workers 2 --on ray", "leave out --workers"),
    ],
)
def test_a_sweep_that_cannot_be_is_refused_before_anything_is_made(words, sentence, refuses, tmp_path):
    refuses([*words.split(), "--out", str(tmp_path / "out")], sentence)
    assert not (tmp_path / "out").exists()


def test_a_dry_run_names_all_runs(capsys):
    words = "sweep rover-1 --algorithm ea,es --env.num-poi 2,4 --population 20 --seeds 0-1 --dry-run"
    assert cli.main(words.split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "8 runs of 2,000,000 frames:"
    assert "  rover-1 (num_poi 2), EA, seed 0" in lines
    assert "  rover-1 (num_poi 4), ES, seed 1" in lines


@pytest.mark.slow
def test_a_sweep_makes_one_table_and_one_figure_and_goes_on_where_it_was(tmp_path, capsys):
    out, start = tmp_path / "out", short.train(tmp_path / "start", 1).path
    words = ["sweep", WORLD, *TINY, "--mutation.strength", "0.1,0.3", "--env.num-agents", "3", "--quiet"]
    words += ["--frames", str(2 * short.GENERATION), "--from", str(start), "--out", str(out)]
    assert cli.main([*words, "--seeds", "5"]) == 0
    assert "mutation.strength 0.3" in capsys.readouterr().out
    assert {path.name for path in out.iterdir()} >= {"results.csv", "table.md", "sweep.png", "request.json", "runs"}
    found = results.read(out / "results.csv")
    assert found.worlds == [f"{WORLD} (num_agents 3)"]
    assert found.methods(found.worlds[0]) == ["mutation.strength 0.1", "mutation.strength 0.3"]
    folders = sorted(path.parent for path in out.rglob("config.json"))
    assert len(folders) == 2
    alone = merlax_train(tmp_path / "alone", start)
    champions = [folder / "champion" / "weights.npz" for folder in (*folders, alone)]
    assert champions[0].read_bytes() != champions[1].read_bytes() == champions[2].read_bytes()
    before = {folder: (folder / "final.json").stat().st_mtime_ns for folder in folders}
    (folders[0] / "final.json").unlink()
    assert cli.main([*words, "--seeds", "5"]) == 0
    after = {folder: (folder / "final.json").stat().st_mtime_ns for folder in folders}
    assert [folder for folder in folders if before[folder] != after[folder]] == folders[:1]
    assert not list(out.rglob("checkpoints/*"))


def merlax_train(out, start):
    """One of the runs, by itself."""
    words = ["train", WORLD, *TINY, "--mutation.strength", "0.3", "--seed", "5", "--from", str(start), "--quiet"]
    words += ["--env.num-agents", "3"]
    assert cli.main([*words, "--frames", str(2 * short.GENERATION), "--out", str(out)]) == 0
    return out
