"""From numbers to the figure that an experiment asks for."""

from pathlib import Path

import pytest

from merlax.experiments import catalogue, drawing, results
from merlax.experiments.results import Results, Row
from merlax.types import UserError
from tests.support.drawing import words_of


def made(experiment: str, measure: str, *runs: tuple[str, str, list[float]]) -> Results:
    """A number per seed and 100 frames, for each world and method."""
    return Results(
        tuple(
            Row(experiment, world, method, seed, frames, measure, value)
            for world, method, values in runs
            for frames in (100, 200)
            for seed, value in enumerate(values)
        )
    )


def drawn(found: Results, out: Path) -> str:
    return words_of(drawing.draw(found, Path("nowhere"), out / "figure.svg"))


@pytest.fixture(autouse=True)
def few_episodes(monkeypatch):
    monkeypatch.setattr(drawing, "YARDSTICK_EPISODES", 2)


@pytest.mark.slow
def test_curves_have_a_panel_per_world_and_the_published_numbers(tmp_path):
    pinned, free = "rover-3 (speed pinned)", "rover-3 (speed free)"
    words = drawn(made("scores", "champion_score", (pinned, "MERL", [0.5, 0.7]), (free, "MERL", [0.9])), tmp_path)
    for text in (pinned, free, "MERL 0.60", "MERL 0.90"):
        assert f"<!-- {text} -->" in words
    assert words.count("halves rule") == 2
    assert words.count("<!-- paper: MERL 0.48 -->") == 1  # it was made with the speed pinned


def test_a_sweep_stands_beside_merl_and_says_how_long_the_runs_were(tmp_path):
    world = "rover-3 (speed pinned)"
    runs = [(world, f"EA, population {population}", [0.1, 0.3]) for population in (10, 100)]
    words = drawn(made("ea-population", "final_score", (world, "MERL", [0.6]), *runs), tmp_path)
    for text in ("MERL 0.60", "population", "◇ paper: EA 0.30", f"{world}, 0.2 k frames, 1 to 2 seeds"):
        assert f"<!-- {text} -->" in words


def test_the_selection_rate_names_an_option_that_all_worlds_share_once(tmp_path):
    worlds = [f"rover-{coupling} (speed pinned)" for coupling in (1, 3)]
    rates = made("selection-rate", "migrant_selected", *((world, "MERL", [1.0, 0.0]) for world in worlds))
    words = drawn(rates, tmp_path)
    assert "<!-- Selection rate of migrants, 2 seeds (speed pinned) -->" in words
    assert "<!-- rover-3 0.50 -->" in words


def test_every_learner_has_its_own_selection_rate(tmp_path):
    first = made(
        "selection-rate", "migrant_selected", ("predator-prey", "MERL", [1.0, 0.0]), ("keep-away", "MERL", [0.0])
    )
    second = made("selection-rate", "migrant_selected_2", ("predator-prey", "MERL", [0.0, 0.0]))
    words = drawn(Results((*first.rows, *second.rows)), tmp_path)
    for text in ("predator-prey, learner 1 0.50", "predator-prey, learner 2 0.00", "keep-away 0.00"):
        assert f"<!-- {text} -->" in words


def test_a_map_tells_how_many_runs_solve_each_world(tmp_path):
    worlds = [f"two-rovers (observation_distance {distance}, nearer 4.0)" for distance in ("3.0", "0.5")]
    scores = [(worlds[0], "MERL", [1.0, 1.0, 0.5]), (worlds[1], "MERL", [1.0, 0.5, 0.0]), (worlds[0], "EA", [0.5])]
    words = drawn(made("trap-map", "final_score", *scores), tmp_path)
    for text in ("67", "33", "0", "MERL", "EA", "how much nearer the wrong POI is"):
        assert f"<!-- {text} -->" in words
    assert "1 to 3 seeds" in words


