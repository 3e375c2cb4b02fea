"""Scores that the paper or its authors' raw curves report."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Published:
    """One number to compare with, and where it comes from."""

    score: float
    source: str


_SCORES = {
    ("rover-3", "MERL"): Published(0.48, "MERL, 2 M frames, speed very likely pinned"),
    ("rover-3", "EA"): Published(0.3, "EA, population 100, 100 M frames, speed very likely pinned"),
    ("rover-3", "ES"): Published(0.1, "ES, population 100, σ 0.1, 100 M frames, speed very likely pinned"),
    ("rover-4", "MERL"): Published(0.46, "MERL, authors' raw curves, 2.5–3.9 M frames, pinned, population 20"),
    ("rover-5", "MERL"): Published(0.43, "MERL, authors' raw curves, 2.5–3.9 M frames, pinned, population 20"),
    ("two-rovers", "MERL"): Published(1.0, "MERL, from the text"),
    ("two-rovers", "EA"): Published(0.5, "EA, from the text: the greedy solution"),
    ("two-rovers", "TD3-mixed"): Published(0.5, "TD3-mixed, from the text: the greedy solution"),
}

SELECTION_RATE = 0.47  # expected under random selection (appendix B)


def published(world: str | None, method: str = "MERL") -> Published | None:
    """A method's published score on a world, where there is one."""
    return _SCORES.get((world or "", method))
