"""The closed loop of a log, simulated.

A model of the robot, its controller, and the motion that it was to follow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....arguments import short_repr
from ....checks.states import States
from ....errors import CallError
from ....motion import Trajectory
from ....signals.smooth.kalman import Smoother
from ....simulation import simulate
from ....simulation.controllers.controller import Controller
from ....simulation.dry_friction import DRY, remembers
from ....simulation.sensitivities import Sensitivities, sensitivities
from ...model.linear_model import Model
from ...samples.samples import Samples
from ..estimator_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimulatedMotion:
    """States (3, N, n) at the times of samples, and where a joint sticks (N, n).

    `torque_rates` (N, n, p) are the derivatives of the controller's torque to the parameters, where
    they were asked for.
    """

    states: Array
    stuck: NDArray[np.bool_] | None = None
    torque_rates: Array | None = None


@dataclass(frozen=True, eq=False)
class FeedbackLoop:
    """What moved the robot of one log.

    A controller, and the motion that it followed from the time `start` [s] on.

    Without a controller the robot is taken to follow the command exactly, as under computed-torque
    control with its own model. `stand_in` says that the log has no command, so that the smoothed
    motion replaces it.
    """

    controller: Controller | None
    command: Trajectory
    start: float
    stand_in: bool = False

    @property
    def fixed(self) -> bool:
        """Whether the motion does not depend on the model."""
        return self.controller is None

    def simulated(
        self, model: Model, pi: Array, samples: Samples, rates: bool = False
    ) -> SimulatedMotion:
        """Return the motion of the model with parameters pi (p,) at the times of samples.

        NaN from where it diverges.

        `rates` asks for the derivatives of the torque too.
        """
        if self.controller is None:
            return SimulatedMotion(
                np.stack(self.command.motion(samples.t - self.start + self.command.t[0]))
            )
        law: Any = replace(self.controller, reference=self.command)  # type: ignore[type-var]
        dt = float(np.median(np.diff(samples.t)))
        parts = max(1, int(np.ceil(dt / THRESHOLDS.longest_step - 1e-6)))
        seconds = float(samples.t[-1]) - self.start + dt
        begin = self.command.motion(self.command.t[:1])
        options: dict[str, Any] = {"seconds": seconds, "step": dt / parts, "parameters": pi}
        derivatives: Sensitivities | None = None
        if rates:
            derivatives = sensitivities(
                model.robot, law, begin[0][0], begin[1][0], every=parts, **options
            )
        run = simulate(model.robot, law, begin[0][0], begin[1][0], **options)
        times = samples.t - self.start
        q, qd = (interpolated(times, run.t, x) for x in (run.q, run.qd))
        # jumps count as their mean
        qdd = (
            interpolated(times + dt / 2, run.t, run.qd)
            - interpolated(times - dt / 2, run.t, run.qd)
        ) / dt
        nearest = np.minimum(np.rint(times / options["step"]).astype(int), len(run.t) - 1)
        stuck = (run.qd[nearest] == 0.0) & np.array(dry(model))
        torque_rates = (
            None
            if derivatives is None
            else derivatives.torque[
                np.minimum(np.rint(times / dt).astype(int), len(derivatives.torque) - 1)
            ]
        )
        return SimulatedMotion(np.stack([q, np.where(stuck, 0.0, qd), qdd]), stuck, torque_rates)


def dry(model: Model) -> list[bool]:
    """Return which joints have friction that can hold them."""
    return [
        any(row.key in terms for row in DRY if not remembers(row, terms)) and not terms.get("width")
        for terms in model.robot.tree.terms
    ]


def interpolated(times: Array, t: Array, x: Array) -> Array:
    """Return x (T, n), given at times t (T,), at other times (N,), linearly between them."""
    return np.column_stack([np.interp(times, t, column) for column in x.T])


def feedback_loop(samples: Samples, controller: Controller | None) -> FeedbackLoop:
    """Return the loop of a log.

    The controller's own reference, else the commanded positions of the log, else the smoothed
    motion.
    """
    t, commanded = samples.command or (samples.t, None)
    reference = getattr(controller, "reference", None)
    if isinstance(reference, Trajectory):
        return FeedbackLoop(controller, reference, float(t[0]))
    if reference is not None:
        raise CallError(
            "controller: its reference must be a Trajectory, or None for the commanded positions"
            f" of the log, not {short_repr(reference)}",
            argument="controller",
        )
    if commanded is None:
        return FeedbackLoop(
            controller,
            sampled_motion(samples.t, samples.q, samples.qd, samples.qdd),
            float(samples.t[0]),
            True,
        )
    states = Smoother.fit(t, commanded).states(t, commanded)[0]
    return FeedbackLoop(controller, sampled_motion(t, *np.moveaxis(states, -1, 0)), float(t[0]))


def sampled_motion(t: Array, q: Array, qd: Array, qdd: Array) -> Trajectory:
    """Return the cubic Hermite motion through samples at times t (N,)."""
    from scipy.interpolate import CubicHermiteSpline

    path = CubicHermiteSpline(t, q, qd)
    rate = CubicHermiteSpline(t, qd, qdd)
    curve = rate.derivative()

    def motion(s: ArrayLike) -> States:
        times = np.clip(np.asarray(s, float), t[0], t[-1])
        return States(path(times), rate(times), curve(times))

    return Trajectory(t, q, qd, qdd, motion)


def require_controller(controller: object) -> None:
    """Raise CallError for an object that is not a controller."""
    if controller is not None and not (
        isinstance(controller, Controller) and not isinstance(controller, type)
    ):
        raise CallError(
            "controller must be one of steelyard.simulation, such as PD(kp=..., kd=...), or None"
            f" if unknown, not {short_repr(controller)}",
            argument="controller",
        )
