"""Prediction: torque of a motion with its band, and the region that the samples cover."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers
from ...compiler.runtime.threads import mapped
from ...errors import CallError
from ...robot import Robot
from ...signals.filters import lowpass
from ..model.friction_memory import distance_derivative, memory_torque
from ..observations.observation import EstimatedParameters, Observation
from ..samples.samples import Samples, state_arrays
from .provenance import table_rows
from .result_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted torque and its standard deviation, (..., n) [N m|N].

    `inside` (...,): whether the log covered the state.

    `std` has the uncertainty of the parameters and the noise of a measured torque: 95 % of
    measurements lie between `low` and `high`. Where noise is not normal, it is the standard
    deviation of the normal distribution with the same 95 %.
    """

    torque: Array
    std: Array
    inside: Bools

    @property
    def low(self) -> Array:
        """torque - 1.96 std, (..., n) [N m|N]."""
        return self.torque - THRESHOLDS.band_deviations * self.std

    @property
    def high(self) -> Array:
        """torque + 1.96 std, (..., n) [N m|N]."""
        return self.torque + THRESHOLDS.band_deviations * self.std


@dataclass(frozen=True, eq=False)
class Region:
    """The states that samples cover.

    For each joint a range of q and the largest |qd| and |qdd|, all (n,).

    Each range holds 99 % of the samples or more, so that all of them together hold at least 90 %;
    `share` is what they hold. `units` are the units of q, 'rad' or 'm'.
    """

    joint_names: tuple[str, ...]
    units: tuple[str, ...]
    q_low: Array
    q_high: Array
    qd_most: Array
    qdd_most: Array
    share: float = 1.0

    def __post_init__(self) -> None:
        for name in ("q_low", "q_high", "qd_most", "qdd_most"):
            values = np.array(getattr(self, name), float)
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    def contains(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Bools:
        """Return whether every joint is within its ranges, (...,). q [rad|m], qd, qdd: (..., n)."""
        shaped = state_arrays(len(self.joint_names), q, qd, qdd)
        flat = [x.reshape(-1, x.shape[-1]) for x in shaped]
        parts = [
            slice(start, start + THRESHOLDS.region_block)
            for start in range(0, max(len(flat[0]), 1), THRESHOLDS.region_block)
        ]
        return np.concatenate(
            list(mapped(lambda part: self._holds(*(x[part] for x in flat)), parts))
        ).reshape(shaped[0].shape[:-1])

    def _holds(self, q: Array, qd: Array, qdd: Array) -> Bools:
        within = (
            (q >= self.q_low)
            & (q <= self.q_high)
            & (np.abs(qd) <= self.qd_most)
            & (np.abs(qdd) <= self.qdd_most)
        )
        return np.asarray(np.all(within, axis=-1))

    def to_dict(self) -> dict[str, Any]:
        """Return the region as plain data, joint by joint."""
        ranges = {
            "q_low": self.q_low,
            "q_high": self.q_high,
            "qd_most": self.qd_most,
            "qdd_most": self.qdd_most,
        }
        units = {
            "unit": self.units,
            "qd_unit": [f"{u}/s" for u in self.units],
            "qdd_unit": [f"{u}/s2" for u in self.units],
        }
        return {"share": self.share, "joints": table_rows(name=self.joint_names, **units, **ranges)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Region:
        """Return the region that `to_dict` wrote."""
        joints = data["joints"]
        names, units = (tuple(str(row[key]) for row in joints) for key in ("name", "unit"))
        keys = ("q_low", "q_high", "qd_most", "qdd_most")
        ranges = {key: np.array([float(row[key]) for row in joints]) for key in keys}
        return cls(joint_names=names, units=units, share=float(data["share"]), **ranges)

    def __str__(self) -> str:
        return "\n".join(
            f"{joint['name']}: q from {joint['q_low']:.3g} to {joint['q_high']:.3g}"
            f" {joint['unit']}, |qd| to {joint['qd_most']:.3g} {joint['unit']}/s, |qdd| to"
            f" {joint['qdd_most']:.3g} {joint['unit']}/s^2"
            for joint in self.to_dict()["joints"]
        )


def covered_region(robot: Robot, samples: Sequence[Samples]) -> Region:
    """Return the region that the samples of all logs cover."""
    return region_of(
        robot,
        *(
            np.concatenate([getattr(thinned(s), name) for s in samples])
            for name in ("q", "qd", "qdd")
        ),
    )


def region_of(robot: Robot, q: Array, qd: Array, qdd: Array) -> Region:
    """Return the region that states (N, n) cover."""
    left_out = min(1 - THRESHOLDS.range_share, (1 - THRESHOLDS.region_share) / (3 * robot.n))
    low, high = np.quantile(
        q, [left_out / 2, 1 - left_out / 2], axis=0, method="inverted_cdf"
    ) + np.array([[-THRESHOLDS.region_slack], [THRESHOLDS.region_slack]])
    fast, sudden = (
        np.quantile(np.abs(x), 1 - left_out, axis=0, method="inverted_cdf")
        + THRESHOLDS.region_slack
        for x in (qd, qdd)
    )
    units = tuple(
        "m" if robot.mechanism.joint(name).kind == "prismatic" else "rad"
        for name in robot.joint_names
    )
    region = Region(
        joint_names=robot.joint_names,
        units=units,
        q_low=low,
        q_high=high,
        qd_most=fast,
        qdd_most=sudden,
    )
    return Region(
        joint_names=robot.joint_names,
        units=units,
        q_low=low,
        q_high=high,
        qd_most=fast,
        qdd_most=sudden,
        share=float(np.mean(region.contains(q, qd, qdd))),
    )


def thinned(samples: Samples) -> Samples:
    """Return at most `region_samples` of the samples, evenly spread."""
    return samples.part(slice(None, None, max(1, -(-samples.N // THRESHOLDS.region_samples))))


def torque_along(
    robot: Robot,
    torque: Array,
    states: tuple[Array, ...],
    cutoff: float | None,
    t: ArrayLike | None,
) -> Array:
    """Return the torque of a motion over the times t (N,) [s]; as it is without times.

    Friction with memory has its state along the motion, also without times where the states are
    recognised as consecutive samples. With `cutoff` [Hz] the torque passes a
    low-pass.

    Parameters
    ----------
    robot : the robot, whose friction may have memory
    torque : (N, n) of joints that slide
    states : q, qd, qdd, each (N, n)
    """
    if t is None:
        sequence = sequence_times(*states[:2]) if robot.tree.has_memory else None
        memory = None if sequence is None else memory_torque(robot, sequence, *states[:2])
        return torque if memory is None else torque + memory
    times = numbers("t", t)
    if torque.ndim != 2 or times.shape != torque.shape[:1] or np.any(np.diff(times) <= 0):
        raise CallError(
            f"predict: t must be the rising times (N,) of states (N, n); found {times.shape} for"
            f" states {torque.shape}"
        )
    memory = memory_torque(robot, times, *states[:2])
    torque = torque if memory is None else torque + memory
    return torque if cutoff is None else lowpass(torque, times, cutoff)


def sequence_times(q: Array, qd: Array) -> Array | None:
    """Return times (N,) [s] of states that are consecutive samples of one motion, else None.

    Positions must follow the velocities with one time step: dq = qd dt in almost all steps. A step
    that does not is a gap.
    """
    if q.ndim != 2 or len(q) < THRESHOLDS.least_sequence:
        return None
    dq, mean = np.diff(q, axis=0), 0.5 * (qd[1:] + qd[:-1])
    speed = np.sum(mean**2, axis=1)
    moving = speed > THRESHOLDS.sequence_speed**2 * speed.max(initial=0.0)
    if not moving.any():
        return None
    steps = np.sum(dq * mean, axis=1)[moving] / speed[moving]
    step = float(np.median(steps))
    error = np.linalg.norm(dq - step * mean, axis=1)
    follows = error <= THRESHOLDS.sequence_error * np.maximum(step * np.sqrt(speed), 1e-300)
    if not step > 0 or np.mean(follows[moving]) < THRESHOLDS.sequence_share:
        return None
    gap = moving & ~follows & (error > step * np.sqrt(speed.max()))
    return np.concatenate([[0.0], np.cumsum(np.where(gap, THRESHOLDS.sequence_gap, 1.0) * step)])


def hidden_terms(fit: Any) -> Bools:
    """Return which base parameters (b,) are joint terms that no sample of a Fit shows."""
    of_joints = np.array(fit.base.columns) >= 10 * len(fit.model.robot.tree.bodies)
    return np.asarray(of_joints & fit.uncertainty.unseen_share)


def predict(
    fit: Any, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, cutoff: float | None, t: ArrayLike | None
) -> Prediction:
    """Return the prediction of a Fit, see `Fit.predict`.

    Parameters
    ----------
    fit : the Fit
    q, qd, qdd : (..., n) states
    cutoff : of a zero-phase low-pass that the torque passed [Hz], None without one
    t : (N,) times of the motion [s], None for single states
    """
    observation: Observation = fit.model.observation
    states = state_arrays(fit.robot.n, q, qd, qdd)
    inside = fit.region.contains(*states)
    estimate = EstimatedParameters(
        robot=fit.robot,
        structure=fit.model.robot,
        rows=fit.model.rows,
        parameters=fit.parameters,
        base=fit.base,
        covariance=fit.uncertainty.covariance,
        parameter_covariance=fit.uncertainty.parameters,
        known=fit.model.known,
    )
    torque, variance = observation.predict(estimate, *states)
    for added in (unconstrained_torque(fit), learned_torque(fit)):
        if added is not None:
            flat = (x.reshape(-1, x.shape[-1]) for x in states)
            torque = torque + added(*flat).reshape(torque.shape)
    if observation.predicts_measurements:
        variance = measured_variance(fit, variance, states, inside, cutoff)
        if fit.pipeline.rest is not None:
            variance = np.maximum(variance, fit.pipeline.rest.variance(states[1]))
    torque = torque_along(fit.robot, torque, states, cutoff, t)
    if t is not None and fit.robot.tree.has_memory:
        derivative = distance_derivative(fit.robot, numbers("t", t), *states[:2])
        variance = variance + (derivative * fit.presliding_std) ** 2
    std = np.sqrt(np.maximum(variance, 0.0))
    return Prediction(torque, std, inside)


def unconstrained_torque(fit: Any) -> Callable[..., Array] | None:
    """Return the torque that the predicting base parameters of a Fit add to its robot's.

    A function of q, qd, qdd, each (N, n); None where the robot itself predicts.
    """
    if not fit.model.observation.has_joint_rows:
        return None
    robot_base = fit.base.values(fit.parameters)
    difference = fit.prediction_base - robot_base
    if np.max(np.abs(difference), initial=0.0) <= 1e-12 * np.max(np.abs(robot_base), initial=1.0):
        return None
    return lambda *states: np.asarray(fit.model.rows(*states) @ difference)


def learned_torque(fit: Any) -> Callable[..., Array] | None:
    """Return the learned residual of a Fit, a function of q, qd, qdd, each (N, n).

    None where it was not asked for, or is kept at no joint.
    """
    learned = fit.pipeline.learned
    if learned is None or not learned.kept:
        return None
    robot: Robot = fit.robot.without_known_function()
    return lambda q, qd, qdd: learned.torque(q, qd, qdd, robot.gravity_torque(q))


def measured_variance(
    fit: Any, variance: Array, states: tuple[Array, ...], inside: Bools, cutoff: float | None
) -> Array:
    """Return the variance (..., n) of a measured torque around its prediction.

    sigma^2 + diag(Y cov Y^T); in covered states, the variance of the residuals; less where a
    learned residual predicts; infinite outside the region for joints whose friction no sample
    shows.

    Parameters
    ----------
    fit : the Fit
    variance : diag(Y cov Y^T), (..., n)
    states : q, qd, qdd, each (..., n)
    inside : (...), whether the region covers the states
    cutoff : of a low-pass that the torque passed [Hz]
    """
    noise = fit.uncertainty.noise
    flat = variance.reshape(-1, variance.shape[-1]) + noise.below(cutoff) ** 2
    covered = fit.pipeline.path.contains(*states[:2]).reshape(-1, 1)
    flat = np.where(covered, noise.below(cutoff, THRESHOLDS.covered_noise_share) ** 2, flat)
    if fit.pipeline.learned is not None:
        flat = fit.pipeline.learned.band(flat, *(x.reshape(-1, x.shape[-1]) for x in states))
    if (hidden := hidden_terms(fit)).any():
        Y = fit.model.rows(*(x.reshape(-1, x.shape[-1]) for x in states))
        unknown = np.any(Y[..., hidden] != 0.0, axis=-1) & ~inside.reshape(-1, 1)
        flat = np.where(unknown, np.inf, flat)
    return flat.reshape(variance.shape)
