"""Programs: the live nodes of a graph in order of execution, with inputs, outputs and digest."""

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
    """Straight-line code: `steps` in order of execution.

    `results` has the scalars (nodes or floats) of each output in row-major order. `iterations` has
    the least node id of each loop iteration marked while tracing. A program that `carries`
    operands, which are both inputs and outputs, runs as often as its last input says, each time
    from its own results.
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
        """Number of nodes of each operation."""
        return Counter(step.op for step in self.steps if step.op not in ("input", "const"))

    @property
    def carried(self) -> dict[tuple[int, int], Any]:
        """The result that becomes a scalar (operand, column) of the inputs of the next run."""
        results = {
            o.name: result
            for o, result in zip(self.outputs, self.results, strict=True)
            if o.name in self.carries
        }
        return {
            (k, c): x
            for k, o in enumerate(self.inputs)
            for c, x in enumerate(results.get(o.name, ()))
        }

    @property
    def operations(self) -> int:
        """Number of additions, subtractions, multiplications, divisions and negations.

        Functions are not counted.
        """
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
            h.update(
                repr(
                    [position[r.id] if isinstance(r, Expr) else float(r).hex() for r in result]
                ).encode()
            )
        return h.hexdigest()

    def temporaries(self) -> dict[int, str]:
        """Return a name for each computed node, by its id.

        t0, t1, ... in order, or another letter if an operand has such a name.
        """
        taken = {o.name.rstrip("0123456789") for o in (*self.inputs, *self.outputs)}
        letter = next(x for x in ("t", "v", "w", "tmp", "temporary_") if x not in taken)
        computed = [s for s in self.steps if s.op not in ("const", "input")]
        return {s.id: f"{letter}{i}" for i, s in enumerate(computed)}


def trace(
    name: str, function: Callable[..., Any], inputs: Sequence[Operand], outputs: Sequence[Operand]
) -> Program:
    """Trace `function` on one nested list of input nodes per operand, and return its program.

    With several outputs the function returns one nested list per output, with one output that list
    itself.
    """
    graph = Graph()
    returned = function(*graph.inputs(*(operand.shape for operand in inputs)))
    return program(name, graph, inputs, outputs, returned if len(outputs) > 1 else (returned,))


def program(
    name: str,
    graph: Graph,
    inputs: Sequence[Operand],
    outputs: Sequence[Operand],
    returned: Sequence[Any],
) -> Program:
    """Return the program that computes the given nested lists of nodes."""
    results = tuple(tuple(flatten(value)) for value in returned)
    for operand, result in zip(outputs, results, strict=True):
        if len(result) != operand.size:
            raise CallError(
                f"{name}: {operand.name} has {len(result)} scalars, expected {operand.size} for the"
                f" shape {operand.shape}"
            )
        for value in result:
            _check_result(name, operand, graph, value)
    return Program(
        name=name,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        steps=_live(graph.nodes, results),
        results=results,
        carries=(),
        iterations=tuple(graph.iterations),
    )


def repeat(source: Program, carries: Sequence[str]) -> Program:
    """Return the program that runs several times and carries some operands over to the next run.

    A last input, `count`, is the number of runs.
    """
    return replace(source, inputs=(*source.inputs, Operand("count", ())), carries=tuple(carries))


def select_entries(source: Program, entries: Sequence[int]) -> Program:
    """Return the program with a single output, (entries,): these scalars of its first output."""
    results = (tuple(source.results[0][i] for i in entries),)
    output = replace(source.outputs[0], shape=(len(entries),))
    return replace(source, outputs=(output,), steps=_live(source.steps, results), results=results)


def _check_result(name: str, operand: Operand, graph: Graph, value: Any) -> None:
    """Raise a CallError unless a result is a number or a node of the graph, and no comparison."""
    if isinstance(value, Expr):
        if value.graph is not graph or value.op in COMPARISONS:
            what = "a comparison" if value.op in COMPARISONS else "an expression of another graph"
            raise CallError(
                f"{name}: {operand.name} holds {what}, expected expressions that were traced here,"
                " or numbers"
            )
    elif isinstance(value, bool) or not isinstance(value, float | int):
        raise CallError(
            f"{name}: {operand.name} holds {type(value).__name__} {value!r:.40}, expected an"
            " expression or a number"
        )


def _live(nodes: Sequence[Expr], results: Sequence[Sequence[Any]]) -> tuple[Expr, ...]:
    """Return the nodes on which the results depend, in order of creation."""
    needed = bytearray(nodes[-1].id + 1 if nodes else 0)
    for result in flatten([list(r) for r in results]):
        if isinstance(result, Expr):
            needed[result.id] = 1
    for node in reversed(nodes):
        if needed[node.id]:
            for argument in node.args:
                needed[argument.id] = 1
    return tuple(node for node in nodes if needed[node.id])
