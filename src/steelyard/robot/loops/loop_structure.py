"""Structure of a mechanism with loops: independent closures, coordinates and drives.

It is determined once for a mechanism, at closed configurations, and holds at all but singular ones:
kernels then have no branches.
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
from .loop_thresholds import THRESHOLDS

Assemble = Callable[..., Assembly]


@dataclass(frozen=True)
class LoopStructure:
    """Independent closures (`rows`) and coordinates (`independent`), as indices.

    `case`: "exact" (as many drives as degrees of freedom), "redundant" (more), or "underactuated"
    (fewer).
    """

    closures: tuple[str, ...]
    coordinates: tuple[str, ...]
    rows: tuple[int, ...]
    independent: tuple[int, ...]
    driven: tuple[int, ...]
    case: str
    # independent coordinates that cannot move all the same: loops that close at singular
    # configurations only
    stuck: tuple[int, ...] = ()

    @property
    def freedoms(self) -> int:
        """The number of degrees of freedom with closed loops."""
        return len(self.independent) - len(self.stuck)

    @property
    def redundant(self) -> tuple[str, ...]:
        """Closures that follow from the others.

        Their multipliers are zero, and not determined by the motion.
        """
        return tuple(name for k, name in enumerate(self.closures) if k not in self.rows)

    def __str__(self) -> str:
        drives = f"{len(self.driven)} drive{'s' if len(self.driven) != 1 else ''}"
        words = {
            "exact": "exactly actuated",
            "redundant": "redundantly actuated",
            "underactuated": "under-actuated",
        }
        free = ", ".join(self.coordinates[c] for c in self.independent if c not in self.stuck)
        freedoms = (
            f"{self.freedoms}"
            f" freedom{'s' if self.freedoms != 1 else ''}{f' ({free})' if free else ''}"
        )
        text = (
            f"{len(self.coordinates)} joints, {len(self.rows)} independent closures of"
            f" {len(self.closures)}; {freedoms}, "
        )
        text += f"{drives}: {words[self.case]}"
        if self.stuck:
            names = ", ".join(self.coordinates[c] for c in self.stuck)
            text += (
                f"; the loops close at singular configurations only, from which {names} cannot move"
            )
        return text + (
            f"; closures that follow from the others: {', '.join(self.redundant)}"
            if self.redundant
            else ""
        )


def loop_structure(
    tree: Tree, assemble: Assemble, jacobian: Callable[[Array], Array]
) -> LoopStructure:
    """Determine the structure of a tree.

    `assemble(q, count, free)` closes the first `count` loops by free coordinates, `jacobian(q)` is
    Phi. Raises ModelError with the loop that cannot be closed together with those before it.
    """
    closures = tuple(row for each in tree.loops for row in each.loop.rows)
    closed = closed_samples(tree, assemble)
    Phi = jacobian(closed)
    # the first is that at zero, which is often a special one
    most = Phi[1:] if len(Phi) > 1 else Phi
    rows = independent_rows(most, [np.arange(len(closures))])
    passive = [c for c in range(tree.n) if c not in tree.driven]
    columns = np.swapaxes(most[:, rows], -1, -2)
    first = independent_rows(columns, [np.array(passive, dtype=int)], len(rows))
    dependent = first + best_columns(
        Phi[:, rows], first, [c for c in range(tree.n) if c not in first and c not in passive]
    )
    independent = tuple(c for c in range(tree.n) if c not in dependent)
    unmoved = [c for c in independent if c in passive]
    case = (
        "underactuated"
        if unmoved
        else "exact"
        if len(independent) == len(tree.driven)
        else "redundant"
    )
    stuck = tuple(
        c
        for c in independent
        if not _can_move(tree, assemble, closed[: THRESHOLDS.tried_configurations], independent, c)
    )
    return LoopStructure(
        closures=closures,
        coordinates=tree.coordinates,
        rows=tuple(sorted(rows)),
        independent=independent,
        driven=tree.driven,
        case=case,
        stuck=stuck,
    )


def _can_move(
    tree: Tree, assemble: Assemble, closed: Array, independent: Sequence[int], c: int
) -> bool:
    """Return whether an independent coordinate can move from some closed configuration.

    The rank of the closures does not decide it: where they are singular everywhere, first-order
    motions cannot be continued.
    """
    moved = np.concatenate([closed, closed])
    moved[:, c] += np.repeat([THRESHOLDS.least_motion, -THRESHOLDS.least_motion], len(closed))
    assembly = assemble(moved, len(tree.loops), [k for k in range(tree.n) if k not in independent])
    return bool(np.any(assembly.closed))


def best_columns(Phi: Array, first: list[int], others: Sequence[int]) -> list[int]:
    """Choose the columns of Phi (samples, r, n) with the best conditioned square matrices.

    The first ones are fixed; r - len(first) others are added. The smallest singular value of all
    samples but the worst tenth decides. Where there are too many combinations, pivoted QR chooses.
    """
    missing = Phi.shape[1] - len(first)
    if math.comb(len(others), missing) > THRESHOLDS.compared_choices:
        return independent_rows(
            np.swapaxes(Phi, -1, -2), [np.array(first, dtype=int), np.array(others)], Phi.shape[1]
        )[len(first) :]
    columns, best = [], -1.0
    for chosen in combinations(others, missing):
        smallest = (
            np.linalg.svd(Phi[..., [*first, *chosen]], compute_uv=False)[:, -1]
            if missing + len(first)
            else np.ones(1)
        )
        score = min(float(np.quantile(smallest, 0.1)), float(smallest[0]))
        if score > best * (1 + 1e-6):
            columns, best = list(chosen), score
    return columns


def start_configurations(tree: Tree) -> Array:
    """Return configurations to assemble from: zero, small changes, and others within the limits."""
    rng = np.random.default_rng(0)
    lower = np.array([max(limits.lower, -1.5) for limits in tree.limits])
    upper = np.array([min(limits.upper, 1.5) for limits in tree.limits])
    near = rng.normal(scale=0.2, size=(THRESHOLDS.structure_samples, tree.n))
    wide = lower + (upper - lower) * rng.random((2 * THRESHOLDS.structure_samples, tree.n))
    return np.concatenate([np.zeros((1, tree.n)), np.clip(near, lower, upper), wide])


def closed_samples(tree: Tree, assemble: Assemble) -> Array:
    """Return closed configurations (samples, n), the one nearest to zero first."""
    assembly = assemble(start_configurations(tree), len(tree.loops))
    if np.any(assembly.closed):
        return assembly.q[assembly.closed]
    names = [each.loop.name for each in tree.loops]
    for count in range(1, len(names) + 1):
        if not np.any(assemble(start_configurations(tree), count).closed):
            before = (
                f"together with {', '.join(names[: count - 1])}"
                if count > 1
                else "at any position of the joints"
            )
            gap = float(np.nanmin(assemble(start_configurations(tree), count).gap))
            raise ModelError(
                f"loop {names[count - 1]!r} cannot be closed {before}: it conflicts; the gap stays"
                f" {gap:.3g} m or rad"
            )
    raise ModelError(f"the loops {', '.join(names)} cannot be closed together")


def independent_rows(
    matrices: Array, groups: Sequence[NDArray[np.int_]], most: int | None = None
) -> list[int]:
    """Return indices of rows that are independent in most matrices (samples, rows, columns).

    Each is as far as possible from those before. Rows of an earlier group come first. Gram-Schmidt
    with the first row among those with a large remainder, as pivoted QR does.
    """
    remainder, chosen = matrices.copy(), list[int]()
    largest = float(np.median(np.linalg.norm(remainder, axis=-1), axis=0).max(initial=0.0))
    for group in groups:
        while most is None or len(chosen) < most:
            sizes = np.median(np.linalg.norm(remainder, axis=-1), axis=0)
            rest = [
                k for k in group if k not in chosen and sizes[k] > THRESHOLDS.closure_rank * largest
            ]
            if not rest:
                break
            k = next(
                k
                for k in rest
                if sizes[k] >= THRESHOLDS.preferred_remainder * max(sizes[j] for j in rest)
            )
            chosen.append(int(k))
            length = np.linalg.norm(remainder[:, k], axis=-1, keepdims=True)
            unit = remainder[:, k] / np.where(length > 0.0, length, 1.0)
            for _ in range(2):
                remainder = (
                    remainder
                    - np.einsum("sij,sj->si", remainder, unit)[..., None] * unit[:, None, :]
                )
    return chosen
