"""Where the page listens.

Loopback, or an address that was asked for in words; and the names that it may be called by.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field

from ....errors import CallError

LOOPBACK = "127.0.0.1"
TOKEN_BYTES = 32
LONGEST_NAME = 253


@dataclass(frozen=True)
class Address:
    """Host and port of the socket, the access token, and further host names of the page."""

    host: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES), repr=False)
    names: tuple[str, ...] = ()

    @property
    def hosts(self) -> frozenset[str]:
        """Values of the Host header that are answered."""
        ip = ipaddress.ip_address(self.host)
        spelled = f"[{self.host}]" if ip.version == 6 else self.host
        near = (LOOPBACK, "localhost") if ip.is_loopback or ip.is_unspecified else ()
        bare = {*near, *(() if ip.is_unspecified else (spelled,))}
        return frozenset(
            {f"{name}:{self.port}" for name in bare}
            | (bare if self.port == 80 else set())
            | set(self.names)
        )

    @property
    def origins(self) -> frozenset[str]:
        """Values of the Origin header that are answered."""
        return frozenset(
            f"{scheme}://{host}"
            for host in self.hosts
            for scheme in ("http", *(("https",) if host in self.names else ()))
        )

    @property
    def cookie(self) -> str:
        """Name of the cookie: browsers share cookies between ports."""
        return f"steelyard-{self.port}"

    @property
    def url(self) -> str:
        """What to open."""
        ip = ipaddress.ip_address(self.host)
        name = (
            "localhost" if ip.is_unspecified else f"[{self.host}]" if ip.version == 6 else self.host
        )
        return (
            f"http://{self.names[0] if self.names else f'{name}:{self.port}'}/?token={self.token}"
        )


def check_host(host: str, expose: bool) -> str:
    """Return the IP address to listen on.

    CallError if it is not an address, or if others could reach it and `expose` was not given.
    """
    try:
        address = ipaddress.ip_address(LOOPBACK if host == "localhost" else host)
    except ValueError:
        raise CallError(
            f"--host: {host!r} is not an IP address; leave it out to listen on {LOOPBACK}, which"
            " only this machine reaches"
        ) from None
    if not address.is_loopback and not expose:
        raise CallError(
            f"--host {host} can be reached from other machines, which could then read and write"
            " files of the page's folder: say --expose to allow that to everyone with the token, or"
            " leave --host out"
        )
    return str(address)


def host_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of the page as they stand in a Host header, such as robot-pc:8080.

    CallError for what cannot stand there.
    """
    for name in names:
        if (
            not name
            or len(name) > LONGEST_NAME
            or not name.isascii()
            or any(sign in name for sign in "/\\@?#, \t*")
            or not name.isprintable()
        ):
            raise CallError(
                f"--name: {name!r} is not the name of a host; write for example robot-pc:8080"
            )
    return tuple(name.lower() for name in names)


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an IP address; port 0 takes a free one.

    CallError if the port is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise CallError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}; give another --port,"
            " or none for a free one"
        ) from None
