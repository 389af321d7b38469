"""Catalogue of a robot's functions that a bridge offers, under the names of its methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Signature
from typing import Any, NamedTuple

from ..compiler.ir.program import Program
from ..errors import CallError
from ..kernels import ALGORITHMS, LOOP_ALGORITHMS
from ..kernels import program as shortest
from ..mechanism.tree import Tree

# optional inputs of a function after its arrays, in this order
OPTIONS = ("wrench", "base", "parameters")


@dataclass(frozen=True)
class Entry:
    """A function of the robot: algorithm, tree, signature, and the number of outputs returned."""

    algorithm: str
    tree: Tree
    signature: Signature
    results: int


class Form(NamedTuple):
    """Variant of a program.

    Algorithm, frame, frames of wrenches (() for all bodies), and whether it takes other options.
    """

    algorithm: str
    frame: str | None = None
    wrench: tuple[str, ...] | None = None
    base: bool = False
    parameters: bool = False


@dataclass(frozen=True)
class Catalogue:
    """The functions of a robot by name.

    `frame` returns a frame's name, the end-effector's for None, or raises CallError.
    """

    robot: str
    fingerprint: str
    entries: Mapping[str, Entry]
    frame: Callable[[str | None], str]

    def arguments(
        self, name: str, args: Sequence[Any], options: Mapping[str, Any]
    ) -> tuple[str, list[Any], dict[str, Any]]:
        """Return the algorithm of a call, its arrays in order, and its options with `frame`."""
        entry = self.entries[name]
        try:
            bound = entry.signature.bind(*args, **options)
        except TypeError as error:
            raise CallError(f"{name}{_plain(entry.signature)}: {error}") from None
        rest = dict(bound.arguments)
        taken = {key: rest.pop(key) for key in OPTIONS if key in rest}
        taken = {key: value for key, value in taken.items() if value is not None}
        if "frame" in entry.signature.parameters:
            taken["frame"] = self.frame(rest.pop("frame", None))
        if name == "friction_torque" and rest.get("q") is not None:
            return "friction_torque_at", [rest["q"], rest["qd"]], taken
        return entry.algorithm, [rest[key] for key in rest if rest[key] is not None], taken

    def program(self, name: str, form: Form) -> Program:
        """Return the program of a function with the fewest operations."""
        entry = self.entries[name]
        program = shortest(
            entry.tree,
            form.algorithm,
            wrench=form.wrench,
            base=form.base,
            parameters=form.parameters,
            frame=form.frame,
        )
        return replace(
            program,
            outputs=program.outputs[: entry.results],
            results=program.results[: entry.results],
        )


def entry(algorithm: str, tree: Tree, signature: Signature, results: int | None = None) -> Entry:
    """Return the entry of a method with that signature, without `self` and `out`."""
    parameters = [each for key, each in signature.parameters.items() if key not in ("self", "out")]
    known = ALGORITHMS[algorithm] if algorithm in ALGORITHMS else LOOP_ALGORITHMS[algorithm]
    return Entry(
        algorithm, tree, Signature(parameters), len(known.outputs) if results is None else results
    )


def _plain(signature: Signature) -> Signature:
    """Return the signature without annotations, for a message."""
    return signature.replace(
        parameters=[each.replace(annotation=each.empty) for each in signature.parameters.values()]
    )
