"""A program: the live nodes of a graph in the order of execution, with its inputs, outputs, operation count and digest."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from ...cached import cached_property
from ...errors import CallError
from .graph import Expr, Graph, flatten
from .operations import COMPARISONS

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Operand:
    """A named array argument of fixed core shape, with its unit for comments in generated code."""

    name: str
    shape: Shape
    unit: str = ""

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Program:
    """Straight-line code: `steps` in order; `results` holds, per output operand, its scalars (nodes or floats) in row-major order.

    `iterations`: where iterations of loops began while it was traced, as the least id of a node of each, in order.
    One that `carries` operands, which are inputs and outputs, runs as often as its last input says, each time from its own results.
    """

    name: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    steps: tuple[Expr, ...]
    results: tuple[tuple[Any, ...], ...]
    carries: tuple[str, ...] = ()
    iterations: tuple[int, ...] = ()

    @cached_property
    def counts(self) -> Counter[str]:
        """How many nodes of each operation."""
        return Counter(step.op for step in self.steps if step.op not in ("input", "const"))

    @property
    def carried(self) -> dict[tuple[int, int], Any]:
        """The result that becomes a scalar (operand, column) of the inputs where the program runs again."""
        results = {o.name: result for o, result in zip(self.outputs, self.results, strict=True) if o.name in self.carries}
        return {(k, c): x for k, o in enumerate(self.inputs) for c, x in enumerate(results.get(o.name, ()))}

    @property
    def operations(self) -> int:
        """How many additions, subtractions, multiplications, divisions and negations; functions are not counted."""
        return sum(self.counts[op] for op in ("add", "sub", "mul", "div", "neg"))

    @cached_property
    def digest(self) -> str:
        """A hash of what the program computes, stable across processes and machines."""
        h = hashlib.blake2b(digest_size=20)
        position = {step.id: i for i, step in enumerate(self.steps)}
        h.update(repr([o.shape for o in (*self.inputs, *self.outputs)]).encode())
        if self.carries:
            h.update(f"carries {list(self.carried)}".encode())
        for step in self.steps:
            payload = step.payload.hex() if step.op == "const" else step.payload
            h.update(f"{step.op} {payload} {[position[a.id] for a in step.args]}\n".encode())
        for result in self.results:
            h.update(repr([position[r.id] if isinstance(r, Expr) else float(r).hex() for r in result]).encode())
        return h.hexdigest()

    def temporaries(self) -> dict[int, str]:
        """A name for each computed node, by its id: t0, t1, ... in order, or with another letter where an operand has such a name."""
        taken = {o.name.rstrip("0123456789") for o in (*self.inputs, *self.outputs)}
        letter = next(x for x in ("t", "v", "w", "tmp", "temporary_") if x not in taken)
        computed = [s for s in self.steps if s.op not in ("const", "input")]
        return {s.id: f"{letter}{i}" for i, s in enumerate(computed)}


def trace(name: str, function: Callable[..., Any], inputs: Sequence[Operand], outputs: Sequence[Operand]) -> Program:
    """Run `function` on one nested list of input nodes per operand, and return the program of what it computed.

    With several outputs the function returns one nested list per output, with one output that list itself.
    """
    graph = Graph()
    returned = function(*graph.inputs(*(operand.shape for operand in inputs)))
    return program(name, graph, inputs, outputs, returned if len(outputs) > 1 else (returned,))


def program(name: str, graph: Graph, inputs: Sequence[Operand], outputs: Sequence[Operand], returned: Sequence[Any]) -> Program:
    """The program that computes the returned nested lists of nodes."""
    results = tuple(tuple(flatten(value)) for value in returned)
    for operand, result in zip(outputs, results, strict=True):
        if len(result) != operand.size:
            raise CallError(f"{name}: {operand.name} has {len(result)} scalars, expected {operand.size} for the shape {operand.shape}")
        for value in result:
            _check_result(name, operand, graph, value)
    return Program(name, tuple(inputs), tuple(outputs), _live(graph.nodes, results), results, (), tuple(graph.iterations))


def repeated(made: Program, carries: Sequence[str]) -> Program:
    """The program that runs several times, carrying some operands on; a last input, `count`, says how often."""
    return replace(made, inputs=(*made.inputs, Operand("count", ())), carries=tuple(carries))


def selected(made: Program, entries: Sequence[int]) -> Program:
    """The program with one output alone, (entries,): some scalars of its first one."""
    results = (tuple(made.results[0][i] for i in entries),)
    output = replace(made.outputs[0], shape=(len(entries),))
    return replace(made, outputs=(output,), steps=_live(made.steps, results), results=results)


def _check_result(name: str, operand: Operand, graph: Graph, value: Any) -> None:
    """Raise a CallError unless a result is a number, or a node of the graph other than a comparison."""
    if isinstance(value, Expr):
        if value.graph is not graph or value.op in COMPARISONS:
            what = "a comparison" if value.op in COMPARISONS else "an expression of another graph"
            raise CallError(f"{name}: {operand.name} holds {what}, expected expressions that were traced here, or numbers")
    elif isinstance(value, bool) or not isinstance(value, float | int):
        raise CallError(f"{name}: {operand.name} holds {type(value).__name__} {value!r:.40}, expected an expression or a number")


def _live(nodes: Sequence[Expr], results: Sequence[Sequence[Any]]) -> tuple[Expr, ...]:
    """Those of the nodes of a graph, in the order in which they were made, that the results need."""
    needed = bytearray(nodes[-1].id + 1 if nodes else 0)
    for result in flatten([list(r) for r in results]):
        if isinstance(result, Expr):
            needed[result.id] = 1
    for node in reversed(nodes):
        if needed[node.id]:
            for argument in node.args:
                needed[argument.id] = 1
    return tuple(node for node in nodes if needed[node.id])
