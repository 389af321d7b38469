"""Files that a window and the server exchange: uploads, meshes of the robot, and results to keep.

All are found by number, none by path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ....errors import CallError, SteelyardError
from .uploads import uploaded_fit, uploaded_log, uploaded_robot

if TYPE_CHECKING:
    from ..window import PageWindow, Windows

LONGEST_NAME = 300


def add_routes(application: Any, windows: Windows) -> None:
    """Add the addresses of uploads, meshes and results to an application."""

    async def upload(request: Request) -> Response:
        return await _answer(
            windows, request, lambda window, body: take_upload(window, request, body)
        )

    async def mesh(request: Request) -> Response:
        return await _answer(
            windows, request, lambda window, _: mesh_of(window, int(request.path_params["number"]))
        )

    async def result(request: Request) -> Response:
        return await _answer(
            windows,
            request,
            lambda window, _: result_of(window, int(request.path_params["number"])),
        )

    application.add_route("/upload/{key}/{kind}", upload, methods=["POST"])
    application.add_route("/mesh/{key}/{number:int}", mesh, methods=["GET"])
    application.add_route("/result/{key}/{number:int}", result, methods=["GET"])


async def _answer(
    windows: Windows, request: Request, make: Callable[[PageWindow, bytes], Response]
) -> Response:
    """Return what `make` makes in a thread, or the sentence of its error."""
    body = await request.body()
    try:
        window = windows.find(request.path_params["key"])
        return await anyio.to_thread.run_sync(make, window, body)
    except SteelyardError as error:
        return PlainTextResponse(
            " ".join(str(error).split()), 422, headers={"cache-control": "no-store"}
        )


def take_upload(window: PageWindow, request: Request, body: bytes) -> Response:
    """Take a robot, a log or a saved fit into a window."""
    name = request.query_params.get("name", "")[:LONGEST_NAME]
    if request.path_params["kind"] == "robot":
        window.take_robot(uploaded_robot(name, body), "", meshes=False)
    elif request.path_params["kind"] == "log":
        if window.robot is None:
            raise CallError("a log needs a robot: choose one first")
        log, raw = uploaded_log(name, body, window.robot)
        window.take_log(log, "", raw)
    elif request.path_params["kind"] == "fit":
        window.take_fit(uploaded_fit(name, body), "")
    else:
        raise CallError("expected a robot, a log or a fit")
    return PlainTextResponse("taken")


def mesh_of(window: PageWindow, number: int) -> Response:
    """Return the triangles of a solid of the window's robot, as packed numbers."""
    from ....mechanism.formats.meshes import mesh_triangles
    from ....motion.solids import robot_solids

    solids = robot_solids(window.robot, window.meshes) if window.robot is not None else ()
    if not 0 <= number < len(solids) or solids[number].file is None:
        raise CallError("there is no such mesh")
    triangles = mesh_triangles(solids[number].file)  # type: ignore[arg-type]
    return Response(
        triangles.astype("<f4").tobytes(),
        media_type="application/octet-stream",
        headers={"cache-control": "no-store"},
    )


def result_of(window: PageWindow, number: int) -> Response:
    """Return a result that the window made, as a file to keep."""
    if not 0 <= number < len(window.results):
        raise CallError("there is no such result")
    name, data = window.results[number]
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(data, media_type="application/octet-stream", headers=headers)
