"""Exact derivatives on the graph, in forward and reverse mode.

Results are nodes of the same graph, so that common subexpressions stay shared. sign, comparisons
and the condition of `where` have derivative zero; |x| has sign(x). Griewank and Walther, Evaluating
Derivatives, 2nd ed. 2008, chapters 3 (forward and reverse) and 9 (kinks: one-sided choices).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .graph import Expr
from .operations import OPERATIONS


def _partials(node: Expr) -> tuple[Any, ...] | None:
    """Return d node / d argument for each argument, None for `select`.

    Constants enter as floats so that products with them fold.
    """
    partials = OPERATIONS[node.op].partials
    return (
        None
        if partials is None
        else partials(node, *(a.payload if a.op == "const" else a for a in node.args))
    )


def _rate(node: Expr, rates: Sequence[Any]) -> Any:
    """Return the rate of a node for given rates of its arguments."""
    if all(_zero(r) for r in rates):
        return 0.0
    partials = _partials(node)
    # selecting, not multiplying by 0 and 1, keeps an infinity of the other branch out
    if partials is None:
        return Expr.where(node.args[0], rates[1], rates[2])
    total: Any = 0.0
    for partial, r in zip(partials, rates, strict=True):
        total = total + partial * r
    return total


def _contributions(node: Expr, bar: Any) -> tuple[Any, ...]:
    """Return the contributions of a node's adjoint to the adjoints of its arguments."""
    partials = _partials(node)
    if partials is None:
        condition = node.args[0]
        return 0.0, Expr.where(condition, bar, 0.0), Expr.where(condition, 0.0, bar)
    return tuple(bar * partial for partial in partials)


def derivative(values: Sequence[Any], seeds: dict[Expr, Any]) -> list[Any]:
    """Return the directional derivatives of the values along the seeds (forward mode)."""
    tangents: dict[int, Any] = {node.id: r for node, r in seeds.items()}
    for node in _between(values):
        if node.id not in tangents and node.args:
            tangents[node.id] = _rate(node, [tangents.get(a.id, 0.0) for a in node.args])
    return [tangents.get(v.id, 0.0) if isinstance(v, Expr) else 0.0 for v in values]


def graph_jacobian(values: Sequence[Any], inputs: Sequence[Expr]) -> list[list[Any]]:
    """Return d values / d inputs by one forward sweep per input; rows are values."""
    columns = [derivative(values, {x: 1.0}) for x in inputs]
    return [list(row) for row in zip(*columns, strict=True)] if inputs else [[] for _ in values]


def gradient(value: Any, inputs: Sequence[Expr]) -> list[Any]:
    """Return d value / d inputs by one reverse sweep."""
    if not isinstance(value, Expr):
        return [0.0] * len(inputs)
    adjoints: dict[int, Any] = {value.id: 1.0}
    for node in reversed(_between([value])):
        bar = adjoints.get(node.id, 0.0)
        if node.args and not _zero(bar):
            for argument, share in zip(node.args, _contributions(node, bar), strict=True):
                if argument.op != "const":
                    adjoints[argument.id] = adjoints.get(argument.id, 0.0) + share
    return [adjoints.get(x.id, 0.0) for x in inputs]


def substitute(values: Sequence[Any], changes: dict[Expr, Any]) -> list[Any]:
    """Return the values with some nodes replaced by other nodes or floats."""
    new: dict[int, Any] = {node.id: value for node, value in changes.items()}
    for node in _between(values):
        if node.id not in new:
            args = [new.get(a.id, a) for a in node.args]
            same = all(a is b for a, b in zip(args, node.args, strict=True))
            new[node.id] = node if same else node.graph.apply(node.op, *args)
    return [new[v.id] if isinstance(v, Expr) else v for v in values]


def _between(values: Sequence[Any]) -> list[Expr]:
    """Return all nodes on which the values depend, arguments first."""
    nodes: dict[int, Expr] = {}
    stack = [v for v in values if isinstance(v, Expr)]
    while stack:
        node = stack.pop()
        if node.id not in nodes:
            nodes[node.id] = node
            stack += node.args
    return [nodes[i] for i in sorted(nodes)]


def _zero(x: Any) -> bool:
    return not isinstance(x, Expr) and x == 0.0
