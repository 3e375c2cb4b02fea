"""A share of what `benchmarks/fuzz.py` plays: whatever somebody types or hands over, it works or is refused."""

import collections

import pytest

from merlax.cli.main import COMMANDS
from tests.support import fuzz
from tests.support.fuzz_base import Base

SEED = 1


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return Base(tmp_path_factory.mktemp("base"))


@pytest.mark.slow
def test_whatever_is_typed_or_handed_over_works_or_is_refused_in_a_sentence(base, tmp_path, unchecked):
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for number in range(250):
        case = fuzz.case(SEED, number, base)
        found = fuzz.play(case, base, tmp_path / "scratch")
        assert found.outcome in (fuzz.OK, fuzz.REFUSED), (number, case, found.said)
        counts[case.kind, found.outcome] += 1
    assert {kind for kind, outcome in counts if outcome == fuzz.REFUSED} == set(fuzz.kinds(base))
    assert len([kind for kind, outcome in counts if outcome == fuzz.OK]) >= 5


def test_a_case_is_the_same_whenever_it_is_made(base):
    assert fuzz.case(SEED, 7, base) == fuzz.case(SEED, 7, base)
    assert fuzz.case(SEED, 7, base) != fuzz.case(SEED + 1, 7, base)


def test_a_fault_would_be_noticed(base, tmp_path, monkeypatch):
    def fails(args):
        raise RuntimeError("oh")

    monkeypatch.setitem(COMMANDS, "envs", fails)
    found = fuzz.play(fuzz.Case("command", ("envs",)), base, tmp_path / "scratch")
    assert found.outcome == fuzz.FAULT
