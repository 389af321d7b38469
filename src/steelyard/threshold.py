"""Fields of threshold dataclasses: a value with the way it was chosen."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def threshold(value: Any, chosen: str) -> Any:
    """Return a dataclass field with a default value, and in its metadata how that was chosen.

    Parameters
    ----------
    value : a number, or a tuple of numbers
    chosen : how and on which data; "convention", "computing time" or "numerical tolerance" where
        nothing was measured
    """
    return field(default=value, metadata={"chosen": chosen})
