"""The time of a table in seconds: seconds and nanoseconds, other units, times since 1970, dates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError, mention
from ..signal_thresholds import THRESHOLDS
from ..units import UNITS, spelled
from .column_table import ColumnTable, is_text
from .columns import NANO, NamedColumn, name_words

Array = NDArray[np.float64]

EPOCHS = ((1e17, "ns"), (1e14, "us"), (1e11, "ms"))
"""Times since 1970 are recognised by their size."""


class Time(NamedTuple):
    """Time t [s] (N,), None without a time column; remarks; and the unit in the file.

    The unit is None for seconds.
    """

    t: Array | None
    remarks: tuple[str, ...] = ()
    unit: str | None = None


def read_time(
    table: ColumnTable, parsed: Sequence[NamedColumn], column: str | None, unit: str | None
) -> Time:
    """Return the time of a table.

    From the named column and unit, or from columns whose names mean time.
    """
    if column is not None:
        chosen = [next((c for c in parsed if c.name == column), NamedColumn(column, "t"))]
    else:
        chosen = choose_columns(
            table, [c for c in parsed if c.quantity == "t" and np.ndim(table.columns[c.name]) == 1]
        )
    if not chosen:
        return Time(None)
    if len(chosen) == 2:
        seconds, nanos = (table.numbers(c.name) for c in chosen)
        start = seconds[np.isfinite(seconds)][:1].sum()
        return Time((seconds - start) + nanos * 1e-9, ("Time counts from the first message.",))
    ticks = table.column(chosen[0].name)
    if is_text(ticks):
        return Time(from_dates(table, chosen[0].name), ("Time counts from the first sample.",))
    return from_ticks(np.asarray(ticks), unit or chosen[0].unit, chosen[0].name)


def choose_columns(table: ColumnTable, times: list[NamedColumn]) -> list[NamedColumn]:
    """Return the column of time, or a pair of seconds and nanoseconds.

    Raise LogError if several could be it.
    """
    nano = [c for c in times if NANO & set(name_words(c.name))]
    if len(nano) == 1:
        whole = [c for c in times if c not in nano and c.label == nano[0].label]
        if len(whole) == 1:
            return [*whole, *nano]
    plain = [c for c in times if c.label == ""] or times
    named = [c for c in plain if c.name.strip().lower() in ("t", "time")]
    plain = named if len(named) == 1 else plain
    if len(plain) > 1:
        raise LogError(
            f"{table.source}: several columns could be the time:"
            f" {', '.join(c.name for c in plain)}; say which: {mention('columns', {'t': '...'})}"
        )
    return plain


def from_ticks(ticks: NDArray[np.generic], unit: str | None, name: str) -> Time:
    """Convert ticks of a unit to seconds.

    Times since 1970 start at zero, so that no digits are lost.
    """
    t = np.asarray(ticks, np.float64)
    finite = np.flatnonzero(np.isfinite(t))
    largest = float(np.max(np.abs(t[finite]))) if len(finite) else 0.0
    stated = unit is not None
    unit = unit or next((u for size, u in EPOCHS if largest > size), "s")
    step = UNITS["s"][spelled(unit)]
    remarks = () if unit == "s" else (f"Time was read in {unit} from column '{name}'.",)
    if (
        unit == "s"
        and not stated
        and len(finite) > 1
        and (gap := float(np.median(np.diff(t[finite])))) >= THRESHOLDS.longest_interval
    ):
        remarks = (
            (
                f"The time goes in steps of {gap:.4g} s, if it is in seconds. If it is in"
                " milliseconds, say time_unit='ms'."
            ),
        )
    if largest * step > 1e8:
        t, remarks = (
            np.asarray(ticks - ticks[finite[0]], np.float64),
            (
                *remarks,
                "Time counts from the first sample.",
            ),
        )
    return Time(t * step, remarks, None if unit == "s" else unit)


def from_dates(table: ColumnTable, name: str) -> Array:
    """Return seconds from the first of dates such as 2024-05-01T12:00:00.005."""
    column = table.column(name)
    try:
        stamps = np.array(
            [str(cell).strip().replace(" ", "T").removesuffix("Z") for cell in column],
            dtype="datetime64[ns]",
        )
    except ValueError as error:
        raise LogError(
            f"{table.source}: column '{name}' is neither numbers nor dates: {error}"
        ) from None
    return np.asarray((stamps - stamps[0]).astype(np.int64) * 1e-9)
