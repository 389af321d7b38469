"""A long program outlined: iterations of loops that do the same with other numbers become one function, which is compiled once.

Two iterations have the same shape if they do the same operations in the same order on values of their own, on values from elsewhere and
on constants. The function of a shape takes from a table, for every iteration, where the values from elsewhere stand in memory, the
constants, and where to leave what is needed elsewhere. What shares its shape with nothing is split by length. Results wait in memory
until there are enough to be written together.
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
from .split import RECOMPUTED, Part, pair, values_at_hand

TOGETHER = 8192  # results that are written at once, in the order of memory; with eight lanes half a megabyte, which a core's cache holds
SHORT = 200  # steps of iterations that run together
LEAST = 2  # iterations of a shape that has a function of its own
Steps = tuple[Expr, ...]


@dataclass(frozen=True)
class Iteration:
    """Steps of a shape. All with the same `key` have their values from elsewhere, constants and values to keep in the same order."""

    key: tuple[Any, ...]
    steps: tuple[Expr, ...]
    outer: tuple[Expr, ...]
    constants: tuple[Expr, ...]
    kept: tuple[Expr, ...]


@dataclass(frozen=True)
class Placed:
    """An iteration, and the slots of its values from elsewhere and of those that it keeps."""

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
    """What to run, in order; how many slots of memory that takes; and the slots of numbers, which are filled in first."""

    parts: tuple[Part | Placed | Writes, ...]
    slots: int
    numbers: dict[str, int]  # by their hexadecimal form

    @property
    def length(self) -> int:
        """How many steps are compiled: those of a shape once."""
        shapes = {part.iteration.key: len(part.iteration.steps) for part in self.parts if isinstance(part, Placed)}
        return sum(shapes.values()) + sum(len(part.steps) for part in self.parts if isinstance(part, Part))


@dataclass(frozen=True)
class _Piece:
    """Consecutive steps, or results to write."""

    steps: tuple[Expr, ...]
    iteration: Iteration | None = None
    writes: tuple[tuple[int, int], ...] = ()


def outline(program: Program, budget: int, pairs: Sequence[tuple[int, int]]) -> Outline:
    """The outline of a program that writes the given pairs of results; functions of what is no iteration have at most `budget` steps."""
    leaves = tuple(s for s in program.steps if s.op == "input")
    pieces = list(_with_writes(program, [_Piece(leaves), *_pieces(program, budget, pairs)], pairs))
    needs = [_needs(program, piece) for piece in pieces]
    stores, slot, top = _allocate(pieces, needs)
    found = dict.fromkeys(x.hex() for k, c in pairs for r in pair(program, k, c) if (x := _number(r)) is not None)
    numbers = {x: top + i for i, x in enumerate(found)}
    parts: list[Part | Placed | Writes] = []
    for i, (piece, need, store) in enumerate(zip(pieces, needs, stores, strict=True)):
        if piece.iteration is not None:
            parts.append(Placed(piece.iteration, tuple(slot[a.id] for a in need), tuple(store[s.id] for s in piece.iteration.kept)))
        for k, group in groupby(piece.writes, lambda write: write[0]):
            columns = tuple(c for _, c in group)
            parts.append(Writes(k, columns, tuple(tuple(_place(r, slot, numbers) for r in pair(program, k, c)) for c in columns)))
        if piece.iteration is None and not piece.writes:
            parts.append(Part(leaves if not i else (), piece.steps if i else (), {a.id: slot[a.id] for a in need}, store, ()))
    return Outline(tuple(parts), top + len(numbers), numbers)


def _allocate(pieces: Sequence[_Piece], needs: Sequence[Sequence[Expr]]) -> tuple[list[dict[int, int]], dict[int, int], int]:
    """Slots of memory in blocks: what an iteration keeps stands together, so that iterations find it in the same order everywhere.

    A block is free again after the last piece that needs anything of it. Results, which wait to be written, have blocks of their own: what
    stands beside them would wait too. Returns what each piece stores, all slots, and their number.
    """
    last = {a.id: i for i, need in enumerate(needs) for a in need}
    written = {a.id for piece, need in zip(pieces, needs, strict=True) if piece.writes for a in need}
    stores: list[dict[int, int]] = []
    free: dict[int, list[int]] = {}
    expiring: dict[int, list[tuple[int, int]]] = {}
    top = 0
    for i, piece in enumerate(pieces):
        stores.append({})
        kept = [s for s in piece.steps if s.id in last]
        if piece.iteration is not None:
            blocks = [[s for s in kept if s.id not in written], [s for s in kept if s.id in written]]
        else:
            blocks = [list(group) for _, group in groupby(kept, lambda s: last[s.id])]
        for block in filter(None, blocks):
            size = len(block)
            if free.get(size):
                start = free[size].pop()
            else:
                start, top = top, top + size
            stores[i].update((s.id, start + at) for at, s in enumerate(block))
            expiring.setdefault(max(last[s.id] for s in block), []).append((size, start))
        for size, start in expiring.pop(i, ()):
            free.setdefault(size, []).append(start)
    return stores, {value: slot for store in stores for value, slot in store.items()}, top


def _pieces(program: Program, budget: int, pairs: Sequence[tuple[int, int]]) -> Iterator[_Piece]:
    """Iterations that share their shape, and between them stretches of other steps."""
    results = values_at_hand(r for k, c in pairs for r in pair(program, k, c))
    described = _described(_together(_described(_cuts(program), results)), results)
    counts = Counter(each.key for each in described)
    for shared, group in groupby(described, lambda each: counts[each.key] >= LEAST):
        if shared:
            yield from (_Piece(each.steps, each) for each in group)
        else:
            steps = [s for each in group for s in each.steps]
            yield from (_Piece(tuple(steps[i : i + budget])) for i in range(0, len(steps), budget))


def _described(cuts: Sequence[Steps], results: Sequence[Expr]) -> list[Iteration]:
    """The iteration of each cut."""
    kept = _kept(cuts, results)
    return [_iteration(steps, kept) for steps in cuts]


def _together(iterations: Sequence[Iteration]) -> list[Steps]:
    """The steps of iterations; of consecutive short ones of one shape, those of some together, so that what they share is loaded once."""
    chunks: list[list[Iteration]] = []
    for _, group in groupby(iterations, lambda each: each.key):
        run = list(group)
        size = max(1, SHORT // max(1, len(run[0].steps)))
        chunks += [run[i : i + size] for i in range(0, len(run), size)]
    counts = Counter((len(chunk), chunk[0].key) for chunk in chunks)
    made: list[Steps] = []
    for chunk in chunks:
        alone = counts[len(chunk), chunk[0].key] < LEAST
        made += [each.steps for each in chunk] if alone else [tuple(s for each in chunk for s in each.steps)]
    return made


def _cuts(program: Program) -> list[Steps]:
    """The steps of a program, cut where iterations begin."""
    steps = [s for s in program.steps if s.op not in RECOMPUTED and s.op != "input"]
    ids = [s.id for s in steps]
    places = sorted({0, len(steps), *(bisect_left(ids, first) for first in program.iterations)})
    return [tuple(steps[a:b]) for a, b in pairwise(places)]


def _kept(cuts: Sequence[Steps], results: Sequence[Expr]) -> set[int]:
    """The values that are needed outside of the cut that computes them."""
    kept = {a.id for a in results}
    for steps in cuts:
        own = {s.id for s in steps}
        for s in steps:
            for a in s.args:
                if a.op in COMPARISONS:
                    kept.update(b.id for b in a.args if b.id not in own)
                elif a.id not in own:
                    kept.add(a.id)
    return kept


def _iteration(steps: Steps, kept: set[int]) -> Iteration:
    """Steps with the key of their shape: every operation with the places of its arguments among own values, outer values, constants."""
    own: dict[int, int] = {}
    outer: dict[Expr, int] = {}
    constants: dict[Expr, int] = {}

    def code(a: Expr) -> Any:
        place = own.get(a.id)
        if place is not None:
            return 3 * place
        if a.op == "const":
            return 3 * constants.setdefault(a, len(constants)) + 1
        if a.op in COMPARISONS:
            return a.op, *map(code, a.args)
        return 3 * outer.setdefault(a, len(outer)) + 2

    def order(a: Expr) -> tuple[int, int]:
        """Where an argument of a commutative operation belongs: the order in which nodes were made differs between iterations."""
        place = own.get(a.id)
        if place is not None:
            return 0, place
        return (1, constants.get(a, len(constants))) if a.op == "const" else (2, outer.get(a, len(outer)))

    key: list[Any] = []
    for place, s in enumerate(steps):
        key.append((s.op, *map(code, sorted(s.args, key=order) if s.op in COMMUTATIVE else s.args)))
        own[s.id] = place
    left = tuple(s for s in steps if s.id in kept)
    return Iteration((*key, *(own[s.id] for s in left)), steps, tuple(outer), tuple(constants), left)


def _with_writes(program: Program, pieces: Sequence[_Piece], pairs: Sequence[tuple[int, int]]) -> Iterator[_Piece]:
    """The pieces, and behind them the writing of results that are ready."""
    home = {s.id: i for i, piece in enumerate(pieces) for s in piece.steps}
    ready: dict[int, list[tuple[int, int]]] = {}
    for k, c in pairs:
        ready.setdefault(max((home[a.id] for a in values_at_hand(pair(program, k, c))), default=0), []).append((k, c))
    waiting: list[tuple[int, int]] = []
    for i, piece in enumerate(pieces):
        yield piece
        waiting += ready.get(i, [])
        if 2 * len(waiting) >= TOGETHER or (waiting and i + 1 == len(pieces)):
            yield _Piece((), writes=tuple(sorted(waiting)))
            waiting = []


def _needs(program: Program, piece: _Piece) -> Sequence[Expr]:
    """The values from elsewhere that a piece needs."""
    if piece.iteration is not None:
        return piece.iteration.outer
    own = {s.id for s in piece.steps}
    wanted = [*(a for s in piece.steps for a in s.args), *(r for k, c in piece.writes for r in pair(program, k, c))]
    return [a for a in values_at_hand(wanted) if a.id not in own]


def _number(result: Any) -> float | None:
    """The value of a result that is a number."""
    if isinstance(result, Expr):
        return result.payload if result.op == "const" else None
    return float(result)


def _place(result: Any, slot: dict[int, int], numbers: dict[str, int]) -> int:
    number = _number(result)
    return slot[result.id] if number is None else numbers[number.hex()]
