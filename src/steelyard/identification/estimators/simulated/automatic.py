"""The default: the physically consistent estimate, on the measured motion or on a simulated one, whichever explains the torque better."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ....errors import ProblemError
from ....simulation.controllers.controller import Controller
from ...model.linear_model import Model
from ...model.problem import Problem, merged
from ...samples.decimation import common_factor
from ...samples.samples import Samples
from ..least_squares import Estimate, Estimator, least_squares, weighted
from ..sdp import SDP
from .feedback_loop import require_controller
from .restate import Restated, cannot, restate

Array = NDArray[np.float64]
LEAST_GAIN = 0.01  # of the held-out squares that the simulated motion must win


@dataclass(frozen=True)
class Automatic:
    """SDP on the measured motion, or on that of the simulated closed loop where there is one and it predicts held-out torque better.

    Noise of the encoders in the regressor biases least squares; a simulated motion has none, but may be wrong. What tells is the torque:
    parts of the samples are predicted from the others, with the one motion and with the other. Without `controller` and without commanded
    positions in the log there is nothing to choose, and this is `inner`.
    Janot, Vandanjon and Gautier, IEEE Trans. Control Systems Technology 22 (2014), p. 132 (noise in the regressor, and a test of it).
    """

    controller: Controller | None = None
    inner: Estimator = field(default_factory=SDP)
    name = "auto"

    def __post_init__(self) -> None:
        require_controller(self.controller)

    def restate(self, model: Model, samples: tuple[Samples, ...], factor: int | None) -> Restated:
        """Return the samples with the motion that explains the torque better."""
        if cannot(model, samples, self.controller):
            return Restated(samples, model.start, (), False)
        try:
            made = restate(model, samples, factor, self.controller)
        except ProblemError as error:
            return Restated(samples, model.start, (f"The closed loop was not simulated: {error}.",), False)
        if not made.simulated:
            return made
        rate = factor or common_factor(made.samples)  # of both: through one low-pass the same noise is left of the torque
        own, other = (held_out_squares(Problem(model, each, rate)) for each in (samples, made.samples))
        shares = [f"{np.sqrt(each.sum() / total):.2%}" for each, total in (own, other)]
        if other[0].shape == own[0].shape and is_better(other[0], own[0]):
            note = (
                f"The motion was simulated, for it predicts held-out torque better than the measured one: {shares[1]} against {shares[0]}."
            )
            return replace(made, notes=(note, *made.notes))
        note = f"The measured motion was taken: a simulated one predicts held-out torque no better, {shares[1]} against {shares[0]}."
        return Restated(samples, model.start, (note,), False)

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem."""
        return self.inner.fit(problem)


def is_better(squares: Array, others: Array) -> bool:
    """Return whether held-out squares (parts, n) are less than others: by the mean over joints of the logarithm of all parts' sum.

    That is the likelihood of joints whose noise is not known, the same in all parts.
    """
    ours, theirs = (np.maximum(each.sum(axis=0), 1e-300) for each in (squares, others))
    return bool(np.mean(np.log(theirs / ours)) > LEAST_GAIN)


def held_out_squares(problem: Problem) -> tuple[Array, float]:
    """Return the squared errors of each part of the samples and joint (parts, n), predicted from the others, over the rows; and |tau|^2.

    Rows that one motion leaves out must not count for it: the squares are those of as many rows.
    """
    _, weights = weighted(problem.total, problem.prior, 2)
    parts = [fold for fold in problem.folds if sum(fold.counts)]
    made = []
    for k, fold in enumerate(parts):
        base = least_squares(merged(tuple(parts), without=k).triangle(weights), problem.prior)
        made.append(fold.residual_squares(base) / np.maximum(np.array(fold.counts), 1.0))
    counts = np.maximum(np.array([fold.counts for fold in parts]).sum(axis=0), 1.0)
    return np.array(made), float(np.sum(problem.total.torque_squares() / counts)) * len(parts)
