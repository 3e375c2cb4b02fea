"""The Ray cluster of this command: the one that RAY_ADDRESS names, or that runs here, or else one of its own."""

from __future__ import annotations

import importlib
import logging
import os
import socket
import warnings
from typing import Any

from merlax.types import UserError

KNOCK_SECONDS = 10.0  # for a cluster to answer


def connected() -> Any:
    """Ray, connected to its cluster."""
    address = os.environ.get("RAY_ADDRESS", "")
    if address.startswith("ray://"):
        raise UserError(
            f"RAY_ADDRESS is '{address}', a Ray Client; start this in the cluster: ray job submit -- merlax …"
        )
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise UserError("Ray is not installed here; install it with: pip install 'merlax[ray]'.") from error
    if ray.is_initialized():
        return ray
    try:
        _knock(address)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "os.fork", RuntimeWarning)  # of JAX, though Ray's children do not use it
            ray.init(address=address or None, log_to_driver=False, logging_level=logging.ERROR, namespace="merlax")
    except (RuntimeError, ValueError, OverflowError, OSError) as error:
        where = f"at RAY_ADDRESS '{address}'" if address else "of this machine"
        said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(f"The Ray cluster {where} cannot be reached ({said}); check that it runs.") from error
    return ray


def _knock(address: str) -> None:
    """Whether anybody answers at host:port; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_SECONDS).close()
