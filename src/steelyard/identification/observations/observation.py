"""Observation: rows of an identification, their names, units and prediction by a robot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...option_groups.identification import KnownArgument
from ...parameters.base import BaseParameters, exciting_states
from ...robot import Robot
from ...signals.log import Log
from ..model.known import KnownFunction, Torque
from ..model.model_options import ModelOptions
from ..samples.preparation import Preparation
from ..samples.samples import Samples
from ..samples.smoothing import NoiseSource

Array = NDArray[np.float64]
DIAGNOSIS = "diagnosis"
DELAY = "delay"
DRIVE_GAINS = "drive_gains"
FRICTION_CHOICE = "friction choice"
ELASTIC = "elastic"
CONTROLLER = "controller"
RESIDUAL = "residual"
EVERY_STEP = frozenset(
    {DIAGNOSIS, DELAY, DRIVE_GAINS, FRICTION_CHOICE, ELASTIC, CONTROLLER, RESIDUAL}
)


@dataclass(frozen=True, eq=False)
class SmoothedMotion:
    """Smoothed states (N, n) of a cleaned log.

    Parameters
    ----------
    states : q [rad|m], qd and qdd, each (N, n)
    used : (N,) samples whose acceleration is certain enough
    noise : source of the errors that smoothing leaves in the states
    period : [s] of a motion that repeats, None for others
    """

    states: tuple[Array, Array, Array]
    used: NDArray[np.bool_]
    noise: NoiseSource
    period: float | None


@dataclass(frozen=True, eq=False)
class EstimatedParameters:
    """Estimated parameters, as a prediction of torques reads them.

    Parameters
    ----------
    robot : the identified robot
    structure : the model's robot, which has a column for each parameter
    rows : function (q, qd, qdd) -> base columns of the regressor (N, n, b)
    parameters : (p,)
    base : the base parameters
    covariance : (b, b) of the base parameters
    parameter_covariance : (p, p), None where the estimator has no prior
    known : known torque that the robot cannot carry
    """

    robot: Robot
    structure: Robot
    rows: Callable[[Array, Array, Array], Array]
    parameters: Array
    base: BaseParameters
    covariance: Array
    parameter_covariance: Array | None
    known: KnownFunction | None


@dataclass(frozen=True)
class Observation(ABC):
    """A kind of measurement that parameters are identified from.

    Every kind gives the same linear problem, y = Y(q, qd, qdd) pi + noise, with other rows y.

    Attributes
    ----------
    case : the kind of log or robot, for error messages
    allowed : steps of the pipeline that these rows allow
    has_joint_rows : whether row j is the torque of joint j; compiled kernels then give the rows
    predicts_measurements : whether `predict` gives what the log measures, with its noise
    """

    case: ClassVar[str]
    allowed: ClassVar[frozenset[str]] = frozenset()
    has_joint_rows: ClassVar[bool] = False
    predicts_measurements: ClassVar[bool] = False

    @abstractmethod
    def applies(self, robot: Robot, logs: Sequence[Log]) -> bool:
        """Return whether these logs of this robot have such rows."""

    @abstractmethod
    def row_names(self, robot: Robot) -> tuple[str, ...]:
        """Return the name of each row."""

    def row_units(self, robot: Robot) -> tuple[str, ...]:
        """Return the unit of each row: N m, or N of a prismatic joint."""
        kinds = [robot.mechanism.joint(name).kind for name in self.row_names(robot)]
        return tuple("N" if kind == "prismatic" else "N m" for kind in kinds)

    def notes(self, robot: Robot) -> tuple[str, ...]:
        """Return sentences on what these rows show and what they do not."""
        return ()

    def model_options(self, options: ModelOptions) -> ModelOptions:
        """Return the options of a model whose terms these rows can show."""
        return options

    def model_robot(self, robot: Robot, complete: Robot) -> Robot:
        """Return the robot of the model, from the described and the completed one."""
        return complete

    def unobservable(self, robot: Robot, model_robot: Robot, moving: bool) -> dict[int, float]:
        """Return parameters that no such row shows, index -> value of the description."""
        return {}

    @abstractmethod
    def select(self, robot: Robot, log: Log) -> Log:
        """Return the signals that are read of a log; raise LogError where one is missing."""

    @abstractmethod
    def samples(
        self, robot: Robot, log: Log, motion: SmoothedMotion, options: Preparation
    ) -> Samples:
        """Return the samples of a cleaned log, with the rows in `tau`."""

    @abstractmethod
    def regressor(self, robot: Robot, q: Array, qd: Array, qdd: Array, *base: Array) -> Array:
        """Return Y with y = Y [pi, constant parameters], (N, rows, p + k)."""

    def sampled_regressor(self, robot: Robot, moving: bool) -> Array:
        """Return the regressor at random states that the robot can have, (N rows, p)."""
        states = exciting_states(robot.tree)
        base = (exciting_base(len(states[0])),) if moving else ()
        p = len(robot.parameter_names)
        return self.regressor(robot, *states, *base)[..., :p].reshape(-1, p)

    def constant_parameters(self, robot: Robot) -> Array:
        """Return parameters (k,) that are not identified and contribute to the rows."""
        return np.zeros(0)

    def feasible_states(
        self, robot: Robot, q: Array, qd: Array, qdd: Array
    ) -> tuple[Array, Array, Array]:
        """Return the states near these (N, n) that the robot can have."""
        return q, qd, qdd

    @abstractmethod
    def predictor(
        self, robot: Robot, *, known: KnownArgument | None = None, structure: Robot | None = None
    ) -> Torque:
        """Return the function (q, qd, qdd, ...) -> rows (N, rows) of a robot.

        Parameters
        ----------
        robot : the robot that predicts
        known : torque that it cannot carry
        structure : robot of the same kinematics whose kernels are compiled already
        """

    @abstractmethod
    def predict(
        self, estimate: EstimatedParameters, q: Array, qd: Array, qdd: Array
    ) -> tuple[Array, Array]:
        """Return torques and the variance that the parameters give them, both (..., n)."""

    @abstractmethod
    def joint_torque(
        self,
        robot: Robot,
        known: KnownFunction | None,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        base: ArrayLike | None,
    ) -> Array:
        """Return the torque of the joints or drives of a robot, (..., n) [N m|N]."""


def exciting_base(count: int) -> Array:
    """Return random motions of a base, (count, 9), that excite every parameter they can.

    Accelerations [m/s2], angular velocities [rad/s] and angular accelerations [rad/s2].
    """
    return np.random.default_rng(1).normal(size=(count, 9)) * 3.0
