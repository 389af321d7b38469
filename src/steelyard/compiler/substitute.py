"""Replacing nodes of a graph by other values."""

from __future__ import annotations

from typing import Any

from .graph import Expr


def substitute(values: Any, found: dict[Expr, Any]) -> Any:
    """Nested lists of values with some nodes replaced, and everything that depends on them made anew (folding where it can)."""
    done: dict[int, Any] = {node.id: value for node, value in found.items()}

    def rebuilt(root: Expr) -> Any:
        stack = [root]
        while stack:
            node = stack[-1]
            missing = [a for a in node.args if a.id not in done]
            if node.id in done or not missing:
                stack.pop()
                if node.id not in done:
                    done[node.id] = _again(node, done)
            else:
                stack += missing
        return done[root.id]

    def visit(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [visit(v) for v in value]
        return rebuilt(value) if isinstance(value, Expr) else value

    return visit(values)


def _again(node: Expr, done: dict[int, Any]) -> Any:
    if node.op == "const":
        return node.payload
    args = [done[a.id] for a in node.args]
    if not node.args or all(new is old for new, old in zip(args, node.args, strict=True)):
        return node
    return node.graph.apply(node.op, *args)
