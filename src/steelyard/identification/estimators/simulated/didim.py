"""Direct and inverse dynamic identification.

Least squares on the regressor of a simulated motion.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ....simulation.controllers.controller import Controller
from ...model.problem import Problem
from ..least_squares import WLS, Estimate, Estimator
from .feedback_loop import require_controller
from .simulated_samples import with_simulated_samples
from .simulated_states import simulated_states


@dataclass(frozen=True)
class DIDIM(Estimator):
    """Least squares of the measured torque on the regressor of the simulated closed loop.

    Only torques and the command are used of the log; positions are used where they differ from the
    simulated ones by more than noise. `controller` is the controller of steelyard.simulation that
    moved the robot, with its reference or without one for the commanded positions of the log; None
    for a robot that follows its command. `inner` is the estimator that the simulated motion is
    given to. Gautier, Janot and Vandanjon, IEEE Trans. Control Systems Technology 21 (2013), p.
    428.
    """

    controller: Controller | None = None
    inner: Estimator = field(default_factory=WLS)
    name = "didim"

    def __post_init__(self) -> None:
        require_controller(self.controller)

    def prepare(self, problem: Problem) -> Problem:
        """Return the problem with the states of the simulated motion.

        Unchanged where the samples have them already, or have other rows than joint torques.
        """
        if not problem.model.observation.has_joint_rows or any(
            s.smoothed is not None for s in problem.samples
        ):
            return problem
        factor = None if problem.automatic_rate else problem.decimate
        return with_simulated_samples(
            problem, simulated_states(problem.model, problem.samples, factor, self.controller)
        )

    def linearise(self, problem: Problem) -> Problem:
        """Return the least-squares problem whose solution is the estimate."""
        return problem

    def fit(self, problem: Problem) -> Estimate:
        """Return the estimate for a problem, whose motion is simulated if it has not been."""
        prepared = self.prepare(problem)
        linearised = self.linearise(prepared)
        estimate = self.inner.fit(linearised)
        notes = prepared.notes[len(problem.notes) :] + estimate.notes
        solved = None if linearised is prepared else linearised
        return replace(estimate, notes=notes, linearised=solved)
