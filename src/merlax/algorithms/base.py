"""The contract of an algorithm (DESIGN §2)."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from merlax.envs.base import Env
from merlax.networks import TeamPolicy
from merlax.types import Key, Metrics


@runtime_checkable
class Algorithm(Protocol):
    """`step` is one generation; `champion` is the team that a test plays and a run keeps."""

    @property
    def env(self) -> Env: ...

    @property
    def config(self) -> Any: ...

    @property
    def frames_per_generation(self) -> int: ...

    def init(self, key: Key) -> Any: ...

    def step(self, key: Key, state: Any) -> tuple[Any, Metrics]: ...

    def champion(self, state: Any) -> TeamPolicy: ...
