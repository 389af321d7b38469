"""Checks of the arguments of public functions.

Each check returns the argument in its type, or raises a CallError that carries its name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .errors import CallError, in_python, suggest

Array = NDArray[np.float64]
T = TypeVar("T")


def bad_argument(what: str, problem: str) -> CallError:
    """Return the error for an argument, `what`, which may follow the name of a function.

    `what` is a name such as "cutoff", "static_poses: margin" or "mask of 'joint1'".
    """
    name, _, rest = what.rpartition(": ")[2].partition(" ")
    is_argument = name.isidentifier() and (not rest or rest.startswith("of '"))
    return CallError(f"{what}{problem}", argument=name if is_argument else None)


def real_number(
    what: str, value: object, least: float = -math.inf, most: float = math.inf, unit: str = ""
) -> float:
    """Return a finite number between `least` and `most`."""
    number = float(value) if is_real(value) else math.nan  # type: ignore[arg-type]
    if not (math.isfinite(number) and least <= number <= most):
        expected = f"{_range('a number', least, most)}{f' [{unit}]' if unit else ''}"
        raise bad_argument(what, f" must be {expected}, not {short_repr(value)}")
    return number


def whole_number(what: str, value: object, least: float = -math.inf, most: float = math.inf) -> int:
    """Return a whole number between `least` and `most`; 3.0 counts as one, True does not."""
    whole = isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer())
    if not (is_real(value) and whole and least <= float(value) <= most):  # type: ignore[arg-type]
        expected = _range("a whole number", least, most)
        raise bad_argument(what, f" must be {expected}, not {short_repr(value)}")
    return int(value)  # type: ignore[call-overload]


def yes_or_no(what: str, value: object) -> bool:
    """Return True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise bad_argument(what, f" must be True or False, not {short_repr(value)}")
    return bool(value)


def numbers(what: str, value: object) -> Array:
    """Return an array of real numbers of any shape; NaN and infinity may be among them."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # rows of different lengths
        raise bad_argument(what, f" must be an array of numbers, not {short_repr(value)}") from None
    if array.dtype.kind not in "fiu" and not (
        array.dtype == object and all(map(is_real, array.ravel()))
    ):
        raise bad_argument(what, f" must be an array of numbers, not {short_repr(value)}")
    return array.astype(float, copy=False)


def per_joint(
    what: str, value: object, joint_names: Sequence[str], least: float = -math.inf, unit: str = ""
) -> Array:
    """Return one finite number per joint, (n,).

    `value` is one number for all joints, one for each, or joint name -> number, with 0 for others.
    """
    if isinstance(value, Mapping):
        for name in value:
            if name not in joint_names:
                raise bad_argument(
                    what, f": no joint is called {name!r}; {suggest(str(name), joint_names)}"
                )
        return np.array(
            [
                real_number(f"{what} of {name!r}", value.get(name, 0.0), least, unit=unit)
                for name in joint_names
            ]
        )
    if is_real(value):
        return np.full(len(joint_names), real_number(what, value, least, unit=unit))
    array = numbers(what, value)
    if array.shape != (len(joint_names),):
        shape = f"{len(array)} numbers" if array.ndim == 1 else f"shape {array.shape}"
        raise bad_argument(
            what,
            f" has {shape}; expected one number, or {len(joint_names)}: one for each of"
            f" {', '.join(joint_names)}",
        )
    return np.array(
        [
            real_number(f"{what} of {name!r}", x, least, unit=unit)
            for name, x in zip(joint_names, array.tolist(), strict=True)
        ]
    )


def names(what: str, value: object) -> tuple[str, ...]:
    """Return names from a sequence of them, or from a single one."""
    if isinstance(value, str):
        return (value,)
    try:
        elements: Any = np.ravel(value).tolist() if isinstance(value, np.ndarray) else value
        texts: tuple[Any, ...] = tuple(elements)
    except TypeError:
        texts = (None,)
    if isinstance(value, bytes) or not all(isinstance(name, str) for name in texts):
        raise bad_argument(what, f" must be a name or a sequence of names, not {short_repr(value)}")
    return texts


def instance(what: str, value: object, kinds: type[T] | tuple[type[T], ...], hint: str = "") -> T:
    """Return the argument if it is of one of these classes."""
    if not isinstance(value, kinds):
        expected = " or ".join(
            kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,))
        )
        raise bad_argument(
            what, f" must be a {expected}, not {short_repr(value)}{f'; {hint}' if hint else ''}"
        )
    return value


def is_real(value: object) -> bool:
    """Return whether this is one real number, and not True or False."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def short_repr(value: object) -> str:
    """Return a short description of a value: its literal if plain, else its type and shape."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    plain = value is None or isinstance(value, (str, bytes, int, float, complex, bool, np.generic))
    if plain or (isinstance(value, (list, tuple, dict, set)) and len(repr(value)) <= 60):
        text = repr(value.item() if isinstance(value, np.generic) else value)
        return text if len(text) <= 60 else f"{text[:57]}..."
    shape = f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""
    return f"{type(value).__name__}{shape}"


def _range(kind: str, least: float, most: float) -> str:
    if math.isfinite(least) and math.isfinite(most):
        return f"{kind} from {least:g} to {most:g}"
    if math.isfinite(least):
        return f"{kind} from {least:g} on"
    return f"{kind} up to {most:g}" if math.isfinite(most) else f"{kind}"


def one_of(what: str, value: Any, known: Sequence[str | None]) -> str | None:
    """Return a word if it is among the known ones."""
    if not (value is None or isinstance(value, str)) or value not in known:
        names_known = [word for word in known if word is not None]
        none = in_python(", None") if None in known else ""
        raise bad_argument(
            what, f" {short_repr(value)} is unknown; {suggest(str(value), names_known)}{none}"
        )
    return value
