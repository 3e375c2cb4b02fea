"""Scores that the paper or its authors' raw curves report (FACTS §5)."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Published:
    """One number to compare with, and where it comes from."""

    score: float
    source: str


_MERL = {
    "rover-3": Published(0.48, "MERL, 2 M frames, speed very likely pinned"),
    "rover-4": Published(0.46, "MERL, authors' raw curves, 2.5–3.9 M frames, pinned, population 20"),
    "rover-5": Published(0.43, "MERL, authors' raw curves, 2.5–3.9 M frames, pinned, population 20"),
    "two-rovers": Published(1.0, "MERL, from the text"),
}


def published(world: str | None) -> Published | None:
    """MERL's published score on a world, where there is one."""
    return _MERL.get(world or "")
