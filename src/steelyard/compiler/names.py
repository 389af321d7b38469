"""Readable names for the values of a program, shared by the renderers that people read."""

from __future__ import annotations

from itertools import product

from .graph import Expr
from .program import Operand, Program


def element(operand: Operand, flat: int) -> str:
    """'q[2]' in the flat, row-major form that C and the kernels use."""
    return f"{operand.name}[{flat}]" if operand.shape else operand.name


def subscripts(operand: Operand, flat: int) -> tuple[int, ...]:
    """The subscripts of a flat position."""
    return list(product(*(range(extent) for extent in operand.shape)))[flat]


def temporaries(program: Program) -> dict[int, str]:
    """A name per node that is computed: t0, t1, ... in order of appearance."""
    computed = [s for s in program.steps if s.op not in ("const", "input")]
    return {s.id: f"t{i}" for i, s in enumerate(computed)}


def reader(program: Program, leaf: Expr) -> str:
    """How an input node is read."""
    operand, flat = leaf.payload
    return element(program.inputs[operand], flat)
