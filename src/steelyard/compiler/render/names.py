"""Readable names for the values of a program, shared by the renderers that people read."""

from __future__ import annotations

from ..ir.program import Operand, Program


def element(operand: Operand, flat: int) -> str:
    """'q[2]' in the flat, row-major form that C and the kernels use."""
    return f"{operand.name}[{flat}]" if operand.shape else operand.name


def subscripts(operand: Operand, flat: int) -> tuple[int, ...]:
    """The subscripts of a flat position."""
    result: list[int] = []
    for extent in reversed(operand.shape):
        flat, last = divmod(flat, extent)
        result.insert(0, last)
    return tuple(result)


def temporaries(program: Program) -> dict[int, str]:
    """A name per node that is computed: t0, t1, ... in order of appearance, or another letter where an operand has such a name."""
    taken = {o.name.rstrip("0123456789") for o in (*program.inputs, *program.outputs)}
    letter = next(x for x in ("t", "v", "w", "tmp", "temporary_") if x not in taken)
    computed = [s for s in program.steps if s.op not in ("const", "input")]
    return {s.id: f"{letter}{i}" for i, s in enumerate(computed)}
