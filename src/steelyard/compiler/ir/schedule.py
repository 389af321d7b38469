"""Other orders of a program's steps, with the same results: what a processor can do at once depends on what stands close together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heappop, heappush

from .graph import Expr
from .program import Program

WINDOW = 600  # steps that are looked at for the next one; more than a processor has in flight would only fill its registers
LATENCY = {"div": 13, "sqrt": 20, "sin": 40, "cos": 40, "atan2": 60, "asin": 60, "acos": 60, "exp": 100, "tanh": 100}
USUAL = 4  # cycles of any other operation


def side_by_side(made: Program) -> Program:
    """The same program with its steps in the order of their depth: chains that do not depend on each other run at once.

    Of use where a program solves several branches one after another, each a long chain of roots and quotients.
    """
    depth: dict[int, int] = {}
    for step in made.steps:
        depth[step.id] = max((depth[a.id] + 1 for a in step.args), default=0)
    return replace(made, steps=tuple(sorted(made.steps, key=lambda step: (depth[step.id], step.id))), iterations=())


def longest_first(made: Program, window: int = WINDOW) -> Program:
    """The same program with the step first, of the next `window` ones, whose results take longest to reach the end.

    Of use where a program waits for its own results, so that no other work fills the time of a long chain, such as a factorisation.
    List scheduling; Muchnick, "Advanced Compiler Design and Implementation", 1997, section 17.1.2.
    """
    steps = made.steps
    users, left = _users_and_cycles(steps)
    waits = [len(step.args) for step in steps]
    early = [i for i, count in enumerate(waits) if not count]
    ready: list[tuple[int, int]] = []
    order: list[int] = []
    taken, oldest = [False] * len(steps), 0
    while len(order) < len(steps):
        while early and early[0] < oldest + window:
            i = heappop(early)
            heappush(ready, (-left[i], i))
        i = heappop(ready)[1]
        order.append(i)
        taken[i] = True
        for user in users[i]:
            waits[user] -= 1
            if not waits[user]:
                heappush(early, user)
        while oldest < len(steps) and taken[oldest]:
            oldest += 1
    return replace(made, steps=tuple(steps[i] for i in order), iterations=())


def _users_and_cycles(steps: Sequence[Expr]) -> tuple[list[list[int]], list[int]]:
    """Of each step the places of those that use it, once for each use, and the cycles from its result to the last one's."""
    place = {step.id: i for i, step in enumerate(steps)}
    users: list[list[int]] = [[] for _ in steps]
    left = [0] * len(steps)
    for i, step in reversed(list(enumerate(steps))):
        for j in (place[a.id] for a in step.args):
            left[j] = max(left[j], left[i] + LATENCY.get(step.op, USUAL))
            users[j].append(i)
    return users, left
