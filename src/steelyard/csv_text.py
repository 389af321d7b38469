"""CSV text: every cell is quoted where it needs to be (RFC 4180), numbers have all digits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV text.

    Parameters
    ----------
    header : names of the columns
    rows : cells; floats are written with all digits, text as it is

    Returns
    -------
    Lines that end in a line feed; `csv.reader` gives the same cells back.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(
        [repr(cell) if isinstance(cell, float) else cell for cell in row] for row in rows
    )
    return text.getvalue()
