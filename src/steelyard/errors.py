"""The one family of exceptions. A message names the offender, what was expected and the alternatives."""

from __future__ import annotations

import difflib
import importlib.util
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

LONG_NAME, MOST_NAMES = 100, 2000  # characters of a name that are shown, and names among which a similar one is looked for
MESSAGE = 300  # characters of a foreign library's message that are shown


class SteelyardError(Exception):
    """Base of every error that steelyard raises on purpose.

    Example:
        >>> try:
        ...     sy.load("pumma560")
        ... except sy.SteelyardError as error:
        ...     print(type(error).__name__)
        ModelError
    """


class ModelError(SteelyardError):
    """A robot description that cannot be used: file, line, link or joint is named.

    Example:
        >>> try:
        ...     sy.load("pumma560")
        ... except sy.ModelError as error:
        ...     print(type(error).__name__)
        ModelError
    """


class LogError(SteelyardError):
    """A log of motion that cannot be used: file, column or sample is named.

    Example:
        >>> try:
        ...     sy.Log(t=[0.0, 0.1], q=[[0.0]])
        ... except sy.LogError as error:
        ...     print(type(error).__name__)
        LogError
    """


class CallError(SteelyardError, ValueError):
    """A call with arguments that do not fit: the argument and the expected shape or range are named.

    Example:
        >>> try:
        ...     sy.load("planar_2r").mass_matrix([0.0])
        ... except sy.CallError as error:
        ...     print(type(error).__name__)
        CallError
    """


class ProblemError(SteelyardError):
    """A well-posed question that has no answer, such as bounds that no robot meets.

    Example:
        >>> try:
        ...     sy.load("four_bar").assemble([0.5, 3.0, 0.0], hold=["crank", "coupler"])
        ... except sy.ProblemError:
        ...     print("these angles cannot be joined")
        these angles cannot be joined
    """


class MissingExtra(SteelyardError, ImportError):
    """An optional dependency is needed and absent: the message names the extra that brings it.

    Example:
        >>> issubclass(sy.MissingExtra, ImportError)
        True
    """


FAMILY = {kind.__name__: kind for kind in (SteelyardError, ModelError, LogError, CallError, ProblemError, MissingExtra)}


def needs_extra(package: str, extra: str, purpose: str) -> MissingExtra:
    """The error for an absent optional package."""
    return MissingExtra(f"{purpose} needs the package '{package}', which is not installed: pip install 'steelyard[{extra}]'")


def require_package(package: str, extra: str, purpose: str) -> None:
    """Raise MissingExtra if an optional package is absent; it is not imported."""
    try:
        found = importlib.util.find_spec(package)
    except ImportError:  # it is part of a package that is absent
        found = None
    if found is None:
        raise needs_extra(package.partition(".")[0], extra, purpose)


def suggest(wrong: str, known: Iterable[str]) -> str:
    """'did you mean ...' and the list of what exists, to end an error message with."""
    names = list(known)
    likely = [name for name in names[:MOST_NAMES] if len(name) <= LONG_NAME]  # comparing takes time with the square of a name's length
    close = difflib.get_close_matches(wrong[:LONG_NAME], likely, n=3)
    hint = f"did you mean {' or '.join(repr(c) for c in close)}? " if close else ""
    listed = ", ".join(name if len(name) <= LONG_NAME else f"{name[:LONG_NAME]}..." for name in names[:40])
    return f"{hint}Known: {listed + (f', and {len(names) - 40} more' if len(names) > 40 else '') or 'none'}"


def require_robot(robot: object, function: str, known_function: bool = False) -> None:
    """Raise CallError if `function` was given something else than a robot, such as the path of one.

    A robot with a known torque that is a Python function is refused unless `known_function` says that `function` can have it.
    """
    if isinstance(robot, (str, os.PathLike)):
        raise CallError(f"{function} takes a robot, not its name or path: load it first, sy.load({os.fspath(robot)!r})")
    if not hasattr(robot, "tree"):
        raise CallError(f"{function} takes a robot first, not {type(robot).__name__}; sy.load(name or path) returns one")
    require_joints(robot.tree, function)
    if not known_function:
        refuse_known_function(robot, function)


def refuse_known_function(robot: Any, what: str) -> None:
    """Raise CallError if a robot has a known torque that is a Python function, which `what` cannot have."""
    if getattr(robot, "known_function", None) is not None:
        raise CallError(
            f"{what} cannot have the known torque of {robot.name!r}: it is a Python function that cannot be traced. Write it with "
            "arithmetic and NumPy's functions of q and qd, np.zeros_like(q) in place of np.zeros and an expression in place of a table; "
            "or leave it out knowingly: robot.without_known_function()"
        )


def refuse_loops(robot: Any, what: str, instead: str) -> None:
    """Raise CallError if `what` was given a robot with loops, with what to do instead."""
    if robot.tree.loops:
        raise CallError(f"{what} takes a robot without loops, and {robot.name!r} has {len(robot.tree.loops)}; {instead}")


def require_joints(tree: HasCoordinates, what: str) -> None:
    """Raise CallError if no joint of a tree moves."""
    if tree.n == 0:
        raise CallError(f"{what}: this robot has no joint that moves on its own")


class HasCoordinates(Protocol):
    """A tree with so many coordinates."""

    @property
    def n(self) -> int: ...


class SteelyardWarning(UserWarning):
    """Something in a model or a log that no real robot has, and that is used all the same.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("error", sy.SteelyardWarning)  # a description that no real robot has is an error now
    """


@contextmanager
def foreign(failure: str, family: type[SteelyardError] = ProblemError) -> Iterator[None]:
    """Turn whatever a foreign library throws inside the block into an error of the family: `failure` with the library's own words.

    failure: what could not be done, and to what, such as 'run.mat: not a .mat file that can be read'. A panic of a library written in Rust
    is a BaseException that `except Exception` misses. Interrupts and exits pass.
    """
    try:
        yield
    except (SteelyardError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise family(f"{failure} ({words_of(error)})") from error


def words_of(error: BaseException) -> str:
    """Return the kind of an exception and the first line of its message, as far as they fit in a sentence."""
    if isinstance(error, MemoryError):
        return f"it needs more memory than there is: {str(error) or 'no message'}"
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:MESSAGE] if lines else 'no message'}"
