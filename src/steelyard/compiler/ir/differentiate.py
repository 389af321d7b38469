"""Exact derivatives on the graph, forward or reverse. The result is made of nodes of the same graph, so everything shared stays shared.

Griewank and Walther, Evaluating Derivatives, 2nd ed. 2008, chapters 3 (forward and reverse) and 9 (kinks: one-sided choices).
sign, the comparisons and the choice in `where` have derivative zero; |x| has sign(x).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .graph import Expr

# the partial derivatives of a node with respect to each argument, given the arguments and the node itself
PARTIALS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "add": lambda y, a, b: (1.0, 1.0),
    "sub": lambda y, a, b: (1.0, -1.0),
    "mul": lambda y, a, b: (b, a),
    "div": lambda y, a, b: (1.0 / b, -y / b),
    "neg": lambda y, a: (-1.0,),
    "sin": lambda y, a: (a.cos(),),
    "cos": lambda y, a: (-a.sin(),),
    "sqrt": lambda y, a: (0.5 / y,),
    "exp": lambda y, a: (y,),
    "tanh": lambda y, a: (1.0 - y * y,),
    "abs": lambda y, a: (a.sign(),),
    "sign": lambda y, a: (0.0,),
    "lt": lambda y, a, b: (0.0, 0.0),
    "le": lambda y, a, b: (0.0, 0.0),
}
# operations whose derivative is not a sum of slopes: how rates of the arguments make that of the node, and how its adjoint spreads to them.
# Choosing the rate, instead of multiplying by 0 and 1, keeps what is not finite in the branch that was not taken out of the result.
FORWARD: dict[str, Callable[..., Any]] = {"select": lambda args, rates: Expr.where(args[0], rates[1], rates[2])}
REVERSE: dict[str, Callable[..., tuple[Any, ...]]] = {
    "select": lambda args, bar: (0.0, Expr.where(args[0], bar, 0.0), Expr.where(args[0], 0.0, bar)),
}


def partials(node: Expr) -> tuple[Any, ...]:
    """d node / d argument, for each argument. Constants enter as floats so that products with them fold."""
    return PARTIALS[node.op](node, *(a.payload if a.op == "const" else a for a in node.args))


def rate(node: Expr, rates: Sequence[Any]) -> Any:
    """The rate of a node when its arguments change at given rates."""
    if all(_zero(r) for r in rates):
        return 0.0
    if node.op in FORWARD:
        return FORWARD[node.op](node.args, rates)
    total: Any = 0.0
    for slope, r in zip(partials(node), rates, strict=True):
        total = total + slope * r
    return total


def spread(node: Expr, bar: Any) -> tuple[Any, ...]:
    """What the adjoint of a node adds to those of its arguments."""
    if node.op in REVERSE:
        return REVERSE[node.op](node.args, bar)
    return tuple(bar * slope for slope in partials(node))


def derivative(values: Sequence[Any], seeds: dict[Expr, Any]) -> list[Any]:
    """Forward: the change of each value when the seeded nodes change at the given rates (directional derivative)."""
    tangents: dict[int, Any] = {node.id: r for node, r in seeds.items()}
    for node in _between(values):
        if node.id not in tangents and node.args:
            tangents[node.id] = rate(node, [tangents.get(a.id, 0.0) for a in node.args])
    return [tangents.get(v.id, 0.0) if isinstance(v, Expr) else 0.0 for v in values]


def jacobian(values: Sequence[Any], inputs: Sequence[Expr]) -> list[list[Any]]:
    """d values / d inputs, by one forward sweep per input: rows are values, columns inputs."""
    columns = [derivative(values, {x: 1.0}) for x in inputs]
    return [list(row) for row in zip(*columns, strict=True)] if inputs else [[] for _ in values]


def gradient(value: Any, inputs: Sequence[Expr]) -> list[Any]:
    """d value / d inputs by one reverse sweep."""
    if not isinstance(value, Expr):
        return [0.0] * len(inputs)
    adjoints: dict[int, Any] = {value.id: 1.0}
    for node in reversed(_between([value])):
        bar = adjoints.get(node.id, 0.0)
        if node.args and not _zero(bar):
            for argument, share in zip(node.args, spread(node, bar), strict=True):
                if argument.op != "const":
                    adjoints[argument.id] = adjoints.get(argument.id, 0.0) + share
    return [adjoints.get(x.id, 0.0) for x in inputs]


def _between(values: Sequence[Any]) -> list[Expr]:
    """All nodes that the values depend on, arguments first."""
    found: dict[int, Expr] = {}
    stack = [v for v in values if isinstance(v, Expr)]
    while stack:
        node = stack.pop()
        if node.id not in found:
            found[node.id] = node
            stack += node.args
    return [found[i] for i in sorted(found)]


def _zero(x: Any) -> bool:
    return not isinstance(x, Expr) and x == 0.0
