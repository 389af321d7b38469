"""Closed-loop output error: the parameters whose simulated torque is that which was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....errors import ProblemError, mention
from ...model.problem import Problem
from ..estimator_thresholds import THRESHOLDS
from ..least_squares import weighted
from .didim import DIDIM
from .feedback_loop import feedback_loop
from .linearised import TorqueRateProblem
from .simulated_states import (
    as_smoothed,
    is_simulated,
    physical,
    with_simulated_motion,
    without_smoothing_width,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CLOE(DIDIM):
    """argmin |tau - tau_s(base)|^2 by Gauss-Newton, tau_s the simulated controller torque.

    The rows are the exact derivatives of the simulated torque, steps of the integrator and the
    controller's reaction included, where DIDIM takes the regressor. It begins where DIDIM ends.
    Options are as for DIDIM; without a controller the two are the same. Gautier, Janot and
    Vandanjon, IEEE Trans. Control Systems Technology 21 (2013), p. 428, section III; Walter and
    Pronzato 1997, p. 149.
    """

    name = "cloe"

    def linearise(self, problem: Problem) -> Problem:
        """Return the problem of least squares at the end of the steps of Gauss and Newton."""
        if (
            isinstance(problem, TorqueRateProblem)
            or self.controller is None
            or not any(map(is_simulated, problem.samples))
        ):
            return problem
        bytes_of = 8.0 * sum(s.N for s in problem.samples) * problem.n * (problem.base.n_base + 1)
        if bytes_of > THRESHOLDS.derivative_bytes:
            raise ProblemError(
                f"the derivatives of the simulated torque need {bytes_of / 1e9:.1f} GB: take a part"
                " of the log, or 'didim'"
            )
        base, weights = weighted(problem.total, problem.prior)
        pi = physical(problem, base, weights)
        best: tuple[float, TorqueRateProblem] | None = None
        for _ in range(THRESHOLDS.gauss_newton_steps):
            linearised = self.linearise_at(problem, pi)
            if linearised is None:
                break
            squares = float(
                np.sum(weights**2 * linearised.total.residual_squares(linearised.point))
            )
            if best is not None and squares > best[0] * (1.0 + THRESHOLDS.gauss_newton_tolerance):
                break
            best = (squares, linearised)
            base_values, _ = weighted(linearised.total, problem.prior)
            change = np.linalg.norm(
                linearised.total.triangle()[:-1, :-1] @ (base_values - linearised.point)
            )
            if change <= THRESHOLDS.gauss_newton_tolerance * np.sqrt(
                linearised.total.torque_squares().sum()
            ):
                break
            pi = physical(linearised, base_values, weights)
        if best is None:
            raise ProblemError(
                f"the simulated loop diverges: check the gains of {mention('controller')}, or take"
                f" {mention('estimator', 'auto')}"
            )
        return best[1]

    def linearise_at(self, problem: Problem, pi: Array) -> TorqueRateProblem | None:
        """Return the problem about parameters pi (p,); None where the simulated loop diverges."""
        model, columns = problem.model, list(problem.base.columns)
        simulated, rates = [], []
        for s in problem.samples:
            motion = feedback_loop(as_smoothed(s), self.controller).simulated(
                without_smoothing_width(model), pi, s, rates=True
            )
            assert motion.torque_rates is not None
            if not (
                np.all(np.isfinite(motion.states)) and np.all(np.isfinite(motion.torque_rates))
            ):
                return None
            simulated.append(with_simulated_motion(s, motion, False, problem.decimate))
            rates.append(motion.torque_rates[:, :, columns])
        return TorqueRateProblem(
            model,
            tuple(simulated),
            problem.decimate,
            point=problem.base.values(pi),
            rates=tuple(rates),
        )
