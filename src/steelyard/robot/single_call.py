"""The straight path of a call with one state or a few: from the method to compiled code, past the search for frame, options and threads.

A controller calls with one state at a time, where every Python call on the way takes as long as the dynamics themselves.
`with_straight_path` therefore writes, compiles and installs for each method a version of this form:

    def mass_matrix(self, q, more=None, parameters=None, out=None):
        new = False
        try:
            if more is None and parameters is None:
                call = self._calls["mass_matrix"]
                found = call(q) if out is None else call(q, out=out)
                if found is not NotImplemented:
                    if q.ndim == 1 and "mass_matrix" not in self.__dict__ and type(self).mass_matrix is mass_matrix:
                        self._bind("mass_matrix", "mass_matrix")
                    return found
        except KeyError:
            new = True
        except (AttributeError, TypeError, ValueError, FloatingPointError):
            pass
        if new:
            self._prepare("mass_matrix")
        return general.mass_matrix(self, q, *(() if more is None else (more,)), parameters=parameters, out=out)

`call` is the kernel's built-in function: it answers one state itself, hands a few to the gufunc, and leaves the rest to the general method.
After the first call with one state `_bind` puts such a function in the place of the robot's method: Python then calls it directly, and it
calls the method above with all that is not one state. A method that takes a frame, or that a subclass has its own of, stays.
Keyword-only arguments make a call of a Python function slower by a third; `more` stands in their place and takes what is given by
position against the rules, for the general method to refuse. Whatever is not simple, and every error, is left to the general method.
A method with a function `check` (see `checked_by`) returns what that function returns for its result, on both paths.
`benchmarks/single_call.py` measures what the path costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import update_wrapper
from types import SimpleNamespace
from typing import Any, TypeVar

T = TypeVar("T")


def with_straight_path(kernels: Mapping[str, str]) -> Callable[[type[T]], type[T]]:
    """Class decorator: give the methods that are named a straight path to a kernel ({method: kernel}).

    Arguments without default are the kernel's arrays, in its order; all others are None by default. The class has `_calls`, a dict
    {kernel: call}, or {kernel: {frame: call}} for methods that take a frame, and `_prepare(kernel[, frame])`, which fills it; and
    `_bind(method, kernel)`, which puts a built-in function in the place of a method of one robot. It gets `_single_calls`, what was named.
    """

    def install(cls: type[T]) -> type[T]:
        general = SimpleNamespace(**{method: getattr(cls, method) for method in kernels})
        namespace: dict[str, Any] = {"general": general}
        text = "\n".join(straight_path(getattr(cls, method), kernel) for method, kernel in kernels.items())
        exec(compile(text, "<single calls>", "exec"), namespace)
        for method in kernels:
            setattr(cls, method, update_wrapper(namespace[method], getattr(general, method)))
        cls._single_calls = dict(kernels)  # type: ignore[attr-defined]
        return cls

    return install


def checked_by(check: Callable[[Any, Any], Any]) -> Callable[[T], T]:
    """Method decorator: return check(robot, result) in place of the result; `check` may warn."""

    def attach(method: T) -> T:
        method.check = check  # type: ignore[attr-defined]
        return method

    return attach


def straight_path(method: Callable[..., Any], kernel: str) -> str:
    """The source of a method that tries the kernel first."""
    code = method.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    arrays = names[: code.co_argcount - 1 - len(method.__defaults__ or ())]
    positional, keywords = names[len(arrays) : code.co_argcount - 1], names[code.co_argcount - 1 :]
    framed = "frame" in positional
    key = f'"{kernel}"'
    options = (*positional, "more", *keywords)
    tests = [f"{x} is None" for x in options if x not in ("frame", "out")]
    name = method.__name__
    bind = f"""
                if {arrays[0]}.ndim == 1 and "{name}" not in self.__dict__ and type(self).{name} is {name}:
                    self._bind("{name}", {key})"""
    bind = "" if framed else bind
    given = [*arrays, *positional, "*(() if more is None else (more,))", *(f"{x}={x}" for x in keywords)]
    check = f"general.{name}.check" if hasattr(method, "check") else ""
    begin, end = (f"{check}(self, ", ")") if check else ("", "")
    return f"""
def {name}(self, {", ".join(arrays)}, {", ".join(f"{x}=None" for x in options)}):
    new = False
    try:
        if {" and ".join(tests)}:
            call = self._calls[{key}]{"[frame]" if framed else ""}
            found = call({", ".join(arrays)}) if out is None else call({", ".join(arrays)}, out=out)
            if found is not NotImplemented:{bind}
                return {begin}found{end}
    except KeyError:
        new = True
    except (AttributeError, TypeError, ValueError, FloatingPointError):
        pass
    if new:
        self._prepare({key}{", frame" if framed else ""})
    return {begin}general.{name}(self, {", ".join(given)}){end}
"""
