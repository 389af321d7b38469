"""CollisionObserver: external torque from generalised momenta, and collisions above a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import per_joint, real_number
from ...errors import CallError, require_robot
from ...floating_point import default_errstate_methods
from ...identification.result.fit import Fit
from ...robot import Robot
from .collision_calibration import CollisionCalibration
from .collision_thresholds import CalibratedThreshold, GaussianThreshold
from .online_identifier import OnlineIdentifier
from .online_thresholds import THRESHOLDS
from .stream import Stream

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Collision:
    """A detected contact.

    `time` [s] is the first sample and `joints` are the joints at which the external torque (n,)
    [N m|N] exceeds its threshold (n,).
    """

    time: float
    joints: tuple[str, ...]
    external_torque: Array
    threshold: Array
    names: tuple[str, ...]

    def __str__(self) -> str:
        indices = [self.names.index(joint) for joint in self.joints]
        listed = ", ".join(
            f"{self.names[j]} {self.external_torque[j]:.3g} (threshold {self.threshold[j]:.2g})"
            for j in indices
        )
        return (
            f"At {self.time:.6g} s something pushed the robot: external torque [N m|N] at {listed}."
        )


@default_errstate_methods
class CollisionObserver:
    """Estimate the external torque from generalised momenta and report collisions.

    Samples come one by one or in blocks.

    r = F (dp/dt - tau - C^T qd + g + friction), F = gain / (s + gain): the external torque through
    a low-pass, without accelerations. De Luca and Mattone 2003, eq. (9); Haddadin, De Luca and
    Albu-Schaeffer, IEEE Trans. Robotics 33 (2017), p. 1292.

    With a `Fit` the threshold is calibrated on held-out residuals of the fit's own log: block
    cross-validation, the largest residual of each joint while it moves forward, moves backward,
    reverses or stands, times 1.5. `calibration` is a `CollisionCalibration` with the observed rate
    of false alarms, the hours it is based on, and the smallest detectable torque. A joint is not
    monitored, and its threshold is infinite, in states that the log does not cover: too few visits,
    positions or velocities beyond the log, parameters too uncertain, or velocities noisier than in
    the log (`monitored`, `monitored_share`). A joint that the verdict does not trust is monitored
    in the states in which each half of the log confirms the threshold of the other, and near the
    log only. Each half is identified again for this. A fit without any such state warns. Nothing is
    monitored in the first 64 samples. Vovk, Gammerman and Shafer 2005, section 2.2 (conformal
    prediction).

    Where a log of the fit has no velocities, the observer differentiates the positions causally, in
    the calibration and live: `qd` is then not used and may be None.

    With a `Robot` or an `OnlineIdentifier` there is no held-out motion. The threshold is then z
    std(r) for white Gaussian errors, plus Coulomb friction of joints at rest, and no rate is known:
    `calibration` is None.

    Parameters
    ----------
    model : a `Fit`, an `OnlineIdentifier`, or a `Robot` with `noise`.
    gain : bandwidth of the observer [1/s].
    rate : of the samples [Hz], unless times come with them.
    noise : standard deviation of measured minus modelled torque, white [N m|N]: one or (n,).
    rest : speed below which a joint stands [rad/s|m/s]; by default a share of the speeds of a fit's
        log.
    hours : of a `Robot` or `OnlineIdentifier`: time between false alarms if errors were white and
        Gaussian [h].

    Examples
    --------
    >>> robot = sy.load("planar_2r")
    >>> c = sy.CollisionObserver(robot, rate=500.0, noise=0.1)
    >>> tau = robot.gravity_torque([0.3, 0.2])
    >>> c.update([0.3, 0.2], [0.0, 0.0], tau)
    >>> c.external_torque
    array([0., 0.])
    """

    def __init__(
        self,
        model: Fit | OnlineIdentifier | Robot,
        *,
        gain: float = 100.0,
        rate: float | None = None,
        noise: ArrayLike | float | None = None,
        rest: Any = None,
        hours: float | None = None,
    ) -> None:
        self.gain = real_number("gain [1/s]", gain, 1e-6)
        if not isinstance(model, (Fit, OnlineIdentifier)):
            require_robot(model, "CollisionObserver")
        names = (model.robot if isinstance(model, (Fit, OnlineIdentifier)) else model).joint_names
        rest_speed = None if rest is None else per_joint("rest", rest, names, 0.0, "rad/s|m/s")
        self._threshold: CalibratedThreshold | GaussianThreshold
        if isinstance(model, Fit):
            refuse_gaussian_options(noise, hours)
            self._threshold = CalibratedThreshold(model, self.gain, rest_speed)
        else:
            still = np.zeros(len(names)) if rest_speed is None else rest_speed
            between = real_number("hours", 100.0 if hours is None else hours, 1e-9)
            self._threshold = GaussianThreshold(model, noise, self.gain, still, between)
        self.robot = self._threshold.residual.terms.robot
        self._stream = Stream(names, None if rate is None else real_number("rate [Hz]", rate, 1e-6))
        self.external_torque: Array = np.zeros(self.robot.n)
        self.threshold: Array = np.zeros(self.robot.n)
        self.monitored: Bools = np.ones(self.robot.n, bool)
        self.collision: Collision | None = None
        self._monitored_samples = np.zeros(self.robot.n)

    @property
    def monitored_share(self) -> Array:
        """Share of all samples so far in which each joint was monitored, (n,)."""
        return np.asarray(self._monitored_samples / max(self._stream.count, 1))

    @property
    def calibration(self) -> CollisionCalibration | None:
        """The thresholds per joint and state with the held-out motion that supports them.

        None without a `Fit`.
        """
        return self._threshold.calibration

    def update(
        self, q: ArrayLike, qd: ArrayLike | None, tau: ArrayLike, t: ArrayLike | None = None
    ) -> Collision | None:
        """Take in one sample (n,) or a block (B, n), in order of time.

        Return the collision that it showed first, None without one.

        q [rad|m], qd, tau [N m|N]; t [s], () or (B,). `external_torque`, `threshold` and
        `monitored` then belong to these samples and have their shape; `collision` stays until
        `clear`.

        Parameters
        ----------
        q, qd, tau : (n,) or (B, n) [rad|m, per s, N m|N]; qd may be None if the log of the fit has
            no velocities.
        t : () or (B,) times [s].

        Returns
        -------
        A `Collision`, or None.

        Examples
        --------
        >>> c.update([0.3, 0.2], [0.0, 0.0], tau)
        """
        start = self._stream.count
        if qd is None:
            if self._threshold.needs_velocities:
                raise CallError(
                    "update: qd= is needed: this observer was calibrated with measured velocities,"
                    " or not at all"
                )
            qd = np.zeros(np.shape(q))
        (q_, qd_, tau_), dt = self._stream.take(q, qd, None, tau, t)
        step = self._stream.dt if np.isfinite(self._stream.dt) else 0.0
        r, limit = self._threshold.update(q_, qd_, tau_, dt, step)
        shape, warm = np.shape(q), max(THRESHOLDS.warm_up_samples - start, 0)
        if self.calibration is not None:
            limit[:warm] = np.inf
        self.external_torque, self.threshold = r.reshape(shape), limit.reshape(shape)
        watched = np.isfinite(limit)
        watched[:warm] = False
        self.monitored = watched.reshape(shape)
        self._monitored_samples += watched.sum(axis=0)
        above = watched & (np.abs(r) > limit)
        if self.collision is not None or not above.any():
            return None
        k = int(np.argmax(above.any(axis=1)))
        joints = tuple(
            name for name, hit in zip(self.robot.joint_names, above[k], strict=True) if hit
        )
        self.collision = Collision(
            self._stream.ago(len(r) - 1 - k), joints, r[k], limit[k], self.robot.joint_names
        )
        return self.collision

    def clear(self) -> None:
        """Forget the collision, and report the next.

        Returns
        -------
        Nothing.

        Examples
        --------
        >>> c.clear()
        """
        self.collision = None


def refuse_gaussian_options(noise: Any, hours: Any) -> None:
    """Raise CallError for options that the calibrated threshold of a fit would not use."""
    for name, value in (("noise", noise), ("hours", hours)):
        if value is not None:
            raise CallError(
                f"CollisionObserver: {name}= is not used with a Fit, whose threshold is calibrated"
                f" on held-out residuals; leave {name}= out, and read the observed rate from"
                " calibration"
            )
