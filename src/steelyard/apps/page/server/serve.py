"""The server of the page: NiceGUI behind the guard, on one socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....errors import CallError, require_package
from .address import Address, listening_socket
from .folder import Folder
from .guard import Guard

if TYPE_CHECKING:
    import socket

    from ..window import PageWindow, Windows

LARGEST_MESSAGE = 2**20  # bytes of a message of a browser
GONE = 120  # [s] that a window may be out of reach until its elements are forgotten


@dataclass(frozen=True)
class PageOptions:
    """The folder that the page works in, and the initial robot and log of a new window.

    Also the kind of the log's efforts.
    """

    folder: Folder
    robot: str = ""
    log: Path | None = None
    mapping: Path | None = None
    effort: str | None = None


def require_page() -> None:
    """Raise MissingExtra if the packages of the page are absent."""
    for package in ("nicegui", "plotly"):
        require_package(package, "page", "the page")


def serve(
    options: PageOptions,
    host: str,
    port: int,
    names: tuple[str, ...],
    ready: Callable[[Address], None],
) -> None:
    """Serve the page until it is interrupted.

    `ready` is called with the address once the socket listens.
    """
    listening = listening_socket(host, port)
    address = Address(host, listening.getsockname()[1], names=names)
    try:
        asyncio.run(_serve(options, address, listening, ready))
    finally:
        listening.close()


async def _serve(
    options: PageOptions,
    address: Address,
    listening: socket.socket,
    ready: Callable[[Address], None],
) -> None:
    import uvicorn

    windows, application = application_of(options)
    config = uvicorn.Config(
        Guard(application, address), log_level="error", access_log=False, server_header=False,
        proxy_headers=False, lifespan="on",
        ws="websockets-sansio", ws_max_size=LARGEST_MESSAGE, timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(config)
    ready(address)
    try:
        await server.serve(sockets=[listening])
    finally:
        windows.end()


def application_of(options: PageOptions) -> tuple[Windows, Any]:
    """Return the windows and the application.

    `/` opens a new window, `/w/KEY` is that window, which uploads to /upload and reads /mesh.
    """
    from fastapi import FastAPI
    from fastapi.responses import PlainTextResponse, RedirectResponse
    from nicegui import app, ui

    from ..views.layout import build_page
    from ..window import Windows as AllWindows
    from .exchange import add_routes

    windows = AllWindows(options.folder)
    application = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    async def new_window() -> RedirectResponse:
        return RedirectResponse(
            f"/w/{windows.open().key}", 303, headers={"cache-control": "no-store"}
        )

    def window(key: str) -> PlainTextResponse | None:
        try:
            opened = windows.find(key)
        except CallError as error:
            return PlainTextResponse(f"{error}\n", 404)
        begin(opened, options)
        build_page(opened)
        return None

    application.add_api_route("/", new_window, response_model=None)
    add_routes(application, windows)
    ui.page("/w/{key}", response_timeout=30)(window)
    app.on_shutdown(windows.end)
    ui.run_with(
        application, title="steelyard", favicon=ICON, dark=None, language="en-US", tailwind=False,
        gzip_middleware_factory=None,
        reconnect_timeout=GONE, show_welcome_message=False, binding_refresh_interval=None,
    )  # fmt: skip
    return windows, application


def begin(window: PageWindow, options: PageOptions) -> None:
    """Load the initial robot and log of a window; an error becomes its `problem`."""
    if window.robot is not None or not options.robot:
        return
    from ....errors import SteelyardError
    from ....robot import load
    from ..opened_log import read_both

    try:
        window.take_robot(load(options.robot), options.robot)
        if options.log is not None and window.robot is not None:
            log, raw = read_both(options.log, window.robot, options.mapping, options.effort)
            window.take_log(log, str(options.log), raw)
    except SteelyardError as error:
        window.problem = str(error)


ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32"'
    ' rx="7" fill="#1f4e8c"/><path d="M4 12h24M12 12v-5M8 12l-3 8h6zM24 12v8" stroke="#fff"'
    ' stroke-width="2.2" fill="none" stroke-linejoin="round"/><circle cx="24" cy="22" r="3.4"'
    ' fill="#fff"/></svg>'
)
