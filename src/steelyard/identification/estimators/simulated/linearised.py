"""Problems whose rows are not rows of the samples' regressor.

They are instruments, or derivatives of a simulated torque.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...model.problem import Block, BlockSpan, Problem
from ...model.rows import ColumnSupport, Rows
from ...samples.samples import Samples

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearisedProblem(Problem, ABC):
    """tau = Y' base + known' + noise, with rows Y' of another origin than the regressor.

    Every joint may depend on every column.

    known' is such that the residual at the base parameters `point` (b,) is measured minus compared
    torque.
    """

    point: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def reach(self) -> ColumnSupport:
        """For each joint the columns that its rows have: all."""
        return ColumnSupport([tuple(range(self.base.n_base))] * self.n)

    def block(self, span: BlockSpan) -> Block:
        """Return the block of a span."""
        block = self.wide.block(span)
        Y, torque = self.rows_of(block)
        known = torque - Y @ self.point
        return replace(
            block, rows=Rows.of(Y), known=known, tau=block.tau + block.known - known, extra=None
        )

    @property
    def wide(self) -> Problem:
        """The problem of the samples' regressor, with the further columns."""
        return Problem(self.model, self.samples, self.decimate, self.columns)

    @abstractmethod
    def columns(self, samples: Samples, log: int) -> Array:
        """Return further columns (N, n, k) at samples of a log, for the same low-pass."""

    @abstractmethod
    def rows_of(self, block: Block) -> tuple[Array, Array]:
        """Return rows (N, n, b) of a block, and the torque (N, n) [N m|N] to compare."""


@dataclass(frozen=True, eq=False)
class InstrumentProblem(LinearisedProblem):
    """Least squares with the solution and covariance of instrumental variables Z.

    (Z^T W^2 X) base = Z^T W^2 tau, with X the regressor of the smoothed motion and Z the regressor
    of the simulated one. The rows are Z T with T = (Z^T W^2 Z)^-1 Z^T W^2 X, the projection of X
    onto the instruments, the residuals are residuals of X: the sandwich of least squares on them is
    (Z^T X)^-1 Z^T cov Z (X^T Z)^-1. Soderstrom and Stoica, "Instrumental Variable Methods for
    System Identification", 1983, section 3.
    """

    projection: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def columns(self, samples: Samples, log: int) -> Array:
        """Return [X known], the regressor of the smoothed motion and the torque known there."""
        q, qd, qdd = (
            (samples.q, samples.qd, samples.qdd)
            if samples.smoothed is None
            else np.moveaxis(samples.smoothed, 1, 0)
        )
        return np.concatenate(
            [self.model.rows(q, qd, qdd), self.model.known_torque(q, qd, qdd)[:, :, None]], axis=2
        )

    def rows_of(self, block: Block) -> tuple[Array, Array]:
        """Return Z T, and X point + known."""
        X = block.extra
        assert X is not None
        return block.rows.dense @ self.projection, X[:, :, :-1] @ self.point + X[:, :, -1]


@dataclass(frozen=True, eq=False)
class TorqueRateProblem(LinearisedProblem):
    """Least squares on derivatives of the simulated torque by the base parameters at `point`.

    The samples have the motion that is simulated with those, `rates` for each log the derivatives
    (N, n, b). The torque that is compared is the inverse dynamics of that motion: the controller's
    own, but for the length of its steps. Ljung, "System Identification", 2nd ed., section 10.2.
    """

    rates: tuple[Array, ...] = ()

    def columns(self, samples: Samples, log: int) -> Array:
        """Return the derivatives at some of the samples."""
        return np.asarray(self.rates[log][np.searchsorted(self.samples[log].t, samples.t)])

    def rows_of(self, block: Block) -> tuple[Array, Array]:
        """Return the derivatives, and the simulated torque."""
        assert block.extra is not None
        return block.extra, block.rows @ self.point + block.known
