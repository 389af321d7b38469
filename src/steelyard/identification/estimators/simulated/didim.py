"""Direct and inverse dynamic identification: least squares on the regressor of a simulated motion."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ....simulation.controllers.controller import Controller
from ...model.linear_model import Model
from ...model.problem import Problem
from ...samples.samples import Samples
from ..least_squares import WLS, Estimate, Estimator
from .feedback_loop import require_controller
from .restate import Restated, restate


@dataclass(frozen=True)
class DIDIM:
    """Least squares of the measured torque on Y(q, qd, qdd) of the closed loop as it is simulated with the model itself.

    Only torques and the command are used of the log; positions are used where they differ from the simulated ones by more than noise.
    `controller` is that of steelyard.simulation which moved the robot, with its reference or without one for the commanded positions of
    the log; None for a robot that follows its command. `inner` is the estimator that the simulated motion is given to.
    Gautier, Janot and Vandanjon, IEEE Trans. Control Systems Technology 21 (2013), p. 428.
    """

    controller: Controller | None = None
    inner: Estimator = field(default_factory=WLS)
    name = "didim"

    def __post_init__(self) -> None:
        require_controller(self.controller)

    def restate(self, model: Model, samples: tuple[Samples, ...], factor: int | None) -> Restated:
        """Return the samples with the states of the simulated motion."""
        return restate(model, samples, factor, self.controller)

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem; its samples are restated if they have not been."""
        problem, notes = restated(self, problem)
        found = self.inner.fit(problem)
        return replace(found, notes=notes + found.notes)


def restated(estimator: DIDIM, problem: Problem) -> tuple[Problem, tuple[str, ...]]:
    """Return the problem with the states that an estimator simulates, and what it says; as it is where they are there already."""
    if any(s.smoothed is not None for s in problem.samples) or type(problem.model) is not Model:
        return problem, ()
    made = estimator.restate(problem.model, problem.samples, problem.decimate)
    return replace(problem, samples=made.samples), made.notes


def samples_for(
    estimator: Estimator, model: Model, samples: tuple[Samples, ...], factor: int | None
) -> tuple[tuple[Samples, ...], tuple[str, ...]]:
    """Return the samples with the motion that an estimator simulates, and what it says; as they are for one that simulates none.

    `factor` is that of decimation, None for the rate that the motion needs.
    """
    simulate = getattr(estimator, "restate", None)
    if simulate is None:
        return samples, ()
    made: Restated = simulate(model, samples, factor)
    return made.samples, made.notes


def problem_for(estimator: Estimator, problem: Problem) -> Problem:
    """Return the problem with the rows of an estimator that has rows of its own; as it is for the others."""
    rows = getattr(estimator, "linearised", None)
    return problem if rows is None else rows(problem)
