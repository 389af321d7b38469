"""`steelyard page [ROBOT] [LOG]`: a page to work in, in a browser of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import CallError
from ...option_groups.logs import LogReadingOptions
from ..group_options import TypedOptions, takes_options
from ..table_words import LOG_ENDINGS

if TYPE_CHECKING:
    from ..page.server.address import Address


@takes_options(lambda: (LogReadingOptions,))
def page(
    robot: Annotated[
        str | None, typer.Argument(metavar="[ROBOT]", help="A built-in name or a file.")
    ] = None,
    log: Annotated[
        Path | None,
        typer.Argument(metavar="[LOG]", help=f"A log: {LOG_ENDINGS}, or a rosbag2 folder."),
    ] = None,
    folder: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder that the page reads and writes in.")
    ] = Path(),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; a free one if not given.")
    ] = 0,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; other machines need --expose.")
    ] = "127.0.0.1",
    expose: Annotated[
        bool, typer.Option("--expose", help="Let other machines in, if they have the token.")
    ] = False,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST:PORT", help="A further name that the page is reached by."),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address, and open no browser.")
    ] = False,
    *,
    options: TypedOptions,
) -> None:
    """Work with a robot and its logs on a page in a browser.

    Look, play, identify, design, compare, export. Ctrl-C ends it.

    The page listens on this machine alone and lets in who has the token of the address that is
    printed.
    """
    from ..config import columns_of
    from ..inputs import load_robot, read_log_file
    from ..output import output
    from ..page.server.address import check_host, host_names
    from ..page.server.folder import Folder
    from ..page.server.serve import PageOptions, require_page, serve

    require_page()
    if log is not None and robot is None:
        raise CallError("a log needs a robot: steelyard page ROBOT LOG")
    mapping, effort = columns_of({}, options)
    address, names = check_host(host, expose), host_names(name or ())
    chosen = Folder.of(folder)
    if robot is not None:
        loaded = load_robot(robot, quiet=True)
        if log is not None:
            read_log_file(log, loaded, mapping, effort, quiet=True)

    def ready(address: Address) -> None:
        output().record(address=address.url)
        print(address.url, flush=True)
        if not no_open:
            import webbrowser

            webbrowser.open(address.url)

    serve(PageOptions(chosen, robot or "", log, mapping, effort), address, port, names, ready)
