"""Outlining of long programs: equal iterations of loops are compiled once, as one function.

Two iterations have the same shape if they apply the same operations in the same order to inner
values, outer values and constants. The function of a shape reads a table with one row per
iteration: slots of the outer values, constants, and slots of the values to store. Other steps are
split by length. Results stay in memory until there are enough to be written together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from ...ir.graph import Expr
from ...ir.operations import COMMUTATIVE, COMPARISONS
from ...ir.program import Program
from .split import RECOMPUTED, Part, required_values, result_pair

# results that are written at once, in the order of memory; with eight lanes half a megabyte, which
# a core's cache holds
TOGETHER = 8192
SHORT = 200  # steps of iterations that run together
LEAST = 2  # iterations of a shape that becomes a function
Steps = tuple[Expr, ...]


@dataclass(frozen=True)
class Iteration:
    """Steps of an iteration.

    Iterations with the same `key` have outer values, constants and stored values in the same order.
    """

    key: tuple[Any, ...]
    steps: tuple[Expr, ...]
    outer: tuple[Expr, ...]
    constants: tuple[Expr, ...]
    stored: tuple[Expr, ...]


@dataclass(frozen=True)
class PlacedIteration:
    """An iteration with the slots of its outer and stored values."""

    iteration: Iteration
    loads: tuple[int, ...]
    stores: tuple[int, ...]


@dataclass(frozen=True)
class Writes:
    """Results of output `k` to write: first columns, and the slots of one or two results each."""

    k: int
    columns: tuple[int, ...]
    slots: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Outline:
    """The parts to run in order, the number of memory slots, and the slots of constant results."""

    parts: tuple[Part | PlacedIteration | Writes, ...]
    slots: int
    numbers: dict[str, int]  # by their hexadecimal form

    @property
    def length(self) -> int:
        """Number of compiled steps; a shape counts once."""
        shapes = {
            part.iteration.key: len(part.iteration.steps)
            for part in self.parts
            if isinstance(part, PlacedIteration)
        }
        return sum(shapes.values()) + sum(
            len(part.steps) for part in self.parts if isinstance(part, Part)
        )


@dataclass(frozen=True)
class _Piece:
    """Consecutive steps, or results to write."""

    steps: tuple[Expr, ...]
    iteration: Iteration | None = None
    writes: tuple[tuple[int, int], ...] = ()


def outline(program: Program, budget: int, pairs: Sequence[tuple[int, int]]) -> Outline:
    """Return the outline of a program that writes the given pairs of results.

    Functions of steps outside iterations have at most `budget` steps.
    """
    leaves = tuple(s for s in program.steps if s.op == "input")
    pieces = list(_with_writes(program, [_Piece(leaves), *_pieces(program, budget, pairs)], pairs))
    needs = [_needs(program, piece) for piece in pieces]
    stores, slot, top = _allocate(pieces, needs)
    constants = dict.fromkeys(
        x.hex()
        for k, c in pairs
        for r in result_pair(program, k, c)
        if (x := _number(r)) is not None
    )
    numbers = {x: top + i for i, x in enumerate(constants)}
    parts: list[Part | PlacedIteration | Writes] = []
    for i, (piece, need, store) in enumerate(zip(pieces, needs, stores, strict=True)):
        if piece.iteration is not None:
            parts.append(
                PlacedIteration(
                    piece.iteration,
                    tuple(slot[a.id] for a in need),
                    tuple(store[s.id] for s in piece.iteration.stored),
                )
            )
        for k, group in groupby(piece.writes, lambda write: write[0]):
            columns = tuple(c for _, c in group)
            parts.append(
                Writes(
                    k,
                    columns,
                    tuple(
                        tuple(_place(r, slot, numbers) for r in result_pair(program, k, c))
                        for c in columns
                    ),
                )
            )
        if piece.iteration is None and not piece.writes:
            parts.append(
                Part(
                    leaves if not i else (),
                    piece.steps if i else (),
                    {a.id: slot[a.id] for a in need},
                    store,
                    (),
                )
            )
    return Outline(tuple(parts), top + len(numbers), numbers)


def _allocate(
    pieces: Sequence[_Piece], needs: Sequence[Sequence[Expr]]
) -> tuple[list[dict[int, int]], dict[int, int], int]:
    """Return the values that each piece stores, all slots, and their number.

    Stored values of an iteration are one block, so that later iterations find them in the same
    order. A block is free after the last piece that needs a value of it. Results have separate
    blocks, since they stay until they are written.
    """
    last = {a.id: i for i, need in enumerate(needs) for a in need}
    written = {
        a.id for piece, need in zip(pieces, needs, strict=True) if piece.writes for a in need
    }
    stores: list[dict[int, int]] = []
    free: dict[int, list[int]] = {}
    expiring: dict[int, list[tuple[int, int]]] = {}
    top = 0
    for i, piece in enumerate(pieces):
        stores.append({})
        stored = [s for s in piece.steps if s.id in last]
        if piece.iteration is not None:
            blocks = [
                [s for s in stored if s.id not in written],
                [s for s in stored if s.id in written],
            ]
        else:
            blocks = [list(group) for _, group in groupby(stored, lambda s: last[s.id])]
        for block in filter(None, blocks):
            size = len(block)
            if free.get(size):
                start = free[size].pop()
            else:
                start, top = top, top + size
            stores[i].update((s.id, start + offset) for offset, s in enumerate(block))
            expiring.setdefault(max(last[s.id] for s in block), []).append((size, start))
        for size, start in expiring.pop(i, ()):
            free.setdefault(size, []).append(start)
    return stores, {value: slot for store in stores for value, slot in store.items()}, top


def _pieces(program: Program, budget: int, pairs: Sequence[tuple[int, int]]) -> Iterator[_Piece]:
    """Yield iterations that share their shape, and the stretches of other steps between them."""
    results = required_values(r for k, c in pairs for r in result_pair(program, k, c))
    iterations = _iterations_of(_together(_iterations_of(_cuts(program), results)), results)
    counts = Counter(each.key for each in iterations)
    for shared, group in groupby(iterations, lambda each: counts[each.key] >= LEAST):
        if shared:
            yield from (_Piece(each.steps, each) for each in group)
        else:
            steps = [s for each in group for s in each.steps]
            yield from (_Piece(tuple(steps[i : i + budget])) for i in range(0, len(steps), budget))


def _iterations_of(cuts: Sequence[Steps], results: Sequence[Expr]) -> list[Iteration]:
    """Return the iteration of each cut."""
    needed = _needed_outside(cuts, results)
    return [_iteration(steps, needed) for steps in cuts]


def _together(iterations: Sequence[Iteration]) -> list[Steps]:
    """Return the steps of iterations, with some consecutive short ones of one shape merged.

    Merged iterations load common values once.
    """
    chunks: list[list[Iteration]] = []
    for _, group in groupby(iterations, lambda each: each.key):
        run = list(group)
        size = max(1, SHORT // max(1, len(run[0].steps)))
        chunks += [run[i : i + size] for i in range(0, len(run), size)]
    counts = Counter((len(chunk), chunk[0].key) for chunk in chunks)
    groups: list[Steps] = []
    for chunk in chunks:
        alone = counts[len(chunk), chunk[0].key] < LEAST
        groups += (
            [each.steps for each in chunk]
            if alone
            else [tuple(s for each in chunk for s in each.steps)]
        )
    return groups


def _cuts(program: Program) -> list[Steps]:
    """Return the steps of a program, cut where iterations begin."""
    steps = [s for s in program.steps if s.op not in RECOMPUTED and s.op != "input"]
    ids = [s.id for s in steps]
    places = sorted({0, len(steps), *(bisect_left(ids, first) for first in program.iterations)})
    return [tuple(steps[a:b]) for a, b in pairwise(places)]


def _needed_outside(cuts: Sequence[Steps], results: Sequence[Expr]) -> set[int]:
    """Return the values that are needed outside of the cut that computes them."""
    needed = {a.id for a in results}
    for steps in cuts:
        computed = {s.id for s in steps}
        for s in steps:
            for a in s.args:
                if a.op in COMPARISONS:
                    needed.update(b.id for b in a.args if b.id not in computed)
                elif a.id not in computed:
                    needed.add(a.id)
    return needed


def _iteration(steps: Steps, needed: set[int]) -> Iteration:
    """Return an iteration with the key of its shape.

    The key has every operation with the positions of its arguments among inner values, outer values
    and constants.
    """
    inner: dict[int, int] = {}
    outer: dict[Expr, int] = {}
    constants: dict[Expr, int] = {}

    def code(a: Expr) -> Any:
        position = inner.get(a.id)
        if position is not None:
            return 3 * position
        if a.op == "const":
            return 3 * constants.setdefault(a, len(constants)) + 1
        if a.op in COMPARISONS:
            return a.op, *map(code, a.args)
        return 3 * outer.setdefault(a, len(outer)) + 2

    def order(a: Expr) -> tuple[int, int]:
        """Return the sort key of an argument of a commutative operation.

        The order in which nodes were created differs between iterations.
        """
        position = inner.get(a.id)
        if position is not None:
            return 0, position
        return (
            (1, constants.get(a, len(constants)))
            if a.op == "const"
            else (2, outer.get(a, len(outer)))
        )

    key: list[Any] = []
    for position, s in enumerate(steps):
        key.append((s.op, *map(code, sorted(s.args, key=order) if s.op in COMMUTATIVE else s.args)))
        inner[s.id] = position
    stored = tuple(s for s in steps if s.id in needed)
    return Iteration(
        (*key, *(inner[s.id] for s in stored)), steps, tuple(outer), tuple(constants), stored
    )


def _with_writes(
    program: Program, pieces: Sequence[_Piece], pairs: Sequence[tuple[int, int]]
) -> Iterator[_Piece]:
    """Yield the pieces, each followed by writes of the results that are ready."""
    home = {s.id: i for i, piece in enumerate(pieces) for s in piece.steps}
    ready: dict[int, list[tuple[int, int]]] = {}
    for k, c in pairs:
        ready.setdefault(
            max((home[a.id] for a in required_values(result_pair(program, k, c))), default=0), []
        ).append((k, c))
    waiting: list[tuple[int, int]] = []
    for i, piece in enumerate(pieces):
        yield piece
        waiting += ready.get(i, [])
        if 2 * len(waiting) >= TOGETHER or (waiting and i + 1 == len(pieces)):
            yield _Piece((), writes=tuple(sorted(waiting)))
            waiting = []


def _needs(program: Program, piece: _Piece) -> Sequence[Expr]:
    """Return the outer values that a piece needs."""
    if piece.iteration is not None:
        return piece.iteration.outer
    computed = {s.id for s in piece.steps}
    arguments = [
        *(a for s in piece.steps for a in s.args),
        *(r for k, c in piece.writes for r in result_pair(program, k, c)),
    ]
    return [a for a in required_values(arguments) if a.id not in computed]


def _number(result: Any) -> float | None:
    """Return the value of a constant result."""
    if isinstance(result, Expr):
        return result.payload if result.op == "const" else None
    return float(result)


def _place(result: Any, slot: dict[int, int], numbers: dict[str, int]) -> int:
    number = _number(result)
    return slot[result.id] if number is None else numbers[number.hex()]
