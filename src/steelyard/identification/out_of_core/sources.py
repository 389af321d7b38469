"""Sources: logs in memory and logs in files, looked at and read where they are needed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import LogError, SteelyardError, SteelyardWarning
from ...robot import Robot
from ...signals.log import Log
from ...signals.log_files.find_logs import LogSource, find_logs
from ...signals.log_files.log_file import LogFile
from ..result.provenance import digest
from ..samples.samples import list_of_logs, require_log
from .out_of_core_thresholds import THRESHOLDS
from .run_tasks import run_tasks

Source = Log | LogFile


def sources_of(log: Log | LogSource | Iterable[Log | LogSource]) -> list[Source]:
    """Return one or more logs, given alone or by any iterable, files as `find_logs` finds them.

    LogError if there is none.
    """
    paths = (str, os.PathLike, LogFile)
    entries = [log] if isinstance(log, paths) else list_of_logs(log)
    sources: list[Source] = []
    for number, each in enumerate(entries, 1):
        if isinstance(each, paths):
            sources += find_logs(each)
            continue
        try:
            require_log(each)
        except LogError as error:
            raise (
                LogError(f"log {number} of {len(entries)}: {error.message}")
                if len(entries) > 1
                else error
            ) from None
        sources.append(each)
    return sources


def is_archive(sources: Sequence[Source], shared: bool = False) -> bool:
    """Return whether logs are folded one by one.

    These are several logs of more than `bytes_in_memory` bytes, in files or `shared` between
    workers. A single file counts as several logs if it can be read in parts.
    """
    if all(isinstance(source, Log) for source in sources) and not shared:
        return False
    several = len(sources) > 1 or any(
        isinstance(source, LogFile) and source.divisible for source in sources
    )
    return several and sum(map(log_bytes, sources)) > THRESHOLDS.bytes_in_memory


def log_bytes(source: Source) -> int:
    """Return how many bytes a log has; 0 for a file that cannot be looked at."""
    if isinstance(source, Log):
        return sum(np.asarray(getattr(source, name)).nbytes for name in ("t", *source.signals))
    try:
        return source.size
    except LogError:
        return 0


def name_of(source: Source) -> str:
    """Return the name of a log: its path, or where it was read from."""
    return source.name if isinstance(source, LogFile) else source.source


def look_at(source: Source, most: int) -> tuple[tuple[Source, str], ...]:
    """Return the parts of a log of at most `most` rows, each with the digest of its content."""
    if isinstance(source, Log):
        return ((source, digest(source)),)
    parts, content = source.parts(most), source.content_digest()
    return tuple((part, part.digest(content)) for part in parts)


def read_source(source: Source, robot: Robot) -> Log:
    """Return the log, read if it is in a file."""
    return source if isinstance(source, Log) else source.read(robot)


def read_all(robot: Robot, sources: Sequence[Source], executor: Any, leave_out: bool) -> list[Log]:
    """Return all logs, those in files read by the executor.

    Damaged logs are left out, or raise LogError with their names.
    """
    calls = [(source, robot) for source in sources if isinstance(source, LogFile)]
    if not calls:
        return [source for source in sources if isinstance(source, Log)]
    answers = iter(
        [
            answer
            for _, answer in sorted(
                run_tasks(read_source, calls, executor), key=lambda pair: pair[0]
            )
        ]
    )
    read = {
        name_of(source): next(answers) if isinstance(source, LogFile) else source
        for source in sources
    }
    bad = {name: str(answer) for name, answer in read.items() if isinstance(answer, SteelyardError)}
    logs = [answer for answer in read.values() if not isinstance(answer, SteelyardError)]
    refuse_damaged(bad, leave_out, len(logs))
    return logs


def refuse_damaged(bad: Mapping[str, str], leave_out: bool, good: int) -> None:
    """Raise LogError for damaged logs, or warn if they are to be left out."""
    if not bad:
        return
    if len(bad) == 1 and not good:
        raise LogError(reasons(bad))
    message = f"{len(bad)} of {good + len(bad)} logs cannot be used: {reasons(bad)}"
    if not good or not leave_out:
        raise LogError(message + ("; damaged='leave out' goes on without them" if good else ""))
    warnings.warn(f"{message}; they are left out", SteelyardWarning, stacklevel=2)


def reasons(bad: Mapping[str, str]) -> str:
    """Return which logs cannot be used, and why, as part of a sentence."""
    return list_names(
        [
            why if name and name.partition(" rows ")[0] in why else f"{name or 'a log'}: {why}"
            for name, why in bad.items()
        ]
    )


def list_names(names: Sequence[str]) -> str:
    """Return names as part of a sentence, the first few of many."""
    return ", ".join(names[: THRESHOLDS.listed_logs]) + (
        f", and {len(names) - THRESHOLDS.listed_logs} more"
        if len(names) > THRESHOLDS.listed_logs
        else ""
    )
