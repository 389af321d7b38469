"""Rendering of a program as a C99 function without allocation, which depends on <math.h> only."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.graph import Expr
from ..ir.operations import COMPARISONS
from ..ir.program import Program

# of <math.h>, by their own names
FUNCTIONS = ("sin", "cos", "sqrt", "exp", "tanh", "asin", "acos", "atan2")
OPERATIONS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0}*{1}",
    "div": "{0}/{1}",
    "neg": "-{0}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "select": "{0} ? {1} : {2}",
    "abs": "fabs{f}({0})",
    "sign": "{0} > {zero} ? {one} : {0} < {zero} ? -{one} : {0}",
    **{name: f"{name}{{f}}({{0}})" for name in FUNCTIONS},
    "atan2": "atan2{f}({0}, {1})",
}
_IN_DOUBLE = {"f": "", "zero": "0.0", "one": "1.0"}
_IN_FLOAT = {"f": "f", "zero": "0.0f", "one": "1.0f"}


def declaration(program: Program, real: str = "double") -> str:
    """Return the prototype, without a semicolon."""
    inputs = [f"const {real} {o.name}[{max(o.size, 1)}]" for o in program.inputs]
    outputs = [f"{real} {o.name}[{max(o.size, 1)}]" for o in program.outputs]
    return f"void {program.name}({', '.join(inputs + outputs)})"


def comment(program: Program) -> str:
    """Return a comment with the operands, their shapes and units, and the operation count."""
    functions = ", ".join(f"{program.counts[f]} {f}" for f in FUNCTIONS if program.counts[f])
    lines = [
        f"/* {program.name}: {program.operations}"
        f" operations{', ' + functions if functions else ''}."
    ]
    for direction, operands in (("in ", program.inputs), ("out", program.outputs)):
        for o in operands:
            shape = "x".join(map(str, o.shape)) or "1"
            order = " row-major" if len(o.shape) > 1 else ""
            lines.append(f" *   {direction} {o.name}[{shape}]{order} {o.unit}".rstrip())
    return "\n".join(lines) + " */"


def render(program: Program, real: str = "double") -> str:
    """Return the definition of the function, in double or float."""
    names = program.temporaries()
    words = _IN_FLOAT if real == "float" else _IN_DOUBLE
    lines = [declaration(program, real), "{"]
    used = {s.payload[0] for s in program.steps if s.op == "input"}
    lines += [f"  (void){o.name};" for k, o in enumerate(program.inputs) if k not in used]
    for s in program.steps:
        if s.id in names:
            args = [_value(program, names, a, real) for a in s.args]
            kind = "int" if s.op in COMPARISONS else real
            lines.append(
                f"  const {kind} {names[s.id]} = {OPERATIONS[s.op].format(*args, **words)};"
            )
    for operand, result in zip(program.outputs, program.results, strict=True):
        for flat, value in enumerate(result):
            lines.append(f"  {operand.name}[{flat}] = {_value(program, names, value, real)};")
    return "\n".join([*lines, "}"]) + "\n"


def _value(program: Program, names: dict[int, str], x: Any, real: str) -> str:
    if isinstance(x, Expr) and x.op == "input":
        operand, flat = x.payload
        return f"{program.inputs[operand].name}[{flat}]"
    if isinstance(x, Expr) and x.op != "const":
        return names[x.id]
    return constant(float(x.payload if isinstance(x, Expr) else x), real)


def constant(value: float, real: str) -> str:
    """Return a literal that reads back to the same bits.

    For float it is the nearest one, zero below the smallest normal float.
    """
    if not np.isfinite(value):
        return "NAN" if np.isnan(value) else "INFINITY" if value > 0 else "(-INFINITY)"
    if real == "float":
        single = np.float32(value)
        value = 0.0 if abs(single) < np.finfo(np.float32).tiny else float(str(single))
    text = repr(value) + ("f" if real == "float" else "")
    return f"({text})" if value < 0 else text
