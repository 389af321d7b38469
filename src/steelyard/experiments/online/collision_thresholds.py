"""Thresholds of the external torque.

Calibrated on the held-out residuals of a fit, or for Gaussian noise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import per_joint
from ...errors import CallError, refuse_loops, require_robot
from ...identification.model.linear_model import Model, build_model
from ...identification.result.fit import Fit
from ...robot import Robot
from .calibration.monitored_states import MonitoredThreshold
from .calibration.rule import RULE
from .causal_velocity import CausalDerivative, FilteredMotion, VelocityGuard
from .collision_calibration import CollisionCalibration, calibrate
from .hypotheses import least_certain
from .momentum_residual import ModelTerms, MomentumResidual, predicting_terms
from .online_identifier import OnlineIdentifier
from .online_thresholds import THRESHOLDS
from .sample_rows import SampleRows

Array = NDArray[np.float64]
# of the threshold: more noise and the largest residual exceed it
NOISE_SHARE = math.sqrt(1.0 - RULE.factor**-2.0)


class CalibratedThreshold:
    """External torque and threshold by the calibration of a fit.

    Parameters
    ----------
    fit : the identified robot
    gain : bandwidth of the observer [1/s]
    rest : speed of joints at rest, (n,) [rad/s|m/s], or None
    """

    def __init__(self, fit: Fit, gain: float, rest: Array | None) -> None:
        refuse_loops(fit.robot, "CollisionObserver", "observe an arm without loops")
        self.calibration: CollisionCalibration | None
        self._calibration, limits = calibrate(fit, gain, rest)
        self.calibration = self._calibration
        self._gains = fit.pipeline.gains.values
        terms = predicting_terms(fit)
        self.residual = MomentumResidual(terms, gain, limits.rest, limits.modes)
        self._derivative = (
            CausalDerivative(THRESHOLDS.derivative_bandwidth * gain)
            if limits.differentiated
            else None
        )
        self._monitor = MonitoredThreshold(self._calibration, limits, gain, RULE)
        self._guard = VelocityGuard(limits.jump, 0.0)
        self._noise = VelocityNoise(
            fit.robot.without_known_function(), gain, THRESHOLDS.clipped_variance * limits.jitter
        )

    @property
    def needs_velocities(self) -> bool:
        """Whether velocities must be given.

        Otherwise positions are differentiated as in the calibration.
        """
        return self._derivative is None

    def update(
        self, q: Array, qd: Array, tau: Array, dt: Array, step: float
    ) -> tuple[Array, Array]:
        """Return external torque and threshold (N, n) [N m|N] of samples dt (N,) [s] apart."""
        external, limit = np.zeros_like(q), np.full_like(q, np.inf)
        motion = FilteredMotion(q, qd, tau * self._gains, dt, 0)
        if self._derivative is not None:
            motion = self._derivative.run(q, motion.tau, dt)
        if len(motion.dt):
            external[motion.skipped :], limit[motion.skipped :] = self._observe(motion, step)
        return external, limit

    def _observe(self, motion: FilteredMotion, step: float) -> tuple[Array, Array]:
        q, _, tau, dt, _ = motion
        self._guard.interval = step
        qd = self._guard.held(motion.qd, dt)
        r = self.residual.run(q, qd, tau, dt)
        limit = self._monitor.update(q, qd, r.torque, np.sqrt(np.sum(r.modes**2, axis=2)), dt)
        noise = THRESHOLDS.noise_deviations * np.sqrt(
            self._noise.variance(q, qd, THRESHOLDS.noisier_variance * self._calibration.jitter)
        )
        return r.external, np.where(noise > NOISE_SHARE * limit, np.inf, limit)


class GaussianThreshold:
    """External torque and threshold for white Gaussian noise of the torque.

    No rate of false alarms is known.

    Parameters
    ----------
    model : a `Robot` with `noise`, or an `OnlineIdentifier`
    noise : standard deviation of measured minus modelled torque [N m|N]
    gain : bandwidth of the observer [1/s]
    rest : speed of joints at rest, (n,) [rad/s|m/s]
    hours : time between false alarms under these assumptions [h]
    """

    calibration: CollisionCalibration | None = None
    needs_velocities = True

    def __init__(
        self, model: OnlineIdentifier | Robot, noise: Any, gain: float, rest: Array, hours: float
    ) -> None:
        robot, linear, covariance, self._sigma = known_errors(model, noise, gain)
        self.gain, self._hours = gain, hours
        names = robot.joint_names
        values = dict(zip(robot.parameter_names, robot.parameters, strict=True))
        self._coulomb = np.array([abs(float(values.get(f"{name}.Fc", 0.0))) for name in names])
        rows, modes = SampleRows(linear), np.zeros((0, 0))
        if covariance is not None:
            modes = least_certain(
                covariance, rows.typical(), np.maximum(self._sigma, 1e-12) ** -2.0
            )
        self.residual = MomentumResidual(ModelTerms(robot, linear, rows), gain, rest, modes)
        self._noise = VelocityNoise(robot, gain)

    def update(
        self, q: Array, qd: Array, tau: Array, dt: Array, step: float
    ) -> tuple[Array, Array]:
        """Return external torque and threshold (N, n) [N m|N] of samples dt (N,) [s] apart."""
        r = self.residual.run(q, qd, tau, dt)
        decay = np.exp(-self.gain * np.where(dt > 0.0, dt, step))
        averaged = self._sigma**2 * ((1.0 - decay) / (1.0 + decay))[:, None]
        variance = averaged + np.sum(r.modes**2, axis=2) + self._noise.variance(q, qd, 0.0)
        return (
            r.external,
            self._quantile(step or 1e-3) * np.sqrt(variance) + r.resting * self._coulomb,
        )

    def _quantile(self, step: float) -> float:
        from scipy.special import ndtri

        return float(-ndtri(0.5 * step / (self._hours * 3600.0 * len(self._coulomb))))


class VelocityNoise:
    """Variance of the external torque due to noise of the velocities.

    gain^2 M^2 times the variance of the velocity noise. White noise has a sixth of the variance of
    its second differences.

    Parameters
    ----------
    robot : the robot
    gain : bandwidth of the observer [1/s]
    most : squares of second differences over six above which they are clipped, (n,); None for no
        limit
    """

    def __init__(self, robot: Robot, gain: float, most: Array | None = None) -> None:
        self.robot, self.gain, self._most = robot, gain, most
        self._speeds = np.zeros((0, robot.n))
        self._total, self._count = np.zeros(robot.n), 0

    def variance(self, q: Array, qd: Array, usual: Array | float) -> Array:
        """Return the variance (N, n) by what the velocities have beyond a usual variance (n,)."""
        known = np.concatenate([self._speeds, qd])
        second = (
            np.diff(known, 2, axis=0) ** 2 / 6.0 if len(known) > 2 else np.zeros((0, qd.shape[1]))
        )
        self._speeds = known[-2:]
        if self._most is not None:
            second = np.minimum(second, self._most)
        mean = np.zeros_like(qd)
        if len(second):
            total = self._total + np.cumsum(second, axis=0)
            counts = self._count + np.arange(1, len(second) + 1)
            mean[len(qd) - len(second) :] = total / counts[:, None]
            self._total, self._count = total[-1], int(counts[-1])
        excess = np.maximum(mean - usual, 0.0)
        if not excess.any():
            return excess
        M = np.asarray(self.robot.mass_matrix(q))
        return np.asarray(self.gain**2 * np.einsum("tij,tj->ti", M**2, excess))


def known_errors(
    model: OnlineIdentifier | Robot, noise: Any, gain: float
) -> tuple[Robot, Model, Array | None, Array]:
    """Return robot, model, covariance of the base parameters, and torque noise (n,)."""
    if isinstance(model, OnlineIdentifier):
        sigma, covariance = model.errors(2.0 / gain)
        return model.robot, model.model, covariance, sigma
    require_robot(model, "CollisionObserver")
    refuse_loops(model, "CollisionObserver", "observe an arm without loops")
    if noise is None:
        raise CallError(
            "CollisionObserver: how wrong is this robot's torque? Give a Fit (sy.identify) or an"
            " OnlineIdentifier, or noise= [N m|N], the standard deviation of measured minus"
            " modelled torque, one number or one per joint"
        )
    return (
        model,
        build_model(model),
        None,
        per_joint("noise", noise, model.joint_names, 0.0, "N m|N"),
    )
