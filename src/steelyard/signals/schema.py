"""The schema of a log: one row per signal, and the checks that follow from it.

The rows are the fields of `Log`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import is_real
from ..errors import CallError, LogError

Array = NDArray[np.float64]

JOINTS = "n"
"""Stands for the number of joints in a shape."""
METADATA = "steelyard"
"""Where a written file keeps metadata: effort, payload and units, as JSON."""


@dataclass(frozen=True)
class Signal:
    """One row of the schema.

    unit: the SI unit, alternatives divided by '|'.  meaning: one line for the documentation.
    shapes: allowed shapes per sample; `JOINTS` stands for the number of joints, () for one number.
    words: words of a column's name that mean this signal.  beside: the signal beside whose words
    they count, '' for none. components: for a signal that is not per joint, the ending of each
    column's name and its unit. slow: whether it changes slowly, so that holes of any length are
    interpolated.
    """

    unit: str
    meaning: str
    shapes: tuple[tuple[int | str, ...], ...] = ((JOINTS,),)
    words: tuple[str, ...] = ()
    beside: str = ""
    components: Mapping[str, str] = field(default_factory=dict)
    slow: bool = False
    name: str = ""

    @property
    def per_joint(self) -> bool:
        """Whether the first dimension after the samples may count joints."""
        return self.shapes[0][:1] == (JOINTS,)

    def column_labels(self, value: Array, joints: Sequence[str]) -> Sequence[str]:
        """Return a label per column of value.

        Joint names, components, or '' for one number per sample.
        """
        return tuple(self.components) or (joints if value.ndim > 1 else ("",))

    def check(self, value: Array, N: int, n: int, where: str) -> None:
        """Raise LogError where the shape of value does not fit N samples of n joints."""
        allowed = [(N, *(n if size == JOINTS else size for size in shape)) for shape in self.shapes]
        if value.shape not in allowed:
            expected = " or ".join(map(str, allowed))
            raise LogError(
                f"{where}{self.name} must be {expected} as t has {N} samples and q {n} joints,"
                f" found {value.shape}"
            )


def signal(
    unit: str | Mapping[str, str], meaning: str, words: str = "", **more: Any
) -> dict[str, Signal]:
    """Return the metadata of a dataclass field that is a row of the schema.

    `words` are divided by spaces. A signal of fixed components has {ending of the column's name:
    unit} for its unit.
    """
    if not isinstance(unit, str):
        more |= {"components": unit, "shapes": ((len(unit),),)}
        unit = ", ".join(dict.fromkeys(unit.values()))
    return {"signal": Signal(unit, meaning, words=tuple(words.split()), **more)}


def optional(unit: str | Mapping[str, str], meaning: str, words: str = "", **more: Any) -> Any:
    """Return a dataclass field for a row that a log may lack: None by default."""
    return field(default=None, metadata=signal(unit, meaning, words, **more))


def rows(log_type: Any) -> Mapping[str, Signal]:
    """Return the schema of a type of log: {name: row}, in the order of its fields."""
    return _rows(log_type)


@cache
def _rows(log_type: Any) -> Mapping[str, Signal]:
    return {
        f.name: replace(f.metadata["signal"], name=f.name)
        for f in fields(log_type)
        if "signal" in f.metadata
    }


@dataclass(frozen=True)
class Payload:
    """A payload that a log states: mass [kg], and what is known of its centre and inertia.

    The centre of mass [m] and the inertia about it [kg m2] (3 x 3) are in the axes of a frame.
    None means unknown: `identify` estimates it together with the robot from logs with and without
    the payload. An inertia is only known about a centre that is known.

    Parameters
    ----------
    mass : of the payload [kg].
    com : (3,) centre of mass in the frame [m]; None if it is not known.
    inertia : about the centre of mass, in the axes of the frame [kg m2]: one number, three
        principal moments or a matrix (3, 3); None if it is not known.
    frame : name of a link or frame; the end-effector by default.

    Examples
    --------
    >>> sy.Payload(2.805).com is None
    True
    >>> sy.Payload(2.5, com=(0, 0, 0.08), inertia=0.01, frame="tool0").com
    (0.0, 0.0, 0.08)
    """

    mass: float
    com: tuple[float, ...] | None = None
    inertia: Any = None
    frame: str | None = None

    def __post_init__(self) -> None:
        if not (is_real(self.mass) and isfinite(self.mass) and self.mass >= 0):
            raise CallError(
                f"payload: the mass is a number that is not negative [kg], not {self.mass!r}"
            )
        if self.com is None and self.inertia is not None:
            raise CallError(
                "payload: inertia is about the centre of mass; give com=(x, y, z) [m] with it, or"
                " neither"
            )
        object.__setattr__(self, "mass", float(self.mass))
        if self.com is not None:
            com = finite_numbers("com", self.com, (3,))
            object.__setattr__(self, "com", tuple(com.tolist()))
        if self.inertia is not None:
            inertia = np.asarray(self.inertia)
            inertia = inertia * np.eye(3) if inertia.shape in ((), (3,)) else inertia
            inertia = finite_numbers("inertia", inertia, (3, 3))
            object.__setattr__(self, "inertia", tuple(map(tuple, inertia.tolist())))

    @property
    def is_known(self) -> bool:
        """Whether mass, centre and inertia are all given."""
        return self.com is not None and self.inertia is not None


def finite_numbers(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """Return numbers of a payload as an array of this shape; raise CallError for anything else."""
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        array = np.full((), np.nan)
    if array.shape != shape or not np.all(np.isfinite(array)):
        shown = value.tolist() if isinstance(value, np.ndarray) else value
        raise CallError(f"payload: {name} must be {shape} finite numbers, found {shown}")
    return array


def frozen_array(name: str, value: ArrayLike | None, where: str = "") -> Array | None:
    """Return a read-only float64 array, the same one where it is that already; None for None."""
    if value is None:
        return None
    if isinstance(value, np.ndarray) and value.dtype == np.float64 and not value.flags.writeable:
        return value
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise LogError(f"{where}{name} is not an array of numbers: {error}") from None
    array.setflags(write=False)
    return array
