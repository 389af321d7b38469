"""Friction of one joint for every width of the Coulomb step and presliding distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...mechanism.tree import TermUse
from ..model.linear_model import Model
from ..model.model_thresholds import THRESHOLDS as MODEL_THRESHOLDS
from ..nuisance.friction_shape import CANDIDATES, between
from .friction_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Shapes(NamedTuple):
    """Widths of the Coulomb step [rad/s|m/s], 0 without one, and presliding distances [rad|m]."""

    widths: tuple[float, ...]
    distances: tuple[float, ...]

    @classmethod
    def of(cls, model: Model, joint: int, width: bool, step: int) -> Shapes:
        """Return every `step`-th width, or the width of the model if it is given; and distances."""
        widths = CANDIDATES["width"][::step] if width else (model.shape("width")[joint],)
        return cls(tuple(widths), tuple(CANDIDATES["distance"][:: max(1, step // 3)]))


@dataclass(frozen=True)
class MemoryChoice:
    """Friction with memory of one joint, and what it gains.

    `distance` [rad|m] and `width` [rad/s|m/s], 0 for a sharp step, are of least residual; `share`
    and `reversal_share` are the falls of the held-out error of all rows and of rows near
    reversals; `value` [N m|N] is the friction with memory.
    """

    distance: float
    width: float
    value: float
    share: float
    reversal_share: float

    @property
    def has_memory(self) -> bool:
        """Whether it differs from a sharp Coulomb step: the least distance is one, too."""
        return self.value > 0.0 and (self.width > 0.0 or self.distance > CANDIDATES["distance"][0])

    @property
    def is_worth_a_look(self) -> bool:
        """Whether memory gains anything near reversals, beside unfiltered noise of the torque."""
        return self.has_memory and self.reversal_share >= THRESHOLDS.first_reversal_gain

    @property
    def is_promising(self) -> bool:
        """Whether memory gains enough with the other parameters as they are."""
        return (
            self.has_memory
            and self.share >= THRESHOLDS.least_gain
            and self.reversal_share >= THRESHOLDS.least_reversal_gain
        )


@dataclass(frozen=True, eq=False)
class ShapeGrid:
    """Gram matrices of one joint's friction for every width and presliding distance.

    Columns are: torque without friction; friction without a step; the k terms with a step, width
    by width; presliding states, distance by distance. `near` and `far` (F, K, K) are the Gram
    matrices of rows near reversals and of the others, part by part. `plain` is the number of
    friction columns without a step.
    """

    near: Array
    far: Array
    plain: int
    steps: int
    widths: tuple[float, ...]
    distances: tuple[float, ...]

    @classmethod
    def of(
        cls, signals: Array, near: Bools, used: Bools, group: dict[int, TermUse], shapes: Shapes
    ) -> ShapeGrid:
        """Return the Gram matrices of columns (N, K), with rows (N,) near reversals and in use."""
        parts = np.array_split(np.arange(len(signals)), MODEL_THRESHOLDS.folds)

        def grams(selected: Bools) -> Array:
            chosen = [signals[part][selected[part]] for part in parts]
            return np.stack([x.T @ x for x in chosen])

        steps = sum("width" in use.row.shapes for use in group.values())
        return cls(
            near=grams(near & used),
            far=grams(~near & used),
            plain=len(group) - steps,
            steps=steps,
            widths=shapes.widths,
            distances=shapes.distances,
        )

    def columns(self, memory: bool) -> NDArray[np.intp]:
        """Return the columns of each combination of a width and a distance, (combinations, m)."""
        first = 1 + self.plain + self.steps * len(self.widths)
        fixed = list(range(1, 1 + self.plain))
        return np.array(
            [
                [*fixed, *(1 + self.plain + w * self.steps + np.arange(self.steps)), *state]
                for w in range(len(self.widths))
                for state in ([[first + d] for d in range(len(self.distances))] if memory else [[]])
            ],
            np.intp,
        )

    def fit(self, gram: Array, columns: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return the coefficients (C, m) and squared residuals (C,) of combinations.

        Steps and memory that come out negative are left out.
        """
        A = gram[columns[:, :, None], columns[:, None, :]]
        b = gram[columns, 0]
        scale = np.sqrt(np.maximum(np.diagonal(A, axis1=1, axis2=2), 1e-300))
        A = A / (scale[:, :, None] * scale[:, None, :]) + 1e-9 * np.eye(A.shape[1])
        right = b / scale
        signed = np.arange(A.shape[1]) >= self.plain
        used = np.ones(right.shape, bool)
        for _ in range(2):
            both = used[:, :, None] & used[:, None, :]
            system = np.where(both, A, np.eye(A.shape[1]))
            x = np.linalg.solve(system, np.where(used, right, 0.0)[:, :, None])[:, :, 0]
            used &= ~((x < 0.0) & signed)
        x = np.where(used, x, 0.0) / scale
        return x, residual_squares(gram, columns, x)

    def predict(self, fitted: Array, part: int, columns: NDArray[np.intp]) -> tuple[float, float]:
        """Return the squared errors of a part near reversals and elsewhere.

        The combination of least residual on the Gram matrix `fitted` predicts it.
        """
        x, squares = self.fit(fitted, columns)
        k = int(np.argmin(squares))
        best = columns[k : k + 1], x[k : k + 1]
        near, far = (float(residual_squares(g[part], *best)[0]) for g in (self.near, self.far))
        return near, far

    def choose(self) -> MemoryChoice:
        """Return the best friction with memory and its gain over friction without it."""
        whole = self.near + self.far
        total, rounding = whole.sum(axis=0), 1e-12 * float(whole[:, 0, 0].sum())
        without, with_z = self.columns(False), self.columns(True)
        errors = np.array(
            [
                [self.predict(total - whole[k], k, columns) for columns in (without, with_z)]
                for k in range(len(whole))
            ]
        )  # part, without or with memory, near or far
        near, every = errors[:, :, 0].sum(axis=0), errors.sum(axis=(0, 2))
        x, squares = self.fit(total, with_z)
        w, d = divmod(int(np.argmin(squares)), len(self.distances))
        costs = squares[w * len(self.distances) : (w + 1) * len(self.distances)]
        return MemoryChoice(
            distance=between(self.distances, costs.tolist(), d),
            width=self.widths[w],
            value=float(x[w * len(self.distances) + d, -1]),
            share=relative_fall(every, rounding),
            reversal_share=relative_fall(near, rounding),
        )


def residual_squares(gram: Array, columns: NDArray[np.intp], x: Array) -> Array:
    """Return the squared residuals (C,) of coefficients x (C, m) of some columns (C, m)."""
    A = gram[columns[:, :, None], columns[:, None, :]]
    fitted = np.einsum("ci,cij,cj->c", x, A, x)
    return np.maximum(gram[0, 0] - 2.0 * np.sum(x * gram[columns, 0], axis=1) + fitted, 0.0)


def relative_fall(squares: Array, rounding: float) -> float:
    """Return the fall of the error from squares[0] to squares[1], 0 where nothing is in use."""
    before = float(squares[0]) + rounding
    return float(1.0 - np.sqrt((squares[1] + rounding) / before)) if before > 0 else 0.0
