"""What is packed for a page."""

import base64
import gzip
import json

import numpy as np

from merlax.figures.pack import LEVELS, UNKNOWN, Exact, packed


def unpacked(text):
    """As `assets/unpack.js` does it."""
    data = gzip.decompress(base64.b64decode(text))
    length = int.from_bytes(data[:4], "little")
    blob = data[4 + length :]

    def array(found):
        if set(found) != {"$"}:
            return found
        at, shape, *steps = found["$"]
        size = int(np.prod(shape))
        if not steps:
            return np.frombuffer(blob, "<f8", size, at).reshape(shape)
        low, high = np.frombuffer(blob, np.uint8, 2 * size, at).reshape(2, size).astype(int)
        changes = (low + 256 * high).reshape(shape)
        whole = np.cumsum(changes, axis=0) % (LEVELS + 2)
        return np.where(whole == UNKNOWN, np.nan, steps[0] + steps[1] * whole)

    return json.loads(data[4 : 4 + length], object_hook=array)


def test_numbers_come_back_within_a_step_and_whole_numbers_exactly():
    walk = np.cumsum(np.random.default_rng(0).normal(size=(50, 6, 2)), axis=0)
    back = unpacked(packed({"walk": walk, "flags": walk > 0, "numbers": np.arange(-3, 9).reshape(4, 3)}))
    np.testing.assert_allclose(back["walk"], walk, atol=np.ptp(walk) / LEVELS)
    np.testing.assert_array_equal(back["flags"], walk > 0)
    np.testing.assert_array_equal(back["numbers"], np.arange(-3, 9).reshape(4, 3))


def test_what_is_not_finite_stays_unknown_and_breaks_nothing():
    values = np.array([[1.0, np.nan], [np.inf, 2.5], [-np.inf, 3.0]])
    back = unpacked(packed([values, float("nan"), np.float32(2.0), np.zeros((0, 3))]))
    np.testing.assert_allclose(back[0], np.where(np.isfinite(values), values, np.nan), atol=1e-4)
    assert back[1] is None
    assert back[2] == 2.0
    assert back[3].shape == (0, 3)


def test_exact_numbers_keep_every_bit():
    values = np.array([1 / 3, 1e15 + 1, -2.0])
    np.testing.assert_array_equal(unpacked(packed(Exact(values))), values)


def test_what_stands_still_packs_to_nothing():
    assert len(packed(np.tile(np.random.default_rng(0).normal(size=100), (1000, 1)))) < 3000
