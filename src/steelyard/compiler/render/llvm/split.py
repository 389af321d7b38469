"""Splitting of a program into functions, because compile time grows faster than function length.

Values pass between functions in memory. The first part reads all inputs before anything is written:
an output may be the same array as an input.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...ir.graph import Expr
from ...ir.operations import COMPARISONS
from ...ir.program import Program

RECOMPUTED = ("const", *COMPARISONS)  # computed again in every part that needs them


@dataclass(frozen=True)
class Part:
    """Consecutive steps of a program.

    `leaves` are the inputs that it reads; `loads` and `stores` map values that cross its borders to
    slots of memory; `writes` are the (output, first column) pairs of results that can be written
    once it has run.
    """

    leaves: tuple[Expr, ...]
    steps: tuple[Expr, ...]
    loads: dict[int, int]
    stores: dict[int, int]
    writes: tuple[tuple[int, int], ...]


def slot_count(parts: Sequence[Part]) -> int:
    """Return the number of memory slots that the parts need."""
    return max(
        (slot + 1 for part in parts for slot in (*part.loads.values(), *part.stores.values())),
        default=0,
    )


def split_program(program: Program, budget: int, pairs: Iterable[tuple[int, int]]) -> list[Part]:
    """Return parts of at most `budget` steps that write the given pairs of results."""
    leaves = [s for s in program.steps if s.op == "input"]
    steps = [s for s in program.steps if s.op not in RECOMPUTED and s.op != "input"]
    pieces = [steps[i : i + budget] for i in range(0, len(steps), budget)] or [[]]
    home = {s.id: i for i, piece in enumerate([leaves + pieces[0], *pieces[1:]]) for s in piece}
    writes: list[list[tuple[int, int]]] = [[] for _ in pieces]
    for k, c in pairs:
        writes[
            max((home[r.id] for r in required_values(result_pair(program, k, c))), default=0)
        ].append((k, c))
    needs = []
    for i, piece in enumerate(pieces):
        crossing = required_values(
            [
                *(a for s in piece for a in s.args),
                *(r for k, c in writes[i] for r in result_pair(program, k, c)),
            ]
        )
        needs.append([a.id for a in crossing if home[a.id] != i])
    stores, slot = _allocate([leaves + pieces[0], *pieces[1:]], needs)
    read = [tuple(leaves), *(() for _ in pieces[1:])]
    loads = [{v: slot[v] for v in need} for need in needs]
    return [
        Part(*part)
        for part in zip(read, map(tuple, pieces), loads, stores, map(tuple, writes), strict=True)
    ]


def result_pair(program: Program, k: int, column: int) -> tuple[object, ...]:
    """Return one or two neighbouring results of an output."""
    return program.results[k][column : column + 2]


def required_values(nodes: Iterable[object]) -> list[Expr]:
    """Return the nodes whose values are needed to compute with some nodes.

    These are the nodes themselves, or the arguments of nodes that are recomputed.
    """
    values: dict[int, Expr] = {}
    stack = list(nodes)
    while stack:
        a = stack.pop()
        if isinstance(a, Expr) and a.op != "const" and a.id not in values:
            if a.op in RECOMPUTED:
                stack += a.args
            else:
                values[a.id] = a
    return sorted(values.values(), key=lambda node: node.id)


def _allocate(
    pieces: Sequence[Sequence[Expr]], needs: Sequence[Sequence[int]]
) -> tuple[list[dict[int, int]], dict[int, int]]:
    """Return the values that each part stores, and all slots, by linear scan.

    A slot is free after the last part that needs it. Poletto and Sarkar, "Linear scan register
    allocation", ACM TOPLAS 21 (1999).
    """
    last = {v: i for i, need in enumerate(needs) for v in need}
    slot: dict[int, int] = {}
    free: list[int] = []
    top = 0
    expiring: dict[int, list[int]] = {}
    stores: list[dict[int, int]] = []
    for i, piece in enumerate(pieces):
        stores.append({})
        for s in piece:
            if s.id in last:
                if not free:
                    free, top = [top], top + 1
                stores[i][s.id] = slot[s.id] = free.pop()
                expiring.setdefault(last[s.id], []).append(slot[s.id])
        free += expiring.pop(i, [])
    return stores, slot
