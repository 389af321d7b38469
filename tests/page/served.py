"""A page that is served in its own process, and plain requests to it in which every header can
be wrong.
"""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

REPOSITORY = Path(__file__).parents[2]
STARTED = 180  # [s]


@dataclass(frozen=True)
class Served:
    url: str
    process: subprocess.Popen[str]

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def port(self) -> int:
        return int(self.host.rpartition(":")[2])

    @property
    def token(self) -> str:
        return self.url.partition("token=")[2]

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    @property
    def cookie(self) -> str:
        return f"steelyard-{self.port}={self.token}"

    def ask(
        self, path: str, method: str = "GET", body: bytes | None = None, **headers: str | None
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of a request.

        `_` in the names of headers stands for `-`, None leaves a usual one out.
        """
        usual = {"host": self.host, "cookie": self.cookie} | (
            {"origin": self.origin} if method != "GET" else {}
        )
        asked = usual | {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in asked.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None and "content-length" not in asked:
                connection.putheader("content-length", str(len(body)))
            connection.endheaders()
            if body is not None:
                connection.send(body)
            answer = connection.getresponse()
            return (
                answer.status,
                {name.lower(): value for name, value in answer.getheaders()},
                answer.read(),
            )
        finally:
            connection.close()

    def handshake(self, **headers: str | None) -> int:
        """Status of a request for a socket: 101 if it opens."""
        usual = {"host": self.host, "cookie": self.cookie, "origin": self.origin}
        asked = usual | {
            "upgrade": "websocket",
            "connection": "Upgrade",
            "sec-websocket-version": "13",
        }
        asked |= {"sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="} | headers
        lines = ["GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in asked.items() if value is not None]
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            return int(connection.recv(4096).split(b" ")[1])

    def new_window(self) -> str:
        """The path of a new window."""
        status, headers, _ = self.ask("/")
        assert status == 303
        return headers["location"]


@contextmanager
def served(*arguments: str, folder: Path | None = None) -> Iterator[Served]:
    """A page for the length of the block: `steelyard page` with the arguments, in a folder."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY)])
    }
    for name in [name for name in environment if name.startswith(("PYTEST_", "COV_"))]:
        environment.pop(name)  # NiceGUI behaves otherwise within tests
    command = [sys.executable, "-m", "steelyard", "page", *arguments, "--no-open"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder
    )
    assert process.stdout is not None
    try:
        result = Served(process.stdout.readline().strip(), process)
        assert result.url, f"the page did not start: exit code {process.wait()}"
        _wait(result)
        yield result
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _wait(page: Served) -> None:
    began = time.monotonic()
    while time.monotonic() - began < STARTED:
        with suppress(OSError):
            if page.ask("/")[0] == 303:
                return
        time.sleep(0.02)
    raise AssertionError("the page does not answer")
