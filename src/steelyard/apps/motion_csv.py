"""Motions in CSV files: columns t (optional), q.JOINT, qd.JOINT, qdd.JOINT, found by name.

Or, without a header, by order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..csv_text import csv_text
from ..errors import LogError, suggest
from ..motion.trajectories.motion_check import NOTHING
from ..resource_limits import exists
from ..signals.read.column_table import ColumnTable
from ..signals.read.log_formats import TEXT, table_of_format

if TYPE_CHECKING:
    from ..simulation import Run

Array = NDArray[np.float64]
QUANTITIES = ("q", "qd", "qdd")


class MotionFile(NamedTuple):
    """Time (N,) where the file has it; q, qd, qdd (N, n); sentences about what was assumed."""

    t: Array | None
    q: Array
    qd: Array
    qdd: Array
    notes: tuple[str, ...]


def read_motion(path: Path, joints: Sequence[str]) -> MotionFile:
    """Read a motion.

    Rates that the file does not have at all are zero, with a note; a missing joint is an error.
    """
    if not exists(path, LogError):
        raise LogError(f"there is no file {path}")
    table = table_of_format(TEXT, path, None, None)
    first_line = 1 if table.headless else 2
    if table.headless:
        table = table.renamed(_names_by_order(path, len(table.names), joints))
    _check_numbers(path, table, first_line)
    columns = {quantity: _columns(path, table, quantity, joints) for quantity in QUANTITIES}
    if columns["q"] is None:
        raise LogError(
            f"{path} has no positions: expected columns {_wanted('q', joints)}; found"
            f" {', '.join(table.names)}"
        )
    zero = np.zeros_like(columns["q"])
    notes = tuple(
        f"{path} has no {quantity}: taken as zero"
        for quantity in QUANTITIES
        if columns[quantity] is None
    )
    q, qd, qdd = (
        zero if (value := columns[quantity]) is None else value for quantity in QUANTITIES
    )
    t = next((table.numbers(name) for name in ("t", "time") if name in table.columns), None)
    return MotionFile(t, q, qd, qdd, notes)


def torque_text(t: Array | None, tau: Array, joints: Sequence[str]) -> str:
    """Return torques as CSV text with all digits."""
    table = tau if t is None else np.column_stack([t, tau])
    return csv_text(
        [*(["t"] if t is not None else []), *(f"tau.{joint}" for joint in joints)], table.tolist()
    )


def run_text(run: Run) -> str:
    """Return a simulated motion as CSV text: t, then q, qd and tau of every joint.

    The first line says that a simulation does not check a motion.
    """
    names = [
        f"{quantity}.{joint}" for quantity in ("q", "qd", "tau") for joint in run.robot.joint_names
    ]
    rows = np.column_stack([run.t, run.q, run.qd, run.tau]).tolist()
    return f"# {NOTHING.line}\n" + csv_text(["t", *names], rows)


def _check_numbers(path: Path, table: ColumnTable, first_line: int) -> None:
    repeated = [
        name
        for name in table.names
        if re.fullmatch(r".* \(\d+\)", name) and name.rpartition(" (")[0] in table.columns
    ]
    if repeated:
        raise LogError(
            f"{path} names a column twice:"
            f" {', '.join(name.rpartition(' (')[0] for name in repeated)}"
        )
    for name, column in table.columns.items():
        for i, cell in enumerate(column.tolist()):
            if not isinstance(cell, float) or not np.isfinite(cell):
                raise LogError(
                    f"{path}, sample {i + 1} (line {i + first_line}), column {name}: {cell!r} is"
                    " not a finite number"
                )


def _names_by_order(path: Path, count: int, joints: Sequence[str]) -> list[str]:
    """Return names for a file without a header.

    The columns are q, qd and qdd of every joint, after t if there is one column more.
    """
    n = len(joints)
    timed, kinds = count % n == 1 and count > n, count // n
    if not (1 <= kinds <= 3 and count in (kinds * n, kinds * n + 1)) or (n == 1 and count > 3):
        raise LogError(
            f"{path} has {count} columns and no header: expected {n} (q), {2 * n} (q, qd) or"
            f" {3 * n} (q, qd, qdd), t before them or not"
        )
    named = [f"{quantity}.{joint}" for quantity in QUANTITIES[:kinds] for joint in joints]
    return ["t", *named] if timed and count == kinds * n + 1 else named


def _columns(path: Path, table: ColumnTable, quantity: str, joints: Sequence[str]) -> Array | None:
    """Return (N, n) of one quantity, called q.elbow, q_elbow, elbow.q or q3.

    None where the file has none of it.
    """
    names: list[str | None] = []
    for number, joint in enumerate(joints, start=1):
        spellings = (
            f"{quantity}.{joint}",
            f"{quantity}_{joint}",
            f"{joint}.{quantity}",
            f"{quantity}{number}",
        )
        # cells of a header have no spaces at their ends
        stripped = (spelling.strip() for spelling in spellings)
        names.append(next((name for name in stripped if name in table.columns), None))
    missing = [joint for joint, name in zip(joints, names, strict=True) if name is None]
    if len(missing) == len(joints):
        return None
    if missing:
        raise LogError(
            f"{path} lacks {_wanted(quantity, missing)}."
            f" {suggest(f'{quantity}.{missing[0]}', table.columns)}"
        )
    return np.column_stack([table.numbers(name) for name in names if name is not None])


def _wanted(quantity: str, joints: Sequence[str]) -> str:
    return ", ".join(f"{quantity}.{joint}" for joint in joints)
