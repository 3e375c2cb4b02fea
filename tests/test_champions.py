"""The teams that ship with the repository: small, complete, and as good as their page says."""

import json
import re
from pathlib import Path

import pytest

import merlax

CHAMPIONS = Path(__file__).parents[1] / "champions"
ROW = re.compile(r"^\| \[([\w-]+)\].*?\| (-?[\d.]+) ± ([\d.]+) \|", re.MULTILINE)
SAID = {world: (float(mean), float(half)) for world, mean, half in ROW.findall((CHAMPIONS / "README.md").read_text())}


def test_the_page_tells_of_every_champion():
    assert set(SAID) == {path.name for path in CHAMPIONS.iterdir() if path.is_dir()}
    assert {"rover-3", "rover-7", "predator-prey"} <= set(SAID)


@pytest.mark.parametrize("world", SAID)
def test_a_champion_holds_only_what_playing_it_takes(world):
    files = {
        str(path.relative_to(CHAMPIONS / world)): path for path in (CHAMPIONS / world).rglob("*") if path.is_file()
    }
    own = {"config.json", "final.json", "champion/policy.json", "champion/weights.npz"}
    assert own <= set(files) <= own | {"opponent/policy.json", "opponent/weights.npz"}
    assert sum(path.stat().st_size for path in files.values()) < 250_000


@pytest.mark.parametrize("world", SAID)
def test_the_page_says_what_the_run_was_tested_to_score(world):
    final = json.loads((CHAMPIONS / world / "final.json").read_text())
    assert SAID[world] == (round(final["mean"], 3), round(final["interval95"], 3))
    assert final["finished"] is True


@pytest.mark.slow
@pytest.mark.parametrize("world", SAID)
def test_a_champion_plays_as_well_as_its_page_says(world):
    mean, half = SAID[world]
    score = merlax.evaluate(CHAMPIONS / world, episodes=40, seed=1)
    assert abs(score.mean - mean) <= 2 * (half + (score.interval95 or 0.0)) + 0.02
