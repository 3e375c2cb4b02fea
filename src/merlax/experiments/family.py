"""A champion's family, told from the rows of `progress.csv`: what of it came from migrants, crossover and mutation."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

COLUMNS = ("champion_team", "first_parents", "second_parents", "mutated")
MOST_NODES = 90  # of the tree that is drawn; shares are counted over all of it
FIRST = "first population"


@dataclasses.dataclass
class Node:
    """One team of the tree, as long as it lived unchanged: how it came to be, and who its parents are."""

    until: int
    weight: float
    born: int = 0
    kind: str = FIRST  # "mutation", "crossover", "copy", FIRST, or the name of the learner that it came from
    parents: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Family:
    """The champion's line. A crossed child is held to be half of each parent."""

    shares: dict[str, float]  # by origin: FIRST, or a learner's name; they add up to 1
    mutations: float = 0.0  # along the line, on average over its branches
    crossovers: float = 0.0
    generations: int = 0
    nodes: list[Node] = dataclasses.field(default_factory=list)

    def record(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def migrants_of(settings: Mapping[str, Any]) -> list[str]:
    """The names of the migrants' slots of MERL, in their order: the tuned team, if there is one, then the learners."""
    learners = settings.get("learners")
    number = len(learners) if isinstance(learners, list) else 0
    tuning = settings.get("tuning")
    pairs = tuning.get("pairs", 0) if isinstance(tuning, dict) else 0
    tuned = ["tuned team"] if isinstance(pairs, int | float) and pairs > 0 else []
    return [*tuned, *("learner" if number == 1 else f"learner {k}" for k in range(1, number + 1))]


def family(progress: Mapping[str, np.ndarray], migrants: list[str]) -> Family | None:
    """Follow the newest champion back to the first population and to the migrants; nothing where no rows tell."""
    rows = len(progress["generation"])
    if not rows or any(name not in progress for name in COLUMNS):
        return None
    try:
        return _Search(progress, migrants).run(rows)
    except (ValueError, IndexError):
        return None  # rows that no run writes


class _Search:
    def __init__(self, progress: Mapping[str, np.ndarray], migrants: list[str]):
        self.progress, self.migrants = progress, migrants
        self.found = Family(shares={})

    def run(self, rows: int) -> Family:
        champion = int(self.progress["champion_team"][rows - 1])
        self.found.generations = rows
        alive: dict[int, tuple[float, int | None]] = {champion: (1.0, self._node(rows, 1.0))}
        for generation in range(rows, 1, -1):
            alive = self._back(alive, generation)
            if not alive:
                break
        joined = self._parents(0)[0] if rows else np.zeros(0)
        for slot, (weight, node) in alive.items():  # what is left is as old as the run
            self._end(node, 1, self._name(int(joined[slot])) if joined[slot] < 0 else FIRST, weight)
        return self.found

    def _back(self, alive: dict[int, tuple[float, int | None]], generation: int) -> dict[int, tuple[float, int | None]]:
        """From the teams of a generation to their parents in the one before."""
        first, second, mutated = self._parents(generation - 2)
        before: dict[int, tuple[float, int | None]] = {}
        for slot, (weight, node) in alive.items():
            one, other, changed = int(first[slot]), int(second[slot]), bool(mutated[slot])
            if one < 0:
                self._end(node, generation, self._name(one), weight)
                continue
            self.found.mutations += weight * changed
            self.found.crossovers += weight * (one != other)
            if one == other and not changed and one not in before:
                before[one] = weight, node  # it has only grown older
                continue
            kind = "crossover" if one != other else "mutation" if changed else "copy"
            parents = [one, other] if one != other else [one]
            self._born(node, generation, kind)
            for parent in parents:
                share = weight / len(parents)
                had, known = before.get(parent, (0.0, None))
                if known is None:
                    known = self._node(generation - 1, share)
                else:
                    self.found.nodes[known].weight += share
                before[parent] = had + share, known
                if node is not None and known is not None:
                    self.found.nodes[node].parents.append(known)
        return before

    def _parents(self, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, second, mutated = (_whole(self.progress[name][row]) for name in COLUMNS[1:])
        return first, second, mutated

    def _name(self, parent: int) -> str:
        slot = -1 - parent
        return self.migrants[slot] if slot < len(self.migrants) else f"migrant {slot + 1}"

    def _node(self, until: int, weight: float) -> int | None:
        if len(self.found.nodes) >= MOST_NODES:
            return None
        self.found.nodes.append(Node(until, weight))
        return len(self.found.nodes) - 1

    def _born(self, node: int | None, generation: int, kind: str) -> None:
        if node is not None:
            self.found.nodes[node].born, self.found.nodes[node].kind = generation, kind

    def _end(self, node: int | None, generation: int, name: str, weight: float) -> None:
        self._born(node, generation, name)
        self.found.shares[name] = self.found.shares.get(name, 0.0) + weight


def _whole(cell: Any) -> np.ndarray:
    """The whole numbers of a cell."""
    return np.array(str(cell).split(), float).astype(int)
