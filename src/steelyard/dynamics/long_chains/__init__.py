"""Algorithms for long chains: all vectors in the base frame.

The entry of a matrix that belongs to two joints is then a scalar product of two spatial vectors,
without a change of frames between them. On short chains the transforms to the base frame cost more
than they save.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..implementation import Implementation

# Mean number of joints that move a body. Below the first, vectors in the base frame never need
# fewer operations; above the second, vectors in body frames never do. Between them both are traced.
_LONG, _SHORT = 5, 10


def for_long_chains(function: Callable[..., Any], needs_uncoupled: bool = False) -> Implementation:
    """Return the row of a function that works in the base frame."""
    return Implementation(function, needs_uncoupled=needs_uncoupled, min_depth=_LONG)


def for_short_chains(function: Callable[..., Any], needs_uncoupled: bool = False) -> Implementation:
    """Return the row of a function that works in the body frames."""
    return Implementation(function, needs_uncoupled=needs_uncoupled, max_depth=_SHORT)
