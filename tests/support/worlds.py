"""Named worlds whose type is known."""

from typing import Any

from merlax.envs import Rover, make


def rover(name: str, **options: Any) -> Rover:
    """A named rover world."""
    env = make(name, **options)
    assert isinstance(env, Rover)
    return env
