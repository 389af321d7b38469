"""Base wrenches: what a force plate under the robot measures; no joint torque is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import LogError
from ...option_groups.identification import KnownArgument
from ...robot import Robot
from ...signals.log import WRENCH, Log
from ..model.known import KnownFunction, Torque
from ..model.model_options import ModelOptions
from ..samples.preparation import Preparation
from ..samples.samples import (
    Samples,
    logged_base_motion,
    refuse_degrees,
    require_finite,
    require_numbers,
)
from ..samples.smoothing import drawn_errors
from .observation import EstimatedParameters, Observation, SmoothedMotion

Array = NDArray[np.float64]
COMPONENTS = tuple(WRENCH)
NOTES = (
    (
        "Friction, offsets and rotor inertias act between the links and do not reach the base: "
        "they are taken from the description."
    ),
    (
        "The plate is taken to measure the weight of the whole robot; the inertia of the base link "
        "is taken from the description."
    ),
)


@dataclass(frozen=True)
class BaseWrenches(Observation):
    """w = Y_b(q, qd, qdd, base) [pi, pi_0], the wrench (N, 6) of the base [N, N m].

    pi_0 are the parameters of the base link, taken from the description. Khalil and Dombre
    2002, section 12.5; Grotjahn, Daemi and Heimann 2001.
    """

    case = "a log of base wrenches"

    def applies(self, robot: Robot, logs: Sequence[object]) -> bool:
        """Return whether the logs have wrenches and no joint torques; LogError where some have."""
        plates = [
            isinstance(log, Log) and log.tau is None and log.base_wrench is not None for log in logs
        ]
        if any(plates) and not all(plates):
            raise LogError(
                f"log {plates.index(False) + 1} of {len(logs)} has joint torques, others wrenches"
                " of the base: identify them separately"
            )
        return any(plates)

    def row_names(self, robot: Robot) -> tuple[str, ...]:
        """Return the components of a wrench, fx to mz."""
        return COMPONENTS

    def row_units(self, robot: Robot) -> tuple[str, ...]:
        """Return N for the force, N m for the moment."""
        return tuple(WRENCH.values())

    def notes(self, robot: Robot) -> tuple[str, ...]:
        """Return what a plate does not show."""
        return NOTES

    def model_options(self, options: ModelOptions) -> ModelOptions:
        """Return the options without joint terms, which do not reach the base."""
        return replace(options, friction=(), rotor=False, known=None, coupling=())

    def model_robot(self, robot: Robot, complete: Robot) -> Robot:
        """Return the robot as described."""
        return robot

    def unobservable(self, robot: Robot, model_robot: Robot, moving: bool) -> dict[int, float]:
        """Return the joint terms that do not reach the base, with the values of the description."""
        zero = ~np.any(np.abs(self.sampled_regressor(model_robot, moving)) > 0, axis=0)
        links = 10 * len(robot.tree.bodies)
        return {int(i): float(robot.parameters[i]) for i in np.flatnonzero(zero) if i >= links}

    def select(self, robot: Robot, log: Log) -> Log:
        """Return the log without torques; raise LogError without wrenches of the base."""
        if log.base_wrench is None:
            raise LogError(
                f"{log.where}the log has no base_wrench (N, 6); this fit was made from wrenches of"
                " the base"
            )
        log = log.reordered(robot).replace(tau=None)
        require_numbers(log)
        refuse_degrees(robot, log)
        return log

    def samples(
        self, robot: Robot, log: Log, motion: SmoothedMotion, options: Preparation
    ) -> Samples:
        """Return the samples of a cleaned log, with the wrench in `tau`."""
        require_finite(log, "base_wrench")
        assert log.base_wrench is not None
        t, q, qd, qdd, wrench = (x[motion.used] for x in (log.t, *motion.states, log.base_wrench))
        base = logged_base_motion(robot, log)
        samples = Samples(
            t=t,
            q=q,
            qd=qd,
            qdd=qdd,
            tau=wrench,
            remarks=log.remarks,
            source=log.source,
            base=None if base is None else base[motion.used],
        )
        return replace(samples, errors=drawn_errors(t[samples.middle], motion.noise))

    def regressor(self, robot: Robot, q: Array, qd: Array, qdd: Array, *base: Array) -> Array:
        """Return Y_b, (N, 6, p + 10)."""
        return np.asarray(robot.base_wrench_regressor(q, qd, qdd, *base))

    def constant_parameters(self, robot: Robot) -> Array:
        """Return the parameters of the base link, (10,)."""
        return np.asarray(robot.root_parameters)

    def predictor(
        self, robot: Robot, *, known: KnownArgument | None = None, structure: Robot | None = None
    ) -> Torque:
        """Return the wrench of the base of a robot."""
        return robot.base_wrench

    def predict(
        self, estimate: EstimatedParameters, q: Array, qd: Array, qdd: Array
    ) -> tuple[Array, Array]:
        """Return joint torques and their variance by the links; friction is the description's."""
        Y, covariance = estimate.robot.regressor(q, qd, qdd), estimate.parameter_covariance
        if covariance is None:
            lift = np.linalg.pinv(estimate.base.matrix)
            covariance = lift @ estimate.covariance @ lift.T
        variance = np.einsum("...jp,pq,...jq->...j", Y, covariance, Y)
        return np.asarray(estimate.robot.inverse_dynamics(q, qd, qdd)), variance

    def joint_torque(
        self,
        robot: Robot,
        known: KnownFunction | None,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        base: ArrayLike | None,
    ) -> Array:
        """Return the joint torques of a robot, (..., n) [N m|N]."""
        return np.asarray(robot.inverse_dynamics(q, qd, qdd, base=base))


BASE_WRENCHES = BaseWrenches()
