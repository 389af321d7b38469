"""The guard in front of the page.

Host, Origin and token of every request and socket, and the size of what is sent.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode

from .address import Address

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LARGEST = 64 * 2**20  # bytes of a request
METHODS = ("GET", "HEAD", "POST")
SAFE = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self'"
    " 'unsafe-inline'; font-src 'self' data:; img-src 'self' data: blob:; connect-src 'self';"
    " worker-src 'self' blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


class Refused(Exception):
    """A request that is not answered: status and sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Guard:
    """An ASGI application that passes on only requests to this page that come from it."""

    def __init__(self, app: Any, address: Address, largest: int = LARGEST) -> None:
        self.app = app
        self.address = address
        self.largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, turn a token into a cookie, or hand the request on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        try:
            headers = single_headers(scope)
            self.check_place(scope, headers)
            if target := self.entered(scope):
                await self._welcome(send, target)
                return
            self.check_cookie(headers)
            check_path(scope)
            self.check_size(headers)
        except Refused as refusal:
            await refuse(scope, send, refusal)
            return
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
            return
        bounded = Bounded(receive, with_headers(send), self.largest)
        await self.app(scope, bounded.receive, bounded.send)

    def check_place(self, scope: Scope, headers: dict[str, str]) -> None:
        """Refuse requests for another host or from another page."""
        if headers.get("host", "").lower() not in self.address.hosts:
            raise Refused(421, "This page does not answer to that name.")
        method = scope.get("method", "GET")
        if method not in METHODS:
            raise Refused(405, f"This page knows {', '.join(METHODS)}.")
        origin = headers.get("origin")
        asks = scope["type"] == "http" and method in SAFE
        if origin is None and not asks:
            raise Refused(
                403, "A request that changes something must say which page it comes from."
            )
        if origin is not None and origin.lower() not in self.address.origins:
            raise Refused(403, "This page is not answered to.")
        away = headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")
        if away and not (
            asks and headers.get("sec-fetch-mode") == "navigate" and self.entered(scope)
        ):
            raise Refused(403, "This page is not answered to.")

    def entered(self, scope: Scope) -> str:
        """Return where to go from an address with the right token, '' for any other address."""
        if scope["type"] != "http" or scope["method"] not in SAFE or scope["path"] != "/":
            return ""
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        tokens = [value for key, value in query if key == "token"]
        if len(tokens) != 1 or not self._right(tokens[0]):
            return ""
        rest = urlencode([(key, value) for key, value in query if key != "token"])
        return f"/?{rest}" if rest else "/"

    def check_cookie(self, headers: dict[str, str]) -> None:
        """Refuse who did not enter with the token."""
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.address.cookie)
        except CookieError:
            cookie = None
        if cookie is None or not self._right(cookie.value):
            raise Refused(
                401, "Open the address that `steelyard page` printed: it ends in a token."
            )

    def check_size(self, headers: dict[str, str]) -> None:
        """Refuse what says that it is too large before any of it is read."""
        length = headers.get("content-length", "0")
        if not length.isdecimal() or not length.isascii():
            raise Refused(400, "Content-Length must be a number.")
        if int(length[:20]) > self.largest:
            raise Refused(413, f"A file may have {self.largest // 2**20} MB.")

    def _right(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.address.token.encode())

    async def _welcome(self, send: Send, target: str) -> None:
        cookie = f"{self.address.cookie}={self.address.token}; HttpOnly; SameSite=Strict; Path=/"
        headers = [
            (b"location", target.encode("latin-1")),
            (b"set-cookie", cookie.encode()),
            (b"cache-control", b"no-store"),
            *HEADERS,
        ]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def single_headers(scope: Scope) -> dict[str, str]:
    """Return the headers by name; refuse a request that says twice what decides."""
    headers_by_name: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        if key in headers_by_name and key in ("host", "origin", "content-length"):
            raise Refused(400, f"There are two {key} headers.")
        headers_by_name[key] = (
            f"{headers_by_name[key]}; {value.decode('latin-1')}"
            if key in headers_by_name
            else value.decode("latin-1")
        )
    return headers_by_name


def check_path(scope: Scope) -> None:
    """Refuse a path that leads up, in any spelling."""
    parts = scope["path"].replace("\\", "/").split("/")
    if (
        ".." in parts
        or "\0" in scope["path"]
        or "%2e" in scope["path"].lower()
        or "//" in scope["path"]
    ):
        raise Refused(400, "There is no such path.")


async def refuse(scope: Scope, send: Send, refusal: Refused) -> None:
    """Answer with a status and a sentence; a socket is closed before it opens."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": str(refusal)})
        return
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
        *HEADERS,
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{refusal}\n".encode()})


def with_headers(send: Send) -> Send:
    """Return `send` that adds what keeps browsers from mixing this page with others."""

    async def wrapped(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            names = {name for name, _ in HEADERS}
            message["headers"] = [
                *((n, v) for n, v in message.get("headers", ()) if n.lower() not in names),
                *HEADERS,
            ]
        await send(message)

    return wrapped


class Bounded:
    """A request whose body ends the exchange once it exceeds the limit."""

    def __init__(self, receive: Receive, send: Send, largest: int) -> None:
        self._receive, self._send, self._left = receive, send, largest
        self._largest, self._answered, self._over = largest, False, False

    async def receive(self) -> MutableMapping[str, Any]:
        """Return the next part of the body; an end of the connection once there was too much."""
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left >= 0:
            return message
        if not self._answered:
            self._answered = self._over = True
            await refuse(
                {"type": "http"},
                self._send,
                Refused(413, f"A file may have {self._largest // 2**20} MB."),
            )
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Pass an answer on, unless one was given already."""
        if not self._over:
            self._answered = True
            await self._send(message)
