"""The default estimator: SDP on the measured or the simulated motion, by held-out error."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....errors import ProblemError
from ...model.linear_model import Model
from ...model.problem import Problem, merged
from ...samples.decimation import common_decimation
from ...samples.samples import Samples
from ..estimator_thresholds import THRESHOLDS
from ..least_squares import Estimate, Estimator, least_squares, weighted
from ..sdp import SDP
from .simulated_samples import SimulatedSamples, why_not_simulated, with_simulated_samples

if TYPE_CHECKING:
    from ....simulation.controllers.controller import Controller

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Automatic(Estimator):
    """SDP on the measured motion, or on the simulated one if that predicts better.

    Noise of the encoders in the regressor biases least squares; a simulated motion has none, but
    may be wrong. Cross-validation decides: torques of parts of the samples are predicted from the
    others, with either motion. Without `controller` and without commanded positions in the log
    there is nothing to choose, and this is `inner`. Janot, Vandanjon and Gautier, IEEE Trans.
    Control Systems Technology 22 (2014), p. 132 (noise in the regressor, and a test of it).
    """

    controller: Controller | None = None
    inner: Estimator = field(default_factory=SDP)
    name = "auto"

    def __post_init__(self) -> None:
        if self.controller is not None:
            from .feedback_loop import require_controller

            require_controller(self.controller)

    def prepare(self, problem: Problem) -> Problem:
        """Return the problem with the motion that explains the torque better."""
        if not problem.model.observation.has_joint_rows:
            return problem
        factor = None if problem.automatic_rate else problem.decimate
        return with_simulated_samples(
            problem, self.better_motion(problem.model, problem.samples, factor)
        )

    def better_motion(
        self, model: Model, samples: tuple[Samples, ...], factor: int | None
    ) -> SimulatedSamples:
        """Return the samples with the measured or the simulated motion.

        `factor` is the decimation factor, None for the rate that the motion needs.
        """
        if why_not_simulated(model, samples, self.controller):
            return SimulatedSamples(samples, model.start, (), False)
        from .simulated_states import simulated_states

        try:
            simulated = simulated_states(model, samples, factor, self.controller)
        except ProblemError as error:
            return SimulatedSamples(
                samples, model.start, (f"The closed loop was not simulated: {error}.",), False
            )
        if not simulated.simulated:
            return simulated
        # of both: through one low-pass the same noise is left of the torque
        rate = factor or common_decimation(simulated.samples)
        measured, other = (
            held_out_squares(Problem(model, each, rate)) for each in (samples, simulated.samples)
        )
        shares = [f"{np.sqrt(each.sum() / total):.2%}" for each, total in (measured, other)]
        if other[0].shape == measured[0].shape and is_better(other[0], measured[0]):
            note = (
                "The motion was simulated, for it predicts held-out torque better than the"
                f" measured one: {shares[1]} against {shares[0]}."
            )
            return replace(simulated, notes=(note, *simulated.notes))
        note = (
            "The measured motion was taken: a simulated one predicts held-out torque no better,"
            f" {shares[1]} against {shares[0]}."
        )
        return SimulatedSamples(samples, model.start, (note,), False)

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        return self.inner.fit(problem)


def is_better(squares: Array, others: Array) -> bool:
    """Return whether held-out squares (parts, n) are less than others.

    By the mean over joints of the logarithm of all parts' sum.

    That is the likelihood of joints whose noise is not known, the same in all parts.
    """
    ours, theirs = (np.maximum(each.sum(axis=0), 1e-300) for each in (squares, others))
    return bool(np.mean(np.log(theirs / ours)) > THRESHOLDS.least_simulation_gain)


def held_out_squares(problem: Problem) -> tuple[Array, float]:
    """Return held-out mean squares of each part and joint (parts, n), and |tau|^2.

    Rows that one motion leaves out must not count for it: the squares are scaled to the same number
    of rows.
    """
    _, weights = weighted(problem.total, problem.prior, 2)
    parts = [fold for fold in problem.folds if sum(fold.counts)]
    squares = []
    for k, fold in enumerate(parts):
        base = least_squares(merged(tuple(parts), without=k).triangle(weights), problem.prior)
        squares.append(fold.residual_squares(base) / np.maximum(np.array(fold.counts), 1.0))
    counts = np.maximum(np.array([fold.counts for fold in parts]).sum(axis=0), 1.0)
    return np.array(squares), float(np.sum(problem.total.torque_squares() / counts)) * len(parts)
