"""The expression graph: immutable, hash-consed nodes that behave like numbers.

Running an algorithm on nodes *traces* it: the nodes it creates are the graph. Equal subexpressions
are one node, constants are interned by their bits, and the rules of `rewrite.RULES` are applied
when a node is created. A constant result is a plain float.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from ...errors import CallError
from ..progress import report_progress
from .operations import COMMUTATIVE, COMPARISONS, fold
from .rewrite import NUMBER, RULES

Method = Callable[..., Any]
OFTEN = 1 << 14  # nodes between two progress reports


class Graph:
    """Nodes in order of creation; arguments come before their users."""

    def __init__(self) -> None:
        self.nodes: list[Expr] = []
        # number of nodes at the begin of each iteration of a loop
        self.iterations: list[int] = []
        self._interned: dict[tuple[Any, ...], Expr] = {}

    def input(self, operand: int, index: int) -> Expr:
        """Return the scalar at flat position `index` of input array number `operand`."""
        return self._intern("input", (), (operand, index))

    def inputs(self, *shapes: int | tuple[int, ...]) -> list[Any]:
        """Return one nested list of input nodes per shape.

        An int is the length of a vector, () a single scalar.
        """
        return [self._block(k, (s,) if isinstance(s, int) else s) for k, s in enumerate(shapes)]

    def _block(self, operand: int, shape: tuple[int, ...], start: int = 0) -> Any:
        if not shape:
            return self.input(operand, start)
        stride = 1
        for extent in shape[1:]:
            stride *= extent
        return [self._block(operand, shape[1:], start + i * stride) for i in range(shape[0])]

    def constant(self, value: float) -> Expr:
        return self._intern("const", (), struct.pack("<d", value), value)

    def apply(self, op: str, *args: Any) -> Any:
        """Return the value of an operation on nodes and floats: a node, or a float if constant."""
        for a in args:
            if isinstance(a, Expr):
                break
        else:
            return fold(op, *args)
        rule = RULES.get(op)
        simpler = None if rule is None else rule(self, *args)
        if simpler is not None:
            return simpler
        nodes = tuple(a if isinstance(a, Expr) else self.constant(float(a)) for a in args)
        for i, node in enumerate(nodes):
            if node.graph is not self:
                raise CallError(
                    f"{op}: an argument belongs to another graph; trace both expressions in one"
                    " function"
                )
            if (node.op in COMPARISONS) != (i == 0 and op == "select"):
                raise CallError(
                    f"{op}: a comparison can only be the condition of where(condition, yes, no)"
                )
        if op in COMMUTATIVE and nodes[0].id > nodes[1].id:
            nodes = (nodes[1], nodes[0])
        return self._intern(op, nodes, None)

    def known(self, op: str, *args: Expr) -> Expr | None:
        """Return the node of this operation if it exists, else None."""
        return self._interned.get((op, None, *(a.id for a in args)))

    def _intern(self, op: str, args: tuple[Expr, ...], payload: Any, value: float = 0.0) -> Expr:
        key = (op, payload, *(a.id for a in args))
        node = self._interned.get(key)
        if node is None:
            node = Expr(self, op, args, value if op == "const" else payload, len(self.nodes))
            self._interned[key] = node
            self.nodes.append(node)
            if not len(self.nodes) % OFTEN:
                report_progress()
        return node


def _operator(op: str) -> tuple[Method, Method]:
    """Return the methods x op y and y op x (reflected)."""

    def left(x: Any, y: Any) -> Any:
        return x.graph.apply(op, x, y) if _scalar(y) else NotImplemented

    def right(x: Any, y: Any) -> Any:
        return x.graph.apply(op, y, x) if _scalar(y) else NotImplemented

    return left, right


def _function(op: str) -> Method:
    """Return the method op(x)."""
    return lambda x: x.graph.apply(op, x)


def _scalar(x: Any) -> bool:
    return type(x) is Expr or (isinstance(x, NUMBER) and not isinstance(x, bool))


class Expr:
    """A node: an operation on earlier nodes.

    `payload` is a constant's value or an input's (operand, index).
    """

    __slots__ = ("args", "graph", "id", "op", "payload")
    __array_ufunc__ = None  # NumPy arrays leave arithmetic with nodes to the node, which refuses it
    __hash__ = object.__hash__

    def __init__(
        self, graph: Graph, op: str, args: tuple[Expr, ...], payload: Any, position: int
    ) -> None:
        self.graph, self.op, self.args, self.payload, self.id = graph, op, args, payload, position

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("sub")
    __mul__, __rmul__ = _operator("mul")
    __truediv__, __rtruediv__ = _operator("div")
    __lt__, __gt__ = _operator("lt")
    __le__, __ge__ = _operator("le")
    __neg__ = _function("neg")
    __abs__ = absolute = _function("abs")
    sin = _function("sin")
    cos = _function("cos")
    sqrt = _function("sqrt")
    exp = _function("exp")
    tanh = _function("tanh")
    asin = _function("asin")
    acos = _function("acos")
    sign = _function("sign")

    def __pos__(self) -> Expr:
        return self

    def iteration(self) -> None:
        """Mark the begin of an iteration of a loop.

        Iterations of equal operations on other numbers can be compiled once.
        """
        self.graph.iterations.append(len(self.graph.nodes))

    @staticmethod
    def atan2(y: Any, x: Any) -> Any:
        """Return the angle of the point (x, y), in [-pi, pi]."""
        return next(z.graph for z in (y, x) if isinstance(z, Expr)).apply("atan2", y, x)

    @staticmethod
    def where(condition: Any, yes: Any, no: Any) -> Any:
        """Return a node that is `yes` where the condition holds, else `no`."""
        graph = next(x.graph for x in (condition, yes, no) if isinstance(x, Expr))
        return graph.apply("select", condition, yes, no)

    def __bool__(self) -> bool:
        raise CallError(
            "an expression has no truth value while it is traced: branch on structure, or use"
            " where(condition, yes, no)"
        )

    def __float__(self) -> float:
        raise CallError("an expression has no numeric value while it is traced")

    def __repr__(self) -> str:
        if self.op == "const":
            return repr(self.payload)
        if self.op == "input":
            return "x{}[{}]".format(*self.payload)
        return f"{self.op}({', '.join(f'%{a.id}' if a.args else repr(a) for a in self.args)})"


def flatten(values: Any) -> Iterable[Any]:
    """Yield the scalars of nested lists and tuples, in row-major order."""
    if isinstance(values, list | tuple):
        for value in values:
            yield from flatten(value)
    else:
        yield values
