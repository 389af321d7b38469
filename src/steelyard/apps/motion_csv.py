"""Motions in CSV files: columns t (optional), q.JOINT, qd.JOINT, qdd.JOINT, found by name; or, without a header, by order."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError, choices

Array = NDArray[np.float64]
QUANTITIES = ("q", "qd", "qdd")


class Motion(NamedTuple):
    """Time (N,) where the file has it; q, qd, qdd (N, n); sentences about what was assumed."""

    t: Array | None
    q: Array
    qd: Array
    qdd: Array
    notes: tuple[str, ...]


def read_motion(path: Path, joints: Sequence[str]) -> Motion:
    """Read a motion. Rates that the file does not have at all are taken as zero, and said so; a missing joint is an error."""
    header, rows = _split(path)
    names = header or _names_by_order(path, len(rows[0]), joints)
    table = _numbers(path, names, rows, first_line=2 if header else 1)
    columns = dict(zip(names, table.T, strict=True))
    found = {quantity: _columns(path, columns, quantity, joints) for quantity in QUANTITIES}
    if found["q"] is None:
        raise LogError(f"{path} has no positions: expected columns {_wanted('q', joints)}; found {', '.join(names)}")
    zero = np.zeros_like(found["q"])
    notes = tuple(f"{path} has no {quantity}: taken as zero" for quantity in QUANTITIES if found[quantity] is None)
    q, qd, qdd = (zero if found[quantity] is None else found[quantity] for quantity in QUANTITIES)
    return Motion(columns.get("t", columns.get("time")), q, qd, qdd, notes)  # type: ignore[arg-type]


def torque_text(t: Array | None, tau: Array, joints: Sequence[str]) -> str:
    """Torques as CSV text, every digit kept."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*(["t"] if t is not None else []), *(f"tau.{joint}" for joint in joints)])
    table = tau if t is None else np.column_stack([t, tau])
    writer.writerows([repr(x) for x in row] for row in table.tolist())
    return out.getvalue()


def _split(path: Path) -> tuple[list[str] | None, list[list[str]]]:
    """Header (None where the first line is numbers) and rows of cells."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise LogError(f"there is no file {path}") from None
    except UnicodeDecodeError:
        raise LogError(f"{path} is not a text file: expected CSV in UTF-8") from None
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise LogError(f"{path} is empty: expected a header and one line per sample")
    delimiter = max(",;\t", key=lines[0].count)
    cells = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
    header = None if all(_is_number(cell) for cell in cells[0]) else cells.pop(0)
    if not cells:
        raise LogError(f"{path} has a header and no samples")
    return header, cells


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(path: Path, names: Sequence[str], rows: list[list[str]], first_line: int) -> Array:
    if len(set(names)) < len(names):
        raise LogError(f"{path} names a column twice: {', '.join(sorted({n for n in names if list(names).count(n) > 1}))}")
    table = np.empty((len(rows), len(names)))
    for i, row in enumerate(rows):
        if len(row) != len(names):
            raise LogError(f"{path}, sample {i + 1}: {len(row)} cells where {len(names)} columns were expected")
        for j, cell in enumerate(row):
            value = float(cell) if _is_number(cell) else np.nan
            if not np.isfinite(value):
                raise LogError(f"{path}, sample {i + 1} (line {i + first_line}), column {names[j]}: {cell!r} is not a finite number")
            table[i, j] = value
    return table


def _names_by_order(path: Path, count: int, joints: Sequence[str]) -> list[str]:
    """Names for a file without a header: q of every joint, then qd, then qdd, with a leading t where one column is left over."""
    n = len(joints)
    timed, kinds = count % n == 1 and count > n, count // n
    if not (1 <= kinds <= 3 and count in (kinds * n, kinds * n + 1)) or (n == 1 and count > 3):
        raise LogError(
            f"{path} has {count} columns and no header: expected {n} (q), {2 * n} (q, qd) or {3 * n} (q, qd, qdd), t before them or not"
        )
    named = [f"{quantity}.{joint}" for quantity in QUANTITIES[:kinds] for joint in joints]
    return ["t", *named] if timed and count == kinds * n + 1 else named


def _columns(path: Path, columns: dict[str, Array], quantity: str, joints: Sequence[str]) -> Array | None:
    """(N, n) of one quantity, or None where the file has none of it."""
    places = [_find(columns, quantity, joint, i) for i, joint in enumerate(joints, start=1)]
    missing = [joint for joint, place in zip(joints, places, strict=True) if place is None]
    if len(missing) == len(joints):
        return None
    if missing:
        raise LogError(f"{path} lacks {_wanted(quantity, missing)}. {choices(f'{quantity}.{missing[0]}', columns)}")
    return np.column_stack([columns[place] for place in places if place is not None])


def _find(columns: dict[str, Array], quantity: str, joint: str, number: int) -> str | None:
    """The column of a joint: q.elbow, q_elbow, elbow.q or q3."""
    spellings = (f"{quantity}.{joint}", f"{quantity}_{joint}", f"{joint}.{quantity}", f"{quantity}{number}")
    return next((name for name in spellings if name in columns), None)


def _wanted(quantity: str, joints: Sequence[str]) -> str:
    return ", ".join(f"{quantity}.{joint}" for joint in joints)
