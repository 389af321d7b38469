"""Base of the bridges to array libraries: argument checks, programs and their linearisations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from ..compiler.ir.linearise import pullback, tangent
from ..compiler.ir.program import Operand, Program
from ..errors import CallError
from .catalogue import Catalogue, Form
from .robot_functions import RobotFunctions


class Linearised:
    """A program with its linearisations of any order, each traced at first use."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._cache: dict[Hashable, Any] = {}

    def tangent(self, wrt: tuple[int, ...]) -> Linearised:
        """Return the tangent program with respect to the inputs numbered `wrt` (forward mode)."""
        return self.cached(("tangent", wrt), lambda: Linearised(tangent(self.program, wrt)))

    def pullback(self, wrt: tuple[int, ...]) -> Linearised:
        """Return the pullback program with respect to the inputs numbered `wrt` (reverse mode)."""
        return self.cached(("pullback", wrt), lambda: Linearised(pullback(self.program, wrt)))

    def cached(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the value of a key, made at first use."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]


class ArrayFunctions(RobotFunctions[Callable[..., Any]]):
    """A robot's functions over arrays (..., n), with the arguments of its methods except `out`."""

    xp: Any  # the namespace of the library

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._linearised: dict[Form, Linearised] = {}

    @abstractmethod
    def _array(self, x: Any) -> Any:
        """Return an argument as an array of the library."""

    @abstractmethod
    def _together(self, arrays: list[Any]) -> list[Any]:
        """Return the arrays converted to one type."""

    @abstractmethod
    def _run(self, linearised: Linearised, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Return the results of a program, differentiable."""

    def _trace(self, name: str) -> Callable[..., Any]:
        def function(*args: Any, **options: Any) -> Any:
            form, arrays = self._form(name, args, options)
            if form not in self._linearised:
                self._linearised[form] = Linearised(self._catalogue.program(name, form))
            linearised = self._linearised[form]
            results = self._run(
                linearised,
                _check_shapes(self.xp, name, linearised.program.inputs, self._together(arrays)),
            )
            return results[0] if len(results) == 1 else results

        signature = self._catalogue.entries[name].signature
        function.__name__, function.__qualname__ = name, f"{type(self).__name__}.{name}"
        function.__doc__ = f"`Robot.{name}` for {self.library}."
        function.__signature__ = signature  # type: ignore[attr-defined]
        return function

    def _form(
        self, name: str, args: Sequence[Any], options: Mapping[str, Any]
    ) -> tuple[Form, list[Any]]:
        """Return the form of a call, and all of its arrays in order."""
        algorithm, arguments, taken = self._catalogue.arguments(name, args, options)
        arrays = [self._array(x) for x in arguments]
        frames = None
        if "wrench" in taken:
            frames, wrench = self._wrenches(taken["wrench"])
            arrays.append(wrench)
        arrays += [self._array(taken[key]) for key in ("base", "parameters") if key in taken]
        return (
            Form(algorithm, taken.get("frame"), frames, "base" in taken, "parameters" in taken),
            arrays,
        )

    def _wrenches(self, wrench: Any) -> tuple[tuple[str, ...], Any]:
        """Return the frames of wrenches, () for all bodies, and their array (..., frames, 6)."""
        if not isinstance(wrench, Mapping):
            return (), self._array(wrench)
        if not wrench:
            raise CallError(
                "wrench is empty; expected wrenches (..., 6) by the names of frames, or None"
            )
        frames = tuple(sorted(self._catalogue.frame(frame) for frame in wrench))
        arrays = self._together([self._array(wrench[frame]) for frame in frames])
        _check_shapes(self.xp, "wrench", [Operand(frame, (6,)) for frame in frames], arrays)
        batch = tuple(self.xp.broadcast_shapes(*(tuple(x.shape) for x in arrays)))
        return frames, self.xp.stack([self.xp.broadcast_to(x, batch) for x in arrays], -2)


def _check_shapes(xp: Any, name: str, operands: Sequence[Operand], arrays: list[Any]) -> list[Any]:
    """Return the arrays; raise CallError unless shapes fit and batch dimensions broadcast."""
    batches = []
    for operand, x in zip(operands, arrays, strict=True):
        shape, core = tuple(x.shape), operand.shape
        if len(shape) < len(core) or shape[len(shape) - len(core) :] != core:
            raise CallError(
                f"{name}: {operand.name} has shape {shape}; expected (...,"
                f" {', '.join(map(str, core))}) {operand.unit}".rstrip()
            )
        batches.append(shape[: len(shape) - len(core)])
    try:
        xp.broadcast_shapes(*batches)
    except (ValueError, RuntimeError, TypeError):
        shapes = ", ".join(
            f"{operand.name} {tuple(x.shape)}" for operand, x in zip(operands, arrays, strict=True)
        )
        raise CallError(
            f"{name}: {shapes} cannot be combined; expected batch dimensions that broadcast"
        ) from None
    return arrays
