"""Rendering of a program as NumPy source, which needs no compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.graph import Expr
from ..ir.program import Operand, Program

OPERATIONS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "select": "np.where({0}, {1}, {2})",
    "abs": "np.abs({0})",
    "asin": "np.arcsin({0})",
    "acos": "np.arccos({0})",
    "atan2": "np.arctan2({0}, {1})",
    **{name: f"np.{name}({{0}})" for name in ("sin", "cos", "sqrt", "exp", "tanh", "sign")},
}


def render(program: Program) -> str:
    """Return the text of `def <name>(inputs...)`; batch dimensions come first and broadcast."""
    names = program.temporaries()
    inputs = ", ".join(o.name for o in program.inputs)
    lines = ["import numpy as np", "", "", f"def {program.name}({inputs}):"]
    lines.append(f'    """{program.operations} operations. {_shapes(program)}."""')
    lines += [
        f"    {operand.name} = np.asarray({operand.name}, dtype=float)"
        for operand in program.inputs
    ]
    for s in (s for s in program.steps if s.id in names):
        lines += [
            f"    {names[s.id]} ="
            f" {OPERATIONS[s.op].format(*(_value(program, names, a) for a in s.args))}"
        ]
    lines.append(f"    batch = np.broadcast_shapes({', '.join(_batch(o) for o in program.inputs)})")
    for operand, result in zip(program.outputs, program.results, strict=True):
        lines.append(f"    {operand.name}_ = np.zeros(batch + {operand.shape!r})")
        for flat, value in enumerate(result):
            if isinstance(value, Expr) or value != 0.0:
                lines.append(
                    f"    {operand.name}_[{_index(operand, flat)}] ="
                    f" {_value(program, names, value)}"
                )
    lines.append(f"    return {', '.join(f'{o.name}_' for o in program.outputs)}")
    return "\n".join(lines) + "\n"


def function(program: Program) -> Callable[..., Any]:
    """Return the rendered function, ready to call."""
    namespace: dict[str, Any] = {"np": np}
    exec(compile(render(program), f"<{program.name}>", "exec"), namespace)
    rendered: Callable[..., Any] = namespace[program.name]
    return rendered


def _batch(operand: Operand) -> str:
    return f"{operand.name}.shape[: {operand.name}.ndim - {len(operand.shape)}]"


def _shapes(program: Program) -> str:
    return "; ".join(
        f"{o.name} ({', '.join(['...', *map(str, o.shape)])}) {o.unit}".rstrip()
        for o in (*program.inputs, *program.outputs)
    )


def _index(operand: Operand, flat: int) -> str:
    return ", ".join(["...", *map(str, np.unravel_index(flat, operand.shape))])


def _value(program: Program, names: dict[int, str], x: Any) -> str:
    if not isinstance(x, Expr):
        return _constant(float(x))
    if x.op == "const":
        return _constant(x.payload)
    if x.op == "input":
        operand = program.inputs[x.payload[0]]
        return f"{operand.name}[{_index(operand, x.payload[1])}]"
    return names[x.id]


def _constant(x: float) -> str:
    text = repr(x) if np.isfinite(x) else f"np.{x!r}".replace("np.-", "-np.")
    return f"({text})" if text.startswith("-") else text
