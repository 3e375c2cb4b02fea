"""A report that follows a run: served to this machine alone, and nothing else is."""

from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from merlax.envs.base import Env
from merlax.experiments import dossier
from merlax.figures import page
from merlax.figures.pack import packed
from merlax.types import UserError

LOOPBACK = "127.0.0.1"
_FILES = ("progress.csv", "final.json", "champion/policy.json", "config.json")  # whose change makes a page old


class Watch:
    """The newest report of run folders; it is made anew when somebody asks and a file has changed."""

    def __init__(self, paths: list[Path], env: Env | None = None):
        self._paths, self._env, self._lock = paths, env, threading.Lock()
        self._stamp, self._data = "", {}
        self.newest()  # refuses at once what is no run

    def newest(self) -> tuple[str, dict[str, Any]]:
        """A tag that changes with the data, and the data; what is just being written stays as it was."""
        with self._lock:
            stamp = self._tag()
            if stamp != self._stamp:
                try:
                    self._data = dossier.dossier(self._paths, self._env)
                    self._stamp = stamp
                except UserError:
                    if not self._stamp:
                        raise
            return self._stamp, self._data | {"live": self._stamp}

    def _tag(self) -> str:
        seen = []
        for path in self._paths:
            for folder in [path, *(inside for deep in ("*/", "*/*/", "*/*/*/") for inside in sorted(path.glob(deep)))]:
                for name in _FILES:
                    try:
                        found = (folder / name).stat()
                        seen.append(f"{folder}/{name} {found.st_mtime_ns} {found.st_size}")
                    except OSError:
                        continue
        return f'"{hashlib.sha256(chr(10).join(seen).encode()).hexdigest()[:32]}"'


def server(paths: list[Path], port: int = 0, env: Env | None = None) -> ThreadingHTTPServer:
    """A server on loopback that has two addresses: the page, and its data."""
    watch = Watch(paths, env)

    def address() -> int:
        return made.server_port

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host, at = self.headers.get("Host", ""), address()
            if host not in (f"{LOOPBACK}:{at}", f"localhost:{at}"):  # a page elsewhere whose name leads here
                self._answer(403, b"merlax watch answers this machine alone.")
            elif self.path == "/":
                tag, data = watch.newest()
                text = page.page(data["title"], data, page.REPORT, "start_report.js", live=True)
                self._answer(200, text.encode(), "text/html; charset=utf-8", tag)
            elif self.path == "/data":
                tag, data = watch.newest()
                if self.headers.get("If-None-Match") == tag:
                    self._answer(304, b"", tag=tag)
                else:
                    self._answer(200, packed(data).encode(), tag=tag)
            else:
                self._answer(404, b"There is only / here.")

        def _answer(self, code: int, body: bytes, kind: str = "text/plain; charset=utf-8", tag: str = "") -> None:
            self.send_response(code)
            sent = {"Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": "no-store"}
            sent |= {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} | (
                {"ETag": tag} if tag else {}
            )
            for name, value in sent.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nobody wants to read who asked."""

    if not 0 <= port < 65536:
        raise UserError(f"port is {port}; choose one from 1 to 65535, or 0 for any that is free.")
    try:
        made = ThreadingHTTPServer((LOOPBACK, port), Handler)
    except OSError as error:
        raise UserError(f"Port {port} cannot be used ({error.strerror or error}); choose another --port.") from error
    return made
