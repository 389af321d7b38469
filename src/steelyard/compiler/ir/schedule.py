"""Instruction scheduling: other orders of a program's steps with the same results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heappop, heappush

from .graph import Expr
from .program import Program

# steps that are looked at for the next one; more than a processor has in flight would only fill its
# registers
WINDOW = 600
LATENCY = {
    "div": 13,
    "sqrt": 20,
    "sin": 40,
    "cos": 40,
    "atan2": 60,
    "asin": 60,
    "acos": 60,
    "exp": 100,
    "tanh": 100,
}
USUAL = 4  # cycles of any other operation


def order_by_depth(program: Program) -> Program:
    """Return the program with its steps ordered by depth, so that independent chains overlap.

    Useful for programs that solve several branches, each a long chain of roots and quotients.
    """
    depth: dict[int, int] = {}
    for step in program.steps:
        depth[step.id] = max((depth[a.id] + 1 for a in step.args), default=0)
    return replace(
        program,
        steps=tuple(sorted(program.steps, key=lambda step: (depth[step.id], step.id))),
        iterations=(),
    )


def order_by_critical_path(program: Program, window: int = WINDOW) -> Program:
    """Return the program scheduled by critical path, within a window of `window` steps.

    Useful for programs with one long dependent chain, such as a factorisation. List scheduling;
    Muchnick, "Advanced Compiler Design and Implementation", 1997, section 17.1.2.
    """
    steps = program.steps
    users, remaining = _users_and_cycles(steps)
    waits = [len(step.args) for step in steps]
    early = [i for i, count in enumerate(waits) if not count]
    ready: list[tuple[int, int]] = []
    order: list[int] = []
    taken, oldest = [False] * len(steps), 0
    while len(order) < len(steps):
        while early and early[0] < oldest + window:
            i = heappop(early)
            heappush(ready, (-remaining[i], i))
        i = heappop(ready)[1]
        order.append(i)
        taken[i] = True
        for user in users[i]:
            waits[user] -= 1
            if not waits[user]:
                heappush(early, user)
        while oldest < len(steps) and taken[oldest]:
            oldest += 1
    return replace(program, steps=tuple(steps[i] for i in order), iterations=())


def _users_and_cycles(steps: Sequence[Expr]) -> tuple[list[list[int]], list[int]]:
    """Return the users of each step, once per use, and the cycles from its result to the end."""
    index = {step.id: i for i, step in enumerate(steps)}
    users: list[list[int]] = [[] for _ in steps]
    remaining = [0] * len(steps)
    for i, step in reversed(list(enumerate(steps))):
        for j in (index[a.id] for a in step.args):
            remaining[j] = max(remaining[j], remaining[i] + LATENCY.get(step.op, USUAL))
            users[j].append(i)
    return users, remaining
