"""What the loops of a mechanism leave free: independent closures, independent coordinates, and whether the drives suffice.

It is decided once for a mechanism, at closed configurations, and holds at all others but singular ones: kernels then have no branches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError
from ...mechanism.tree import Tree
from .assembly import Array, Assembly

RANK = 1e-7  # of the largest row: what is left of a closure that is smaller counts as dependent on those before it
PREFERRED = 0.3  # of the largest remainder: the first closure that has as much is taken
SAMPLES = 12
MOVED = 3e-4  # rad or m: an independent coordinate that closed configurations let go as far can move
TRIED = 8  # closed configurations at which that is tried
CHOICES = 500  # of drives as independent coordinates that are compared


Assemble = Callable[..., Assembly]


@dataclass(frozen=True)
class LoopStructure:
    """`rows` are the independent closures, `independent` the coordinates that determine all others, both as indices.

    `case`: "exact" (as many drives as freedoms), "redundant" (more), or "underactuated" (some freedom has no drive).
    """

    closures: tuple[str, ...]
    coordinates: tuple[str, ...]
    rows: tuple[int, ...]
    independent: tuple[int, ...]
    driven: tuple[int, ...]
    case: str
    stuck: tuple[int, ...] = ()  # independent coordinates that cannot move all the same: loops that close at singular configurations only

    @property
    def freedoms(self) -> int:
        """How many coordinates move on their own when the loops are closed."""
        return len(self.independent) - len(self.stuck)

    @property
    def redundant(self) -> tuple[str, ...]:
        """Closures that follow from the others: their multipliers are zero here, and not determined by the motion."""
        return tuple(name for k, name in enumerate(self.closures) if k not in self.rows)

    def __str__(self) -> str:
        drives = f"{len(self.driven)} drive{'s' if len(self.driven) != 1 else ''}"
        words = {"exact": "exactly actuated", "redundant": "redundantly actuated", "underactuated": "under-actuated"}
        free = ", ".join(self.coordinates[c] for c in self.independent if c not in self.stuck)
        freedoms = f"{self.freedoms} freedom{'s' if self.freedoms != 1 else ''}{f' ({free})' if free else ''}"
        said = f"{len(self.coordinates)} joints, {len(self.rows)} independent closures of {len(self.closures)}; {freedoms}, "
        said += f"{drives}: {words[self.case]}"
        if self.stuck:
            names = ", ".join(self.coordinates[c] for c in self.stuck)
            said += f"; the loops close at singular configurations only, from which {names} cannot move"
        return said + (f"; closures that follow from the others: {', '.join(self.redundant)}" if self.redundant else "")


def loop_structure(tree: Tree, assemble: Assemble, jacobian: Callable[[Array], Array]) -> LoopStructure:
    """The structure of a tree; `assemble(q, count, free)` closes the first `count` loops by free coordinates, `jacobian(q)` is Phi.

    Raises ModelError with the loop that cannot be closed together with those before it.
    """
    closures = tuple(row for each in tree.loops for row in each.loop.rows)
    closed = closed_samples(tree, assemble)
    Phi = jacobian(closed)
    most = Phi[1:] if len(Phi) > 1 else Phi  # the first is that at zero, which is often a special one
    rows = greatest(most, [np.arange(len(closures))])
    passive = [c for c in range(tree.n) if c not in tree.driven]
    columns = np.swapaxes(most[:, rows], -1, -2)
    first = greatest(columns, [np.array(passive, dtype=int)], len(rows))
    dependent = first + best_columns(Phi[:, rows], first, [c for c in range(tree.n) if c not in first and c not in passive])
    independent = tuple(c for c in range(tree.n) if c not in dependent)
    unmoved = [c for c in independent if c in passive]
    case = "underactuated" if unmoved else "exact" if len(independent) == len(tree.driven) else "redundant"
    stuck = tuple(c for c in independent if not _moves(tree, assemble, closed[:TRIED], independent, c))
    return LoopStructure(closures, tree.coordinates, tuple(sorted(rows)), independent, tree.driven, case, stuck)


def _moves(tree: Tree, assemble: Assemble, closed: Array, independent: Sequence[int], c: int) -> bool:
    """Whether an independent coordinate can be moved from some closed configuration while the others stay.

    The rank of the closures alone does not tell: where they are singular everywhere, first-order motions lead nowhere.
    """
    moved = np.concatenate([closed, closed])
    moved[:, c] += np.repeat([MOVED, -MOVED], len(closed))
    found = assemble(moved, len(tree.loops), [k for k in range(tree.n) if k not in independent])
    return bool(np.any(found.closed))


def best_columns(Phi: Array, first: list[int], others: Sequence[int]) -> list[int]:
    """Those columns of Phi (samples, r, n) that with the first ones give the best conditioned square matrices; r - len(first) of others.

    The smallest singular value of all samples but the worst tenth decides. Where there are too many choices, pivoted QR takes them.
    """
    missing = Phi.shape[1] - len(first)
    if math.comb(len(others), missing) > CHOICES:
        return greatest(np.swapaxes(Phi, -1, -2), [np.array(first, dtype=int), np.array(others)], Phi.shape[1])[len(first) :]
    found, best = [], -1.0
    for chosen in combinations(others, missing):
        smallest = np.linalg.svd(Phi[..., [*first, *chosen]], compute_uv=False)[:, -1] if missing + len(first) else np.ones(1)
        score = min(float(np.quantile(smallest, 0.1)), float(smallest[0]))
        if score > best * (1 + 1e-6):
            found, best = list(chosen), score
    return found


def starts(tree: Tree) -> Array:
    """Configurations to assemble from: zero, small changes of it, and others within the limits of the joints."""
    rng = np.random.default_rng(0)
    lower = np.array([max(limits.lower, -1.5) for limits in tree.limits])
    upper = np.array([min(limits.upper, 1.5) for limits in tree.limits])
    near = rng.normal(scale=0.2, size=(SAMPLES, tree.n))
    wide = lower + (upper - lower) * rng.random((2 * SAMPLES, tree.n))
    return np.concatenate([np.zeros((1, tree.n)), np.clip(near, lower, upper), wide])


def closed_samples(tree: Tree, assemble: Assemble) -> Array:
    """Closed configurations, (samples, n), the one nearest to zero first."""
    found = assemble(starts(tree), len(tree.loops))
    if np.any(found.closed):
        return found.q[found.closed]
    names = [each.loop.name for each in tree.loops]
    for count in range(1, len(names) + 1):
        if not np.any(assemble(starts(tree), count).closed):
            before = f"together with {', '.join(names[: count - 1])}" if count > 1 else "at any position of the joints"
            gap = float(np.nanmin(assemble(starts(tree), count).gap))
            raise ModelError(f"loop {names[count - 1]!r} cannot be closed {before}: it conflicts; the gap stays {gap:.3g} m or rad")
    raise ModelError(f"the loops {', '.join(names)} cannot be closed together")


def greatest(matrices: Array, groups: Sequence[NDArray[np.int_]], most: int | None = None) -> list[int]:
    """Indices of rows that are independent in most of the matrices (samples, rows, columns), each as far as possible from those before.

    Rows of an earlier group come first. Gram-Schmidt with the first row among those with a large remainder, as pivoted QR does.
    """
    left, chosen = matrices.copy(), list[int]()
    largest = float(np.median(np.linalg.norm(left, axis=-1), axis=0).max(initial=0.0))
    for group in groups:
        while most is None or len(chosen) < most:
            sizes = np.median(np.linalg.norm(left, axis=-1), axis=0)
            rest = [k for k in group if k not in chosen and sizes[k] > RANK * largest]
            if not rest:
                break
            k = next(k for k in rest if sizes[k] >= PREFERRED * max(sizes[j] for j in rest))
            chosen.append(int(k))
            length = np.linalg.norm(left[:, k], axis=-1, keepdims=True)
            unit = left[:, k] / np.where(length > 0.0, length, 1.0)
            for _ in range(2):
                left = left - np.einsum("sij,sj->si", left, unit)[..., None] * unit[:, None, :]
    return chosen