def test_curves_with_a_tuned_team_have_a_second_figure_of_how_often_it_is_selected(tmp_path):
    world = "rover-1 (speed free)"
    scores = made("beyond", "champion_score", (world, "MERL", [0.9]), (world, "learner alone", [0.8]))
    fates = [made("beyond", measure, (world, "MERL", [0.5])) for measure in ("migrant_selected", "tuned_selected")]
    words = drawn(Results((*scores.rows, *fates[0].rows, *fates[1].rows)), tmp_path)
    for text in ("MERL 0.90", "learner alone 0.80"):
        assert f"<!-- {text} -->" in words
    selected = words_of(tmp_path / "figure-selection.svg")
    assert "<!-- the tuned team 0.50 -->" in selected
    assert "<!-- the learner's team 0.50 -->" in selected


def test_contests_have_a_further_figure_of_every_methods_team_against_every_methods_opponent(tmp_path):
    worlds, methods = ("predator-prey", "predator-prey-hard"), ("MERL", "EA")
    scores = made("predator-prey", "champion_score", *((worlds[0], method, [1.0]) for method in methods))
    met = [
        made("predator-prey", f"score_against_{name}", *((worlds[0], method, [score, score + 1]) for method in methods))
        for name, score in (("MERL", 1.0), ("EA", 2.0), ("scripted", 3.0))
    ]
    drawn(Results((*scores.rows, *(row for one in met for row in one.rows))), tmp_path)
    words = words_of(tmp_path / "figure-crossplay-predator-prey.svg")
    for text in ("1.50", "2.50", "3.50", *methods, "scripted", "team", "opponent"):
        assert f"<!-- {text} -->" in words
    assert not (tmp_path / "figure-crossplay-predator-prey-hard.svg").exists()  # nobody has met there yet


def test_finals_show_what_was_measured_or_else_the_final_scores(tmp_path):
    scores = made("two-rovers-ea", "final_score", ("two-rovers", "EA, fast", [1.0]), ("two-rovers", "EA, paper", [0.5]))
    assert "<!-- final score -->" in drawn(scores, tmp_path)
    more = made("hand-rules", "score_against_own", ("predator-prey", "MERL", [1.5, 1.7]))
    also = made("hand-rules", "final_score", ("predator-prey", "MERL", [1.0, 1.0]))
    words = drawn(Results((*more.rows, *also.rows)), tmp_path)
    assert "<!-- score against own -->" in words
    assert "<!-- hand rule, scripted opponent -->" in words  # a row of its own
    assert "<!-- final score -->" not in words


def test_losses_are_differences_of_runs_with_the_same_seed(monkeypatch, tmp_path):
    shown = []
    monkeypatch.setattr(drawing.figures, "draw_finals", lambda panels, out, title: shown.extend(panels))
    worlds = [f"rover-3 (speed {speed})" for speed in ("pinned", "free")]
    runs = [(worlds[0], "MERL", [0.8, 0.6]), (worlds[1], "MERL", [1.0]), (worlds[0], "no tuning", [0.7, 0.6, 0.1])]
    drawing.draw(made("ingredients", "final_score", *runs), Path("nowhere"), tmp_path / "figure.svg")
    pinned, free = shown
    assert (pinned.title, free.title) == (
        "final score less MERL's, speed pinned",
        "final score less MERL's, speed free",
    )
    assert pinned.methods == ("no tuning",)
    assert pinned.points["rover-3"][0].runs == pytest.approx((-0.1, 0.0))  # the third seed has no run of MERL
    assert free.points == {"rover-3": ()}


def test_a_part_without_the_whole_method_shows_final_scores(tmp_path):
    part = made("ingredients", "final_score", ("rover-3 (speed pinned)", "no tuning", [0.7, 0.6]))
    assert "<!-- final score -->" in drawn(part, tmp_path)


def test_trajectories_need_the_run_folders(tmp_path):
    found = made("trajectories", "final_score", ("rover-3 (speed pinned)", "MERL", [0.5]))
    with pytest.raises(UserError, match="not a run folder"):
        drawing.draw(found, tmp_path, tmp_path / "figure.png")


COMMITTED = Path(__file__).parents[2] / "results"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["motivating", "scores", "hand-rules", "tune-particles", "two-rovers-ea"])
def test_the_committed_results_can_be_drawn(name, tmp_path):
    words = drawn(results.read(COMMITTED / f"{name}.csv"), tmp_path)
    assert f"<!-- {catalogue.experiment(name).title}, " in words
