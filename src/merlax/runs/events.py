"""TensorBoard events, written at once by the caller: a full disk shows where it happens, and no thread can hang."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any


class Events:
    """An event file of a run. A continued run starts another one, which hides what it does again."""

    def __init__(self, folder: Path, purge_step: int | None = None):
        from tensorboardX.event_file_writer import EventsWriter
        from tensorboardX.proto.event_pb2 import Event, SessionLog  # type: ignore[attr-defined]
        from tensorboardX.summary import scalar

        self._event, self._scalar = Event, scalar
        folder.mkdir(exist_ok=True)
        self._writer = EventsWriter(str(folder / "events"), f".{os.getpid()}")
        if purge_step is not None:
            self._writer.write_event(Event(wall_time=time.time(), file_version="brain.Event:2", step=purge_step))
            again = SessionLog(status=SessionLog.START)
            self._writer.write_event(Event(wall_time=time.time(), session_log=again, step=purge_step))

    def add(self, values: dict[str, Any], step: int) -> None:
        """One point of every number."""
        for name, value in values.items():
            if isinstance(value, int | float) and name not in ("generation", "frames"):
                event = self._event(wall_time=time.time(), step=step, summary=self._scalar(name, value))
                self._writer.write_event(event)

    def flush(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()
