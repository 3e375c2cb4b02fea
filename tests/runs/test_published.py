"""The paper's scores belong to worlds that exist."""

from merlax import envs
from merlax.runs import published


def test_a_published_score_is_found_by_world_and_method():
    found = published.published("two-rovers", "EA")
    assert found is not None
    assert found.score == 0.5
    merl = published.published("rover-3")
    assert merl is not None
    assert merl.score == 0.48


def test_where_nothing_was_published_there_is_nothing():
    assert published.published("rover-1") is None
    assert published.published(None) is None


def test_every_published_score_is_of_a_world_that_can_be_made():
    assert {world for world, _ in published._SCORES} <= set(envs.ids())
