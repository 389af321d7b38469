"""Exact derivatives on the graph, forward or reverse. The result is made of nodes of the same graph, so shared nodes stay shared.

Griewank and Walther, Evaluating Derivatives, 2nd ed. 2008, chapters 3 (forward and reverse) and 9 (kinks: one-sided choices).
sign, the comparisons and the choice in `where` have derivative zero; |x| has sign(x).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .graph import Expr
from .operations import OPERATIONS


def _partials(node: Expr) -> tuple[Any, ...] | None:
    """d node / d argument for each argument, None for `select`. Constants enter as floats so that products with them fold."""
    partials = OPERATIONS[node.op].partials
    return None if partials is None else partials(node, *(a.payload if a.op == "const" else a for a in node.args))


def _rate(node: Expr, rates: Sequence[Any]) -> Any:
    """The rate of a node when its arguments change at given rates."""
    if all(_zero(r) for r in rates):
        return 0.0
    slopes = _partials(node)
    if slopes is None:  # selecting, not multiplying by 0 and 1, keeps an infinity of the other branch out
        return Expr.where(node.args[0], rates[1], rates[2])
    total: Any = 0.0
    for slope, r in zip(slopes, rates, strict=True):
        total = total + slope * r
    return total


def _contributions(node: Expr, bar: Any) -> tuple[Any, ...]:
    """What the adjoint of a node adds to the adjoints of its arguments."""
    slopes = _partials(node)
    if slopes is None:
        condition = node.args[0]
        return 0.0, Expr.where(condition, bar, 0.0), Expr.where(condition, 0.0, bar)
    return tuple(bar * slope for slope in slopes)


def derivative(values: Sequence[Any], seeds: dict[Expr, Any]) -> list[Any]:
    """Forward: the change of each value when the seeded nodes change at the given rates (directional derivative)."""
    tangents: dict[int, Any] = {node.id: r for node, r in seeds.items()}
    for node in _between(values):
        if node.id not in tangents and node.args:
            tangents[node.id] = _rate(node, [tangents.get(a.id, 0.0) for a in node.args])
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
            for argument, share in zip(node.args, _contributions(node, bar), strict=True):
                if argument.op != "const":
                    adjoints[argument.id] = adjoints.get(argument.id, 0.0) + share
    return [adjoints.get(x.id, 0.0) for x in inputs]


def substitute(values: Sequence[Any], changes: dict[Expr, Any]) -> list[Any]:
    """Compute the values anew with other nodes or floats in the place of some nodes."""
    new: dict[int, Any] = {node.id: value for node, value in changes.items()}
    for node in _between(values):
        if node.id not in new:
            args = [new.get(a.id, a) for a in node.args]
            same = all(a is b for a, b in zip(args, node.args, strict=True))
            new[node.id] = node if same else node.graph.apply(node.op, *args)
    return [new[v.id] if isinstance(v, Expr) else v for v in values]


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
