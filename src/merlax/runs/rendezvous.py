"""Before several processes become one run: all of them are there, or a sentence says who is missing.

JAX itself ends a process with pages of its own where a port is taken or nobody answers.
"""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import closing, suppress
from typing import Any

from merlax.types import UserError, shown

SECONDS = 120.0  # for all processes to come
_LONGEST = 1000  # bytes that one says of itself
_PAUSE = 0.1
_PATIENCE = 5.0  # with somebody who comes and says nothing


def parse(address: str) -> tuple[str, int]:
    """Host and port of the coordinator."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise UserError(f"The coordinator is '{address}'; give a host and a port, such as 10.0.0.1:1234.")
    return host.strip("[]"), int(port)


def check(processes: int, process: int) -> None:
    """Refuse numbers that cannot be."""
    if processes < 1:
        raise UserError(f"processes is {processes}; choose at least 1.")
    if not 0 <= process < processes:
        raise UserError(f"process is {process}; with {processes} processes, number them from 0 to {processes - 1}.")


def meet(address: str, processes: int, process: int, seconds: float = SECONDS) -> None:
    """Wait until all processes have come to the coordinator, which is process 0."""
    check(processes, process)
    host, port = parse(address)
    deadline = time.monotonic() + seconds
    if process == 0:
        _receive(host, port, processes, deadline)
    else:
        _come(host, port, {"processes": processes, "process": process}, deadline)


def _receive(host: str, port: int, processes: int, deadline: float) -> None:
    """As the coordinator: hear from everybody, then tell everybody."""
    came: dict[int, socket.socket] = {}
    reason = ""
    with closing(_listen(host, port)) as server:
        while not reason and len(came) < processes - 1:
            server.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                guest, _ = server.accept()
            except TimeoutError:
                missing = [str(i) for i in range(1, processes) if i not in came]
                reason = f"Of {processes} processes, number {', '.join(missing)} did not come to {host}:{port} in time."
                break
            guest.settimeout(_PATIENCE)
            told = _read(guest) or {}
            number = told.get("process")
            if not isinstance(number, int):
                guest.close()  # somebody who knocks at every port
            elif told.get("processes") != processes:
                reason = (
                    f"Process {number} expects {told.get('processes')} processes, process 0 {processes}; say the same."
                )
                _say(guest, reason)
                guest.close()
            elif number in came or not 0 < number < processes:
                reason = f"Two processes say that they are number {shown(number)}; give every one its own --process."
                _say(guest, reason)
                guest.close()
            else:
                came[number] = guest
    for guest in came.values():
        _say(guest, reason)
        guest.close()
    if reason:
        raise UserError(reason)


def _come(host: str, port: int, about: dict[str, int], deadline: float) -> None:
    """As another one: say who this is, and wait for the others."""
    while True:
        try:
            with socket.create_connection((host, port), timeout=max(0.1, deadline - time.monotonic())) as door:
                door.sendall(json.dumps(about).encode() + b"\n")
                door.settimeout(max(0.1, deadline - time.monotonic()))
                answer = _read(door)
                if answer is not None:
                    break
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise UserError(f"The coordinator {host}:{port} cannot be reached; check --coordinator and process 0.")
        time.sleep(_PAUSE)
    if answer.get("refused"):
        raise UserError(str(answer["refused"]))


def _listen(host: str, port: int) -> socket.socket:
    """On every address of this machine, as JAX will."""
    try:
        server = socket.create_server(("", port), backlog=128)
    except OSError as error:
        raise UserError(
            f"The port {port} of the coordinator {host}:{port} cannot be used ({_system(error)}); choose another."
        ) from error
    return server


def _system(error: OSError) -> str:
    """What the system said, without what Python adds."""
    return os.strerror(error.errno) if error.errno else str(error)


def _read(stream: socket.socket) -> dict[str, Any] | None:
    """One line of JSON, or nothing."""
    text = b""
    try:
        while not text.endswith(b"\n") and len(text) < _LONGEST:
            part = stream.recv(_LONGEST)
            if not part:
                return None
            text += part
        found = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _say(stream: socket.socket, refused: str) -> None:
    with suppress(OSError):  # who has gone in the meantime is missed later
        stream.sendall(json.dumps({"refused": refused}).encode() + b"\n")
