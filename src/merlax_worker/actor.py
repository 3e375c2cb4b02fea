"""A worker on a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from merlax_worker import episode


class Worker:
    """Does whatever it is asked, like a process of an executor."""

    def __init__(self, environment: Mapping[str, str]):
        os.environ.update(environment)
        episode.ignore_interrupts()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the function returns."""
        return function(*arguments)
