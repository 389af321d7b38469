"""The one family of exceptions.

A message names the offender, what was expected and the alternatives. An error carries the argument
that it is about, and mentions other arguments through `mention`: each interface spells them, Python
as `cutoff=5`, the command line as `--cutoff 5`.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

# characters of a name that are shown, and names among which a similar one is looked for
LONG_NAME, MOST_NAMES = 100, 2000
MESSAGE = 300  # characters of a foreign library's message that are shown
# around a mentioned argument, and between its name, its value in Python and as plain text;
# characters of Unicode's private use area, which no message has otherwise
BEGIN, SEPARATOR, END = "\ue000", "\ue001", "\ue002"


class Mention(NamedTuple):
    """An argument that a message mentions.

    `name` is empty for words that only Python shows. `value` is None where the message is about the
    argument and not its value; `plain` is the value as typed on a command line or in a TOML file.
    """

    name: str
    value: str | None = None
    plain: str = ""

    @property
    def python(self) -> str:
        """The spelling in a call: `cutoff=5`, or `cutoff=` without a value."""
        return f"{self.name}={self.value or ''}" if self.name else self.value or ""


def mention(name: str, *value: Any) -> str:
    """Return the mention of an argument for the message of an error, with a value or without.

    Python shows `cutoff=5` or `cutoff=`, the command line `--cutoff 5` or `--cutoff`. `...` in a
    value stands for what the user fills in.
    """
    if not value:
        return f"{BEGIN}{name}{END}"
    python = _short(value[0]) or repr(value[0]).replace("Ellipsis", "...")
    return f"{BEGIN}{name}{SEPARATOR}{python}{SEPARATOR}{_plain(value[0])}{END}"


def in_python(words: str) -> str:
    """Return words of a message that only Python shows, such as ", or None"."""
    return f"{BEGIN}{SEPARATOR}{words}{END}"


def _plain(value: Any) -> str:
    """Return a value as typed on a command line; lists and tables as in TOML."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_quoted(each)}' for key, each in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_quoted, value))}]"
    return "none" if value is None else _short(value) or str(value)


def _short(value: Any) -> str:
    """Return a float without needless digits, '5' for 5.0; '' for anything else."""
    text = f"{value:g}" if isinstance(value, float) else ""
    return text if text and float(text) == value else ""


def _quoted(value: Any) -> str:
    return repr(value) if isinstance(value, str) else _plain(value).replace("Ellipsis", "...")


class SteelyardError(Exception):
    """Base of every error that steelyard raises on purpose.

    Parameters
    ----------
    message : sentence, possibly with arguments marked by `mention`.
    argument : name of the argument that the error is about, if there is one.

    Examples
    --------
    >>> try:
    ...     sy.load("pumma560")
    ... except sy.SteelyardError as error:
    ...     print(type(error).__name__)
    ModelError
    """

    def __init__(self, message: str = "", *, argument: str | None = None) -> None:
        super().__init__(message)
        self.argument = argument

    @property
    def message(self) -> str:
        """The message with its marks, for an error that repeats it."""
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return self.spelled(lambda each: each.python)

    def spelled(self, spell: Callable[[Mention], str]) -> str:
        """Return the message with every mentioned argument spelled by a function."""
        first, *others = self.message.split(BEGIN)
        parts = [first]
        for each in others:
            marked, _, rest = each.partition(END)
            parts += [spell(Mention(*marked.split(SEPARATOR))), rest]
        return "".join(parts)


class ModelError(SteelyardError):
    """A robot description that cannot be used: file, line, link or joint is named.

    Examples
    --------
    >>> try:
    ...     sy.load("pumma560")
    ... except sy.ModelError as error:
    ...     print(type(error).__name__)
    ModelError
    """


class LogError(SteelyardError):
    """A log of motion that cannot be used: file, column or sample is named.

    Examples
    --------
    >>> try:
    ...     sy.Log(t=[0.0, 0.1], q=[[0.0]])
    ... except sy.LogError as error:
    ...     print(type(error).__name__)
    LogError
    """


class CallError(SteelyardError, ValueError):
    """A call with arguments that do not fit.

    The argument and the expected shape or range are named.

    Examples
    --------
    >>> try:
    ...     sy.load("planar_2r").mass_matrix([0.0])
    ... except sy.CallError as error:
    ...     print(type(error).__name__)
    CallError
    """


class ProblemError(SteelyardError):
    """A well-posed question that has no answer, such as bounds that no robot meets.

    Examples
    --------
    >>> try:
    ...     sy.load("four_bar").assemble([0.5, 3.0, 0.0], hold=["crank", "coupler"])
    ... except sy.ProblemError:
    ...     print("these angles cannot be joined")
    these angles cannot be joined
    """


