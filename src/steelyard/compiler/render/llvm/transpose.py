"""Transpose between rows in memory (samples) and vectors (one column of several samples).

Columns are processed in pairs: two neighbours of every row are one load or store of two doubles,
which never straddles a cache line of an array allocated by NumPy. Square tiles of full-width stores
take fewer instructions. But such an array begins 16 bytes into a line, so that every store would
straddle a line, which is slower.
"""

from __future__ import annotations

from collections.abc import Sequence

from .writer import Writer


def pair_columns(size: int) -> list[int]:
    """Return the first columns of the pairs that cover a row.

    The last pair overlaps if the row is odd.
    """
    return sorted({min(c, max(size - 2, 0)) for c in range(0, size, 2)})


def read_pair(w: Writer, rows: Sequence[str], c: int, size: int) -> tuple[str, ...]:
    """Emit columns c and c + 1 of every row as two vectors, or one for rows of one column."""
    if size == 1:
        value = "poison"
        for lane, row in enumerate(rows):
            value = w.line(
                f"insertelement {w.V} {value}, double {w.load('double', row)}, i64 {lane}"
            )
        return (value,)
    pairs = [w.load("<2 x double>", w.at(row, c)) for row in rows]
    even, odd = join(w, pairs[0::2], 2), join(w, pairs[1::2], 2)
    low = _interleaved(w.lanes)
    return w.shuffle(even, odd, low), w.shuffle(even, odd, [i + 1 for i in low])


def write_pair(w: Writer, rows: Sequence[str], c: int, values: Sequence[str]) -> None:
    """Emit stores of two vectors into columns c and c + 1 of every row, or of one vector.

    The stores are volatile so that LLVM does not try to merge neighbours, which took most of the
    compile time.
    """
    n = w.lanes
    if len(values) == 1:
        for lane, row in enumerate(rows):
            w.store("double", w.line(f"extractelement {w.V} {values[0]}, i64 {lane}"), row)
        return
    low = _interleaved(n)
    for parity, order in enumerate((low, [i + 1 for i in low])):
        mixed = w.shuffle(values[0], values[1], order)
        for pair in range(n // 2):
            x = w.shuffle(mixed, "poison", (2 * pair, 2 * pair + 1), n)
            w.do(
                f"store volatile <2 x double> {x}, ptr {w.at(rows[2 * pair + parity], c)}, align 8"
            )


def join(w: Writer, values: list[str], width: int) -> str:
    """Concatenate vectors of `width` elements."""
    while len(values) > 1:
        values = [
            w.shuffle(a, b, range(2 * width), width)
            for a, b in zip(values[0::2], values[1::2], strict=True)
        ]
        width *= 2
    return values[0]


def _interleaved(n: int) -> list[int]:
    """Return the order that takes the even elements of two vectors of n alternately."""
    return [i + j for i in range(0, n, 2) for j in (0, n)]
