"""Fast path of a call with one state or a few, from the method to compiled code.

A controller calls with one state at a time, where every Python call on the way takes as long as the
dynamics. `with_fast_path` therefore writes, compiles and installs a version of each method of this
form:

    def mass_matrix(self, q, more=None, parameters=None, out=None):
        new = False
        try:
            if more is None and parameters is None:
                call = self._calls["mass_matrix"]
                result = call(q) if out is None else call(q, out=out)
                if result is not NotImplemented:
                    if q.ndim == 1 and "mass_matrix" not in self.__dict__ and ...:
                        self._bind("mass_matrix", "mass_matrix")
                    return result
        except KeyError:
            new = True
        except (AttributeError, TypeError, ValueError, FloatingPointError):
            pass
        if new:
            self._prepare("mass_matrix")
        return general.mass_matrix(self, q, ..., parameters=parameters, out=out)

`call` is the kernel's built-in function: it computes one state itself, passes a few to the gufunc,
and returns NotImplemented for all other inputs. After the first call with one state, `_bind`
replaces the robot's method by such a function: Python then calls it directly, and it calls the
method above for all other inputs. Methods that take a frame, and methods that a subclass overrides,
are not replaced.

Keyword-only arguments make a call of a Python function slower by a third. `more` stands in their
place: it receives a surplus positional argument, which the general method refuses. All other inputs
and all errors are left to the general method, which has the signature and docstring that
`inspect.signature` and IDEs show. A method with a function `check` (see `checked_by`) returns
`check(robot, result)` on both paths. `benchmarks/single_call.py` measures the path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import update_wrapper
from types import SimpleNamespace
from typing import Any, TypeVar

T = TypeVar("T")


def with_fast_path(kernels: Mapping[str, str]) -> Callable[[type[T]], type[T]]:
    """Return a class decorator that gives methods a fast path to a kernel ({method: kernel}).

    Arguments without default are the kernel's arrays, in its order; all others are None by default.
    The class has `_calls`, a dict {kernel: call}, or {kernel: {frame: call}} for methods that take
    a frame, and `_prepare(kernel[, frame])`, which fills it; and `_bind(method, kernel)`, which
    replaces a method of one robot by a built-in function. The decorator sets `_single_calls` to its
    argument.
    """

    def install(cls: type[T]) -> type[T]:
        general = SimpleNamespace(**{method: getattr(cls, method) for method in kernels})
        namespace: dict[str, Any] = {"general": general}
        text = "\n".join(
            fast_path(getattr(cls, method), kernel) for method, kernel in kernels.items()
        )
        exec(compile(text, "<single calls>", "exec"), namespace)
        for method in kernels:
            setattr(cls, method, update_wrapper(namespace[method], getattr(general, method)))
        cls._single_calls = dict(kernels)  # type: ignore[attr-defined]
        return cls

    return install


def checked_by(check: Callable[[Any, Any], Any]) -> Callable[[T], T]:
    """Return a method decorator: results are check(robot, result); `check` may warn."""

    def attach(method: T) -> T:
        method.check = check  # type: ignore[attr-defined]
        return method

    return attach


def fast_path(method: Callable[..., Any], kernel: str) -> str:
    """Return the source of a method that tries the kernel first."""
    code = method.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    arrays = names[: code.co_argcount - 1 - len(method.__defaults__ or ())]
    positional, keywords = names[len(arrays) : code.co_argcount - 1], names[code.co_argcount - 1 :]
    framed = "frame" in positional
    key = f'"{kernel}"'
    options = (*positional, "more", *keywords)
    tests = [f"{x} is None" for x in options if x not in ("frame", "out")]
    name = method.__name__
    unbound = f'"{name}" not in self.__dict__ and type(self).{name} is {name}'
    bind = f"""
                if {arrays[0]}.ndim == 1 and {unbound}:
                    self._bind("{name}", {key})"""
    bind = "" if framed else bind
    arguments = [
        *arrays,
        *positional,
        "*(() if more is None else (more,))",
        *(f"{x}={x}" for x in keywords),
    ]
    states = ", ".join(arrays)
    check = f"general.{name}.check" if hasattr(method, "check") else ""
    begin, end = (f"{check}(self, ", ")") if check else ("", "")
    return f"""
def {name}(self, {states}, {", ".join(f"{x}=None" for x in options)}):
    new = False
    try:
        if {" and ".join(tests)}:
            call = self._calls[{key}]{"[frame]" if framed else ""}
            result = call({states}) if out is None else call({states}, out=out)
            if result is not NotImplemented:{bind}
                return {begin}result{end}
    except KeyError:
        new = True
    except (AttributeError, TypeError, ValueError, FloatingPointError):
        pass
    if new:
        self._prepare({key}{", frame" if framed else ""})
    return {begin}general.{name}(self, {", ".join(arguments)}){end}
"""