class MissingExtra(SteelyardError, ImportError):
    """An optional dependency is needed and absent: the message names the extra that brings it.

    Examples
    --------
    >>> issubclass(sy.MissingExtra, ImportError)
    True
    """


FAMILY = {
    kind.__name__: kind
    for kind in (SteelyardError, ModelError, LogError, CallError, ProblemError, MissingExtra)
}


def needs_extra(package: str, extra: str, purpose: str) -> MissingExtra:
    """Return the error for an absent optional package."""
    return MissingExtra(
        f"{purpose} needs the package '{package}', which is not installed: pip install"
        f" 'steelyard[{extra}]'"
    )


def require_package(package: str, extra: str, purpose: str) -> None:
    """Raise MissingExtra if an optional package is absent; it is not imported."""
    try:
        spec = importlib.util.find_spec(package)
    except ImportError:  # it is part of a package that is absent
        spec = None
    if spec is None:
        raise needs_extra(package.partition(".")[0], extra, purpose)


def suggest(wrong: str, known: Iterable[str]) -> str:
    """Return 'did you mean ...' and the list of known names, which end an error message."""
    names = list(known)
    # comparing takes time with the square of a name's length
    likely = [name for name in names[:MOST_NAMES] if len(name) <= LONG_NAME]
    close = difflib.get_close_matches(wrong[:LONG_NAME], likely, n=3)
    label = f"did you mean {' or '.join(repr(c) for c in close)}? Known" if close else "known"
    listed = ", ".join(
        name if len(name) <= LONG_NAME else f"{name[:LONG_NAME]}..." for name in names[:40]
    )
    more = f", and {len(names) - 40} more" if len(names) > 40 else ""
    return f"{label}: {listed + more or 'none'}"


def require_robot(robot: object, function: str, known_function: bool = False) -> None:
    """Raise CallError if the first argument of `function` is not a robot, but for example its path.

    A robot whose known torque is a Python function is refused unless `known_function` is true.
    """
    if isinstance(robot, (str, os.PathLike)):
        raise CallError(
            f"{function} takes a robot, not its name or path: load it first,"
            f" sy.load({os.fspath(robot)!r})"
        )
    if hasattr(robot, "t") and hasattr(robot, "q"):
        raise CallError(
            f"{function} takes a robot first, not {type(robot).__name__}; a log comes after the"
            " robot, as in sy.identify(robot, log)"
        )
    if not hasattr(robot, "tree"):
        raise CallError(
            f"{function} takes a robot first, not {type(robot).__name__}; sy.load(name or path)"
            " returns one"
        )
    require_joints(robot.tree, function)
    if not known_function:
        refuse_known_function(robot, function)


def refuse_known_function(robot: Any, what: str) -> None:
    """Raise CallError if a robot's known torque is a Python function, which `what` cannot use."""
    if getattr(robot, "known_function", None) is not None:
        raise CallError(
            f"{what} cannot use the known torque of {robot.name!r}: it is a Python function that"
            " cannot be traced. Write it with arithmetic and NumPy's functions of q and qd,"
            " np.zeros_like(q) in place of np.zeros and an expression in place of a table; or"
            " remove it: robot.without_known_function()"
        )


def refuse_loops(robot: Any, what: str, instead: str) -> None:
    """Raise CallError if a robot has closed loops; `instead` says what to do."""
    if robot.tree.loops:
        raise CallError(
            f"{what} takes a robot without loops, and {robot.name!r} has {len(robot.tree.loops)};"
            f" {instead}"
        )


def require_joints(tree: HasCoordinates, what: str) -> None:
    """Raise CallError if no joint of a tree moves."""
    if tree.n == 0:
        raise CallError(f"{what}: this robot has no joint that moves on its own")


class HasCoordinates(Protocol):
    """A tree with n coordinates."""

    @property
    def n(self) -> int: ...


class SteelyardWarning(UserWarning):
    """A model or a log that no real robot can have, and that is used as it is.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("error", sy.SteelyardWarning)  # impossible descriptions are errors
    """


@contextmanager
def translate_errors(failure: str, family: type[SteelyardError] = ProblemError) -> Iterator[None]:
    """Turn any exception of a foreign library inside the block into an error of the family.

    A panic of a library written in Rust is a BaseException that `except Exception` misses.
    Interrupts and exits pass.

    Parameters
    ----------
    failure : what failed, and on what, such as 'run.mat: not a .mat file that can be read'; the
        library's message follows it
    family : type of the error
    """
    try:
        yield
    except (SteelyardError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise family(f"{failure} ({words_of(error)})") from error


def words_of(error: BaseException) -> str:
    """Return the type of an exception and the first line of its message, shortened."""
    if isinstance(error, MemoryError):
        return f"it needs more memory than there is: {str(error) or 'no message'}"
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:MESSAGE] if lines else 'no message'}"
