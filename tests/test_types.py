"""What every room shares."""

from merlax.types import suggest


def test_a_name_that_is_nearly_right_gets_a_suggestion_and_another_none():
    assert suggest("rovr-3", ["rover-1", "rover-3", "two-rovers"]) == " (did you mean 'rover-3'?)"
    assert suggest("zzz", ["rover-1", "rover-3"]) == ""
