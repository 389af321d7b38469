"""Logs of a command line.

Files that are read at once, or folders, patterns and addresses whose logs are read one by one by
workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import CallError
from ..option_groups.identification import MANY_LOGS
from .inputs import ADDRESS, is_one_log, read_log_file
from .table_words import LOG_ENDINGS

if TYPE_CHECKING:
    from ..robot import Robot
    from ..signals.log import Log
    from ..signals.log_files.log_file import LogFile

Logs = Annotated[
    list[Path],
    typer.Argument(
        metavar="LOG...",
        help=(
            f"Logs: {LOG_ENDINGS}, rosbag2; folders, data sets, 'patterns*' or addresses of many"
            " of them."
        ),
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Share many logs between so many processes.",
        rich_help_panel=MANY_LOGS,
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Share many logs between the workers of a Dask cluster.",
        rich_help_panel=MANY_LOGS,
    ),
]


def given_logs(
    paths: Sequence[Path], robot: Robot, mapping: Path | None, effort: str | None
) -> list[Log | LogFile]:
    """Return logs that are read already, with their remarks on stderr.

    Or, of many, files that are read where they are folded.
    """
    from ..identification.out_of_core.sources import is_archive
    from ..signals.log_files.find_logs import find_logs

    missing = not all(path.exists() for path in paths)  # which reading says
    if all(map(is_one_log, paths)) and (missing or not is_archive(find_logs(paths))):
        return [read_log_file(path, robot, mapping, effort) for path in paths]
    return list(find_logs([address(path) for path in paths], mapping=mapping, effort=effort))


def address(path: Path) -> str:
    """Return a path as it was typed, an address with both of its slashes."""
    return ADDRESS.sub(r"\1://", str(path))


@contextmanager
def executor_of(workers: int | None, dask: str | None) -> Iterator[Any]:
    """Give what `executor=` takes for the two options.

    The connection to a cluster ends with the block.
    """
    if dask is None:
        yield workers
        return
    if workers is not None:
        raise CallError(
            "--workers and --dask: give one of them; the number of a cluster's workers is its own"
        )
    from ..identification.out_of_core.run_tasks import dask_client

    with dask_client(dask) as client:
        yield client
