"""What the bridges to libraries of arrays share: arguments checked and brought into order, and programs with their linearisations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from ..compiler.ir.linearise import pullback, tangent
from ..compiler.ir.program import Operand, Program
from ..errors import CallError
from .catalogue import Catalogue, Form, Functions


class Linearised:
    """A program with its linearisations of any order, each made when it is first asked for."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._known: dict[Hashable, Any] = {}

    def tangent(self, wrt: tuple[int, ...]) -> Linearised:
        """That of the rates of the results when the inputs numbered `wrt` change."""
        return self.kept(("tangent", wrt), lambda: Linearised(tangent(self.program, wrt)))

    def pullback(self, wrt: tuple[int, ...]) -> Linearised:
        """That of the adjoints of the inputs numbered `wrt`."""
        return self.kept(("pullback", wrt), lambda: Linearised(pullback(self.program, wrt)))

    def kept(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What was made for a key, now or before."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]


class ArrayFunctions(Functions):
    """The functions of a robot over arrays (..., n), with the arguments of the robot's own methods, except `out`."""

    xp: Any  # the namespace of the library

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(catalogue)
        self._made: dict[Form, Linearised] = {}

    @abstractmethod
    def _array(self, x: Any) -> Any:
        """An argument as an array of the library."""

    @abstractmethod
    def _together(self, arrays: list[Any]) -> list[Any]:
        """Arrays of one type."""

    @abstractmethod
    def _run(self, made: Linearised, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The results of a program, differentiable."""

    def _make(self, name: str) -> Callable[..., Any]:
        def function(*args: Any, **options: Any) -> Any:
            form, arrays = self._form(name, args, options)
            if form not in self._made:
                self._made[form] = Linearised(self._catalogue.program(name, form))
            made = self._made[form]
            results = self._run(made, _checked(self.xp, name, made.program.inputs, self._together(arrays)))
            return results[0] if len(results) == 1 else results

        signature = self._catalogue.entries[name].signature
        function.__name__, function.__qualname__ = name, f"{type(self).__name__}.{name}"
        function.__doc__ = f"`Robot.{name}` for {self.library}."
        function.__signature__ = signature  # type: ignore[attr-defined]
        return function

    def _form(self, name: str, args: Sequence[Any], options: Mapping[str, Any]) -> tuple[Form, list[Any]]:
        """What a call asks for, and all of its arrays in order."""
        algorithm, given, taken = self._catalogue.arguments(name, args, options)
        arrays = [self._array(x) for x in given]
        frames = None
        if "wrench" in taken:
            frames, wrench = self._wrenches(taken["wrench"])
            arrays.append(wrench)
        arrays += [self._array(taken[key]) for key in ("base", "parameters") if key in taken]
        return Form(algorithm, taken.get("frame"), frames, "base" in taken, "parameters" in taken), arrays

    def _wrenches(self, wrench: Any) -> tuple[tuple[str, ...], Any]:
        """The frames of wrenches, () for the bodies' own, and one array of all, (..., frames, 6)."""
        if not isinstance(wrench, Mapping):
            return (), self._array(wrench)
        if not wrench:
            raise CallError("wrench is empty; expected wrenches (..., 6) by the names of frames, or None")
        frames = tuple(sorted(self._catalogue.frame(frame) for frame in wrench))
        arrays = self._together([self._array(wrench[frame]) for frame in frames])
        _checked(self.xp, "wrench", [Operand(frame, (6,)) for frame in frames], arrays)
        batch = tuple(self.xp.broadcast_shapes(*(tuple(x.shape) for x in arrays)))
        return frames, self.xp.stack([self.xp.broadcast_to(x, batch) for x in arrays], -2)


def _checked(xp: Any, name: str, operands: Sequence[Operand], arrays: list[Any]) -> list[Any]:
    """The arrays. Raise CallError unless each ends in the shape of its operand and the batch dimensions broadcast."""
    batches = []
    for operand, x in zip(operands, arrays, strict=True):
        shape, core = tuple(x.shape), operand.shape
        if len(shape) < len(core) or shape[len(shape) - len(core) :] != core:
            raise CallError(
                f"{name}: {operand.name} has shape {shape}; expected (..., {', '.join(map(str, core))}) {operand.unit}".rstrip()
            )
        batches.append(shape[: len(shape) - len(core)])
    try:
        xp.broadcast_shapes(*batches)
    except (ValueError, RuntimeError, TypeError):
        told = ", ".join(f"{operand.name} {tuple(x.shape)}" for operand, x in zip(operands, arrays, strict=True))
        raise CallError(f"{name}: {told} do not go together; expected batch dimensions that broadcast") from None
    return arrays
