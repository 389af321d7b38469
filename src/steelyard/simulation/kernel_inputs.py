"""Fields of controllers and drives whose values are inputs of a kernel, and objects without them.

A kernel is traced from a controller without its gains and its reference: they are arguments of the
kernel, so that other gains compile nothing. The key of the kernel is the content of the same object.
A law that reads such a field while it is traced raises, instead of leaving its value in a kernel that
is then used for other values.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar, cast

from ..content_digest import HOOK, PACKAGE, content_digest
from ..errors import CallError

Subject = TypeVar("Subject")


def without_inputs(subject: Subject) -> Subject:
    """Return a controller or drive without the fields that its class lists in `kernel_inputs`.

    Parameters
    ----------
    subject : a dataclass; None, and objects of other packages, which have no key, stay as they are

    Returns
    -------
    An object of a subclass whose listed fields raise CallError when they are read.
    """
    kind = type(subject)
    names = getattr(kind, "kernel_inputs", ())
    if kind.__module__.partition(".")[0] != PACKAGE or not names:
        return subject
    rest = {f.name: getattr(subject, f.name) for f in fields(subject) if f.name not in names}  # type: ignore[arg-type]
    barred: dict[str, Any] = {name: property(_refuse(f"{kind.__name__}.{name}")) for name in names}
    barred |= {"kernel_inputs": (), "__module__": kind.__module__, "__qualname__": kind.__qualname__}
    barred[HOOK] = property(lambda self: content_digest((names, tuple(rest.items()))))
    made: Any = object.__new__(type(kind.__name__, (kind,), barred))
    made.__dict__.update(rest)
    return cast(Subject, made)


def _refuse(name: str) -> Any:
    def read(_: object) -> Any:
        raise CallError(f"{name} is an input of the kernel: a law reads it from its arguments, not from the controller")

    return read
