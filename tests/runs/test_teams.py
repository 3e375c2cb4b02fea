"""A hand rule in the place of a champion."""

import pytest

import merlax
from merlax.core.players import ScriptedPlayer
from merlax.envs.rules import SCRIPTED
from merlax.runs import teams
from merlax.types import UserError
from tests.probes.episodes import Countdown
from tests.probes.tag import Tag


def test_the_greedy_rule_falls_into_the_trap_of_two_rovers_and_two_halves_do_not():
    assert merlax.evaluate("two-rovers", 1, team="scripted").mean == 0.5
    assert merlax.evaluate(merlax.make("two-rovers"), 1, team="halves").mean == 1.0


def test_a_rule_meets_the_scripted_opponent_unless_told():
    assert merlax.evaluate(Tag(), 2, team="scripted").mean == 0.0  # both stay at the same place
    assert merlax.evaluate(Tag(horizon=2), 2, team="still").mean == pytest.approx(-0.5)


def test_figures_show_the_rules_by_name():
    assert {rule: score.mean for rule, score in teams.yardsticks(Tag(), 2).items()} == {SCRIPTED: 0.0}
    assert (teams.label(SCRIPTED), teams.label("halves")) == ("hand rule", "halves rule")


def test_a_rule_beside_a_team_plays_where_that_one_does():
    first = teams.find("two-rovers", "scripted")
    other = teams.beside(first, "halves")
    assert (other.env, other.field) == (first.env, first.field)
    assert (merlax.evaluate(first, 1).mean, merlax.evaluate(other, 1).mean) == (0.5, 1.0)


def test_a_rule_beside_a_team_in_a_contest_meets_the_same_opponent():
    first = teams.find(Tag(), "scripted")
    assert teams.beside(first, "still").opponent == first.opponent == ScriptedPlayer(1)


def test_a_folder_that_is_called_like_a_rule_is_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = teams.find(Tag(), "scripted")
    assert teams.is_rule(first, "still")
    (tmp_path / "still").mkdir()
    assert not teams.is_rule(first, "still")
    with pytest.raises(UserError, match="'still' is not a run folder"):
        teams.beside(first, "still")


@pytest.mark.parametrize(
    ("target", "rule", "sentence"),
    [
        ("rover-3", None, "'rover-3' is a world, not a run folder"),
        (Tag(), None, "A world alone has no team"),
        (Countdown(), "scripted", "no rule 'scripted' for its team; choose from still"),
        ("nowhere", "scripted", "not a run folder"),
    ],
    ids=["a world's name", "a world", "a rule that is not there", "a folder"],
)
def test_what_is_no_team_is_refused(target, rule, sentence):
    with pytest.raises(UserError, match=sentence):
        teams.find(target, rule)


def test_a_contest_without_a_rule_for_its_opponent_must_be_given_one():
    class Lonely(Tag):
        def rules(self, side):
            return super().rules(side) if side == 0 else {}

    with pytest.raises(UserError, match="no rule for its opponent"):
        merlax.evaluate(Lonely(), 2, team="scripted")
