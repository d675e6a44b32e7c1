"""A real browser without a window, spoken to through a pipe: opens a page and says what happened.

(Chrome's remote debugging protocol; with `--remote-debugging-pipe` it is JSON between NUL bytes on the
file descriptors 3 and 4, so no port is opened.)
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
"""The browser's program; None where there is none."""

_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE_S = 60.0
_BEGIN = """\
import fcntl, os, sys
for there, here in zip((3, 4), [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 5) for fd in sys.argv[1:3]]):
    os.dup2(here, there)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""Puts the pipes where the browser wants them, whatever numbers they had here."""


class Browser:
    """One tab."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._rest = b""
        self._last_id = 0
        self._session: str | None = None
        self.requests: list[str] = []
        """The addresses that were asked for, in their order."""
        self.complaints: list[str] = []
        """What a console would show in red: exceptions, errors and warnings, refused loads."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> Any:
        """One command's result."""
        self._last_id += 1
        command = {"id": self._last_id, "method": method, "params": parameters}
        if self._session is not None:
            command["sessionId"] = self._session
        os.write(self._to, json.dumps(command).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last_id:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, path: Path) -> None:
        """Open a file and wait until its charts are drawn."""
        self.ask("Page.navigate", url=path.resolve().as_uri())
        self.wait_for("document.documentElement?.dataset.drawn !== undefined")

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.value(condition):
            assert time.monotonic() < deadline, (condition, self.complaints)
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """A JavaScript expression's value."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def look(self, *, dark: bool = False, paper: bool = False, width: int = 1180, height: int = 900) -> None:
        """As it looks in light or dark, on a screen of that width or on paper."""
        self.ask(
            "Emulation.setEmulatedMedia",
            media="print" if paper else "",  # Nothing: a screen, but paper when it is printed.
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def picture(self) -> bytes:
        """The whole page as a PNG."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.ask("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def print_out(self) -> bytes:
        """The page as a PDF."""
        return base64.b64decode(self.ask("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"])

    def _read(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_S
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            read = os.read(self._from, 1 << 20)
            assert read, "the browser has ended"
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\0")
        said: dict[str, Any] = json.loads(line)
        self._note(said)
        return said

    def _note(self, said: dict[str, Any]) -> None:
        told = said.get("params", {})
        match said.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            case "Runtime.exceptionThrown":
                details = told["exceptionDetails"]
                self.complaints.append(str(details.get("exception", details).get("description", details)))
            case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
                self.complaints.append(str([part.get("value") for part in told["args"]]))
            case "Log.entryAdded" if told["entry"]["level"] in ("error", "warning"):
                self.complaints.append(told["entry"]["text"])


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser of its own, with a fresh profile, ended afterwards."""
    assert BROWSER is not None
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        program = [BROWSER, *_FLAGS, f"--user-data-dir={profile}"]
        process = subprocess.Popen(
            [sys.executable, "-c", _BEGIN, str(to_read), str(from_write), *program],
            pass_fds=(to_read, from_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_read)
        os.close(from_write)
        try:
            yield Browser(to_write, from_read)
        finally:
            os.close(to_write)
            os.close(from_read)
            try:
                process.wait(timeout=10)  # It ends by itself once nobody speaks to it.
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
