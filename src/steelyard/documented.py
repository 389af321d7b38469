"""Help of public names: what an argument means is written once, here, and becomes part of the docstring of every function that takes it.

A docstring may say by itself, in sections of the form

    Parameters:
        gain: (n,) or one for all [1/s].
    Returns:
        (N, n) torques [N m|N].
    Example:
        >>> ...

what is particular to it. `documented` adds the other arguments from the table ARGUMENTS, in the order of the signature, and what follows
from the return type. Python that runs without docstrings (-OO) has none to add to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

ARGUMENTS = {
    "q": "(..., n) joint positions [rad|m]",
    "qd": "(..., n) joint velocities [rad/s|m/s]",
    "qdd": "(..., n) joint accelerations [rad/s2|m/s2]",
    "qrd": "(..., n) reference velocities [rad/s|m/s]",
    "qrdd": "(..., n) reference accelerations [rad/s2|m/s2]",
    "tau": "(..., n) joint torques [N m|N]",
    "wrench": 'what the environment applies, force [N] then moment [N m], in the base frame: {"tool0": (..., 6)} about the origin of '
    "any frames, or (..., bodies, 6) in the order of `body_names`; nothing by default",
    "base": "(..., 9) motion of the base as an inertial sensor feels it: proper acceleration [m/s2], angular velocity [rad/s], angular "
    "acceleration [rad/s2], in the base's own frame; at rest by default",
    "angular_velocity": "(..., 3) angular velocity of the base in its own frame [rad/s]",
    "parameters": "(..., p) parameters in place of the robot's own, in the order and units of `parameter_names`",
    "out": "array, or tuple of arrays, that the result is written to; a new one by default",
    "frame": "name of a frame, one of `frame_names`; the end-effector by default",
    "hold": "names of joints that stay as they are",
    "robot": "the `Robot`, described in SI units",
    "log": "a `Log` of the robot's motion: positions (N, n) [rad|m] and torques (N, n) [N m|N] at times (N,) [s]",
    "logs": "a `Log`, or several: positions (N, n) [rad|m] and torques (N, n) [N m|N] at times (N,) [s]",
    "seed": "number that random draws start from; equal seeds give equal results",
    "rate": "samples per second [Hz]",
    "seconds": "duration [s]",
    "path": "file to write; its ending tells the kind where there are several",
    "overwrite": "whether an existing file may be replaced",
    "width": '"column" or "page" of a paper, or a width in inches',
    "validation": "a `Validation` on another log, shown and judged beside the fit",
    "preparation": "a `Preparation`: how positions and torques are filtered and sampled",
    "payload": "a `Payload` in the hand: mass [kg], centre [m], inertia [kg m2]",
    "progress": "function that is told how far the work is",
}
RETURNS = {
    "None": "Nothing.",
    "Self": "A new object; this one stays as it is.",
    "Figure": "A Matplotlib figure, in inches.",
    "Table": "A table with names and units of its columns; `to_pandas()` and `to_polars()` make data frames.",
}
SECTION = re.compile(r"^ *(Parameters|Returns|Example):$", re.MULTILINE)
ENTRY = re.compile(r"^ {4}([\w, *]+): ", re.MULTILINE)


def documented(thing: T, returns: Mapping[str, str] | None = None) -> T:
    """Complete the docstring of a function, or those of a class's own public methods; usable as a decorator.

    `returns` are sentences about results, by the name of the method.
    """
    if isinstance(thing, type):
        for name, member in vars(thing).items():
            function = getattr(member, "__func__", member)
            if not name.startswith("_") and callable(function) and hasattr(function, "__code__"):
                _complete(function, (returns or {}).get(name))
    elif callable(thing):
        _complete(thing, (returns or {}).get(thing.__name__))  # type: ignore[attr-defined]
    return thing


def with_fields(cls: type[T]) -> type[T]:
    """Class decorator: add what a dataclass is made of, the `help` in the metadata of its fields, to its docstring."""
    if cls.__doc__:
        entries = {
            name: field.metadata["help"] for name, field in getattr(cls, "__dataclass_fields__", {}).items() if "help" in field.metadata
        }
        cls.__doc__ = _joined(*_sections(cls.__doc__), entries, None)
    return cls


def _complete(function: Callable[..., Any], returns: str | None) -> None:
    if not function.__doc__:
        return
    text, sections = _sections(function.__doc__)
    code = function.__code__
    names = [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if name not in ("self", "cls")]
    kind = str(function.__annotations__.get("return", "")).removesuffix(" | None")
    function.__doc__ = _joined(text, sections, {name: ARGUMENTS.get(name, "") for name in names}, returns or RETURNS.get(kind))


def _joined(text: str, sections: dict[str, str], arguments: Mapping[str, str], returns: str | None) -> str:
    """The docstring with its sections in order; `arguments` are those that the docstring may not speak of, in the order of the signature."""
    stated = _entries(sections.get("Parameters", ""))
    entries: dict[str, str] = {}
    for name, meaning in arguments.items():
        own = next((names for names in stated if name in names.split(", ")), None)
        entries |= {own: stated[own]} if own else {name: f"    {name}: {meaning}."} if meaning else {}
    listed = "\n".join((entries | stated).values())
    parts = {
        "Parameters": listed,
        "Returns": sections.get("Returns", f"    {returns}" if returns else ""),
        "Example": sections.get("Example"),
    }
    return "\n\n".join([text.strip(), *(f"{name}:\n{body}" for name, body in parts.items() if body)]) + "\n"


def _sections(docstring: str) -> tuple[str, dict[str, str]]:
    """What stands before the sections, and their bodies by name, all without the indentation of the source."""
    first, _, rest = docstring.partition("\n")
    lines = rest.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    text = "\n".join([first.strip(), *(line[indent:].rstrip() for line in lines)])
    found = list(SECTION.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    bodies = {match[1]: text[match.end() : end].strip("\n") for match, end in zip(found, ends, strict=False)}
    return (text[: found[0].start()] if found else text), bodies


def _entries(body: str) -> dict[str, str]:
    """The entries of a section of parameters by their names, each with all of its lines."""
    found = list(ENTRY.finditer(body))
    ends = [*(match.start() for match in found[1:]), len(body)]
    return {match[1].replace("*", ""): body[match.start() : end].rstrip() for match, end in zip(found, ends, strict=False)}
