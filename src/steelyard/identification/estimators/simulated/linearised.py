"""Problems whose rows are not those of the samples' regressor: of instruments, and of the derivatives of a simulated torque."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...model.problem import Block, Place, Problem
from ...model.rows import Reach, Rows
from ...samples.samples import Samples

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearisedProblem(Problem, ABC):
    """tau = Y' base + known' + noise, with rows Y' of another origin than the regressor; every joint may depend on every column.

    known' is such that the residual at the base parameters `at` (b,) is measured minus compared torque.
    """

    at: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def reach(self) -> Reach:
        """For each joint the columns that its rows have: all."""
        return Reach([tuple(range(self.base.n_base))] * self.n)

    def block(self, place: Place) -> Block:
        """Return the block at a place."""
        block = self.wide.block(place)
        Y, torque = self.rows_of(block)
        known = torque - Y @ self.at
        return replace(block, rows=Rows.of(Y), known=known, tau=block.tau + block.known - known, extra=None)

    @property
    def wide(self) -> Problem:
        """The problem of the samples' regressor, with the further columns."""
        return Problem(self.model, self.samples, self.decimate, self.columns)

    @abstractmethod
    def columns(self, samples: Samples, log: int) -> Array:
        """Return further columns (N, n, k) at samples of a log, which pass the same low-pass as the regressor."""

    @abstractmethod
    def rows_of(self, block: Block) -> tuple[Array, Array]:
        """Return rows (N, n, b), and the torque (N, n) [N m|N] that is compared with the measured one, of a block with the columns."""


@dataclass(frozen=True, eq=False)
class InstrumentProblem(LinearisedProblem):
    """Least squares whose solution is that of the instruments Z, with the covariance of instrumental variables.

    (Z^T W^2 X) base = Z^T W^2 tau, with X the regressor of the smoothed motion and Z that of the simulated one. The rows are Z T with T =
    (Z^T W^2 Z)^-1 Z^T W^2 X, the projection of X onto the instruments, the residuals those of X: the sandwich of least squares on them is
    (Z^T X)^-1 Z^T cov Z (X^T Z)^-1. Soderstrom and Stoica, "Instrumental Variable Methods for System Identification", 1983, section 3.
    """

    projection: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def columns(self, samples: Samples, log: int) -> Array:
        """Return [X known], the regressor of the smoothed motion and the torque known there."""
        q, qd, qdd = (samples.q, samples.qd, samples.qdd) if samples.smoothed is None else np.moveaxis(samples.smoothed, 1, 0)
        return np.concatenate([self.model.rows(q, qd, qdd), self.model.known_torque(q, qd, qdd)[:, :, None]], axis=2)

    def rows_of(self, block: Block) -> tuple[Array, Array]:
        """Return Z T, and X at + known."""
        X = block.extra
        assert X is not None
        return block.rows.dense @ self.projection, X[:, :, :-1] @ self.at + X[:, :, -1]


@dataclass(frozen=True, eq=False)
class TorqueRateProblem(LinearisedProblem):
    """Least squares on the derivatives of the simulated torque to the base parameters, about the parameters `at`.

    The samples have the motion that is simulated with those, `rates` for each log the derivatives (N, n, b). The torque that is compared is
    the inverse dynamics of that motion: the controller's own, but for the length of its steps.
    Ljung, "System Identification", 2nd ed., section 10.2.
    """

    rates: tuple[Array, ...] = ()

    def columns(self, samples: Samples, log: int) -> Array:
        """Return the derivatives at some of the samples."""
        return np.asarray(self.rates[log][np.searchsorted(self.samples[log].t, samples.t)])

    def rows_of(self, block: Block) -> tuple[Array, Array]:
        """Return the derivatives, and the simulated torque."""
        assert block.extra is not None
        return block.extra, block.rows @ self.at + block.known
