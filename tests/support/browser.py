"""A headless Chromium, driven over a pipe by its DevTools protocol: no driver, no port, nothing but this file."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
_OPTIONS = (
    "--headless=new --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --disable-extensions "
    "--disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage "
    "--allow-file-access-from-files --remote-debugging-pipe"
)
_PATIENCE = 90.0  # seconds, on a machine that is busy


class Browser:
    """One process with one page."""

    def __init__(self, width: int = 1280, height: int = 860, *, dark: bool = False, touch: bool = False):
        assert PROGRAM is not None
        self._home = tempfile.TemporaryDirectory(prefix="merlax-browser-")
        read, child_write = os.pipe()
        child_read, self._write = os.pipe()
        command = [PROGRAM, *_OPTIONS.split(), f"--user-data-dir={self._home.name}", "about:blank"]
        shell = ["bash", "-c", f'exec "$@" 3<&{child_read} 4>&{child_write}', "bash", *command]
        null, fds = subprocess.DEVNULL, (child_read, child_write)
        self._process = subprocess.Popen(shell, pass_fds=fds, stdout=null, stderr=null)
        os.close(child_read)
        os.close(child_write)
        self._read, self._rest, self._number, self._session = read, b"", 0, None
        self.problems: list[str] = []  # errors and warnings of the console, refused requests, exceptions
        targets = self._ask("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")
        self.resize(width, height, touch=touch)
        self._ask("Emulation.setEmulatedMedia", features=[_feature("color-scheme", "dark" if dark else "light")])

    def resize(self, width: int, height: int, *, touch: bool = False) -> None:
        ratio = 2 if touch else 1
        self._ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=touch
        )

    def open(self, address: str | Path) -> None:
        """Open a page, and wait until it shows something."""
        url = address if isinstance(address, str) else address.absolute().as_uri()
        self._ask("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && !document.getElementById('sentence')")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self._ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression in the page is true."""
        end = time.monotonic() + _PATIENCE
        while not self.run(condition):
            assert time.monotonic() < end, f"never: {condition}"
            time.sleep(0.05)

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self._ask("Input.dispatchKeyEvent", type=kind, key=key)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """`kind` is moved, pressed or released."""
        button = {} if kind == "moved" else {"button": "left", "buttons": 1, "clickCount": 1}
        name = {"moved": "mouseMoved", "pressed": "mousePressed", "released": "mouseReleased"}[kind]
        self._ask("Input.dispatchMouseEvent", type=name, x=x, y=y, **button)

    def photograph(self, out: Path, *, whole: bool = False) -> None:
        """Write what is seen as a PNG; `whole`: with what lies below."""
        data = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        out.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        with contextlib.suppress(Exception):
            session, self._session = self._session, None
            self._ask("Browser.close")
            del session
        os.close(self._write)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        with contextlib.suppress(OSError):
            self._home.cleanup()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._hear()
            if heard.get("id") == number:
                assert "error" not in heard, heard["error"]
                return heard["result"]
            self._note(heard)

    def _hear(self) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE
        while b"\0" not in self._rest:
            ready, *_ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser has gone"
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(params["exceptionDetails"].get("exception", {}).get("description")))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.problems.append(str([arg.get("value") or arg.get("description") for arg in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:", "blob:", "about:", "http://127.0.0.1")):
                self.problems.append(f"asked for {url}")


def _feature(name: str, value: str) -> dict[str, str]:
    return {"name": f"prefers-{name}", "value": value}
