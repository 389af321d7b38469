"""Problems whose rows are not those of the samples' regressor: of instruments, and of the derivatives of a simulated torque."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...model.problem import Block, Problem
from ...samples.samples import Samples

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearisedProblem(Problem, ABC):
    """tau = Y' base + known' + noise, with rows Y' of another origin than the regressor; every joint may depend on every column.

    known' is such that the residual at the base parameters `at` (b,) is measured minus compared torque.
    """

    at: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def reach(self) -> tuple[tuple[int, ...], ...]:
        """For each joint the columns that its rows have: all."""
        return (tuple(range(self.base.n_base)),) * self.n

    def blocks(self, most: int | None = None) -> Iterator[Block]:
        """Yield every kept sample once, in order of time, log by log; with `most`, about that many blocks spread over all."""
        for block in Problem(self.model, self.samples, self.decimate, self.columns).blocks(most):
            Y, torque = self.rows_of(block)
            known = torque - Y @ self.at
            yield replace(block, Y=Y, known=known, tau=block.tau + block.known - known)

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
        b = self.base.n_base
        return block.Y[:, :, :b] @ self.projection, block.Y[:, :, b:-1] @ self.at + block.Y[:, :, -1]


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
        b = self.base.n_base
        return block.Y[:, :, b:], block.Y[:, :, :b] @ self.at + block.known
