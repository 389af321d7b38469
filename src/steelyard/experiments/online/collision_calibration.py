"""Calibration of the collision observer: thresholds from held-out residuals, per joint and state of motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError
from ...identification.result.fit import Fit
from ...identification.result.held_out_motion import HeldOutMotion
from .hypotheses import least_certain
from .momentum_residual import ModelTerms, MomentumResidual
from .motion_states import REVERSING, STANDING, STATES, StateClassifier, States, VelocityGuard
from .sample_rows import SampleRows

Array = NDArray[np.float64]
Counts = NDArray[np.intp]
CHUNK = 4096  # samples whose regressor is in memory at once


@dataclass(frozen=True)
class CalibrationRule:
    """Constants of the calibration; `benchmarks/collision_calibration.py` shows how each was chosen.

    block : length of a block of held-out motion [s]; longer than the memory of model errors at reversals
    factor : threshold over the largest held-out residual; for motions that are not exchangeable
    fewest : blocks from which a state of a joint is calibrated by its own residuals; 1 / (m + 1) <= 5 %
    slow : share of the joint's largest speed below which friction is not at its Coulomb level
    rest : share of the joint's largest speed below which it stands, unless the user gives `rest`
    memory : time constants of the observer after which a reversal or a stop is forgotten
    """

    block: float = 0.5
    factor: float = 1.5
    fewest: int = 19
    slow: float = 0.1
    rest: float = 0.002
    memory: float = 5.0


RULE = CalibrationRule()


@dataclass(frozen=True, eq=False)
class Calibration:
    """Thresholds of a collision observer, and the held-out free motion that supports them.

    Residuals come from block cross-validation: each part of the fit's log is predicted by a model that
    was estimated without it. The largest of m exchangeable blocks is exceeded by the next one with a
    probability of at most 1 / (m + 1); the threshold is `factor` times as large.
    Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005, section 2.2 (conformal
    prediction); Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, chapter 3.

    Attributes
    ----------
    joint_names : names of the joints
    threshold : (n, 3) [N m|N], of moving, reversing and standing joints
    largest : largest held-out filtered residual, (n, 3) [N m|N]; NaN for a state without any
    blocks : blocks in which the joint was in the state, (n, 3)
    calibrated : whether the threshold follows from the state's own residuals, (n, 3)
    torque, spread : largest torque and parameter uncertainty of the calibration, (n,) [N m|N]
    jitter : variance of the noise of the velocities, (n,) [(rad/s)^2|(m/s)^2]
    hours : length of the held-out motion [h]
    alarms : blocks above a threshold that was calibrated on the other blocks
    """

    joint_names: tuple[str, ...]
    threshold: Array
    largest: Array
    blocks: Counts
    calibrated: NDArray[np.bool_]
    torque: Array
    spread: Array
    jitter: Array
    hours: float
    alarms: int

    @property
    def alarms_per_hour(self) -> float:
        """Observed rate of false alarms on held-out blocks [1/h]."""
        return self.alarms / self.hours

    @property
    def alarms_per_hour_limit(self) -> float:
        """Upper 95 % confidence limit of the rate [1/h], of a Poisson process. Garwood, Biometrika 28 (1936), p. 437."""
        from scipy.special import gammaincinv

        return float(gammaincinv(self.alarms + 1.0, 0.95)) / self.hours

    @property
    def block_probability(self) -> float:
        """Bound of the probability of a false alarm in an exchangeable block: sum of 1 / (m + 1) over joints and states."""
        return float(min(1.0, np.sum(1.0 / (self.blocks[self.calibrated] + 1.0))))

    @property
    def detectable(self) -> Array:
        """Smallest external torque that is detected while a joint moves or reverses, (n,) [N m|N].

        It holds at standstill too where that state is calibrated.
        Threshold plus largest residual, which may have the opposite sign. A torque beyond the largest of
        the calibration raises the threshold in proportion: (T + R) / (1 - T / torque), infinite for a
        model whose error is as large as the torque. A constant external torque reaches 95 % of its size
        in the residual after 3 / gain.
        """
        counted = self.calibrated | (np.arange(len(STATES)) != STANDING)
        seen = np.where(counted, self.threshold, 0.0).max(axis=1)
        share = seen / np.maximum(self.torque, 1e-300)
        with np.errstate(divide="ignore"):
            return np.where(share < 1.0, (seen + np.nanmax(self.largest, axis=1)) / np.maximum(1.0 - share, 0.0), np.inf)

    def __str__(self) -> str:
        total = f"{self.hours * 3600.0:.3g} s of held-out free motion"
        rate = f"{self.alarms} false alarms in {total} (95 % limit: {self.alarms_per_hour_limit:.3g} per hour)"
        listed = ", ".join(f"{name} {d:.3g}" for name, d in zip(self.joint_names, self.detectable, strict=True))
        return f"{rate}. Smallest detectable torque [N m|N]: {listed}."


@dataclass(frozen=True, eq=False)
class CalibratedMotion:
    """What an observer needs beside its calibration: limits of states and of velocities, and uncertain directions.

    rest, slow : (n,) [rad/s|m/s], jump : (n,) [rad/s|m/s] as `VelocityGuard` has it, modes : (b, r)
    """

    rest: Array
    slow: Array
    jump: Array
    modes: Array


_calibrations: WeakKeyDictionary[Fit, dict[tuple[object, ...], tuple[Calibration, CalibratedMotion]]] = WeakKeyDictionary()


def calibrate(fit: Fit, gain: float, rest: Array | None) -> tuple[Calibration, CalibratedMotion]:
    """Return the calibration of an observer of this gain, computed once for a fit.

    Parameters
    ----------
    fit : the identified robot
    gain : bandwidth of the observer [1/s]
    rest : speed of joints at rest, (n,) [rad/s|m/s]; None for a share of each joint's largest speed
    """
    key = (gain, None if rest is None else tuple(rest.tolist()))
    stored = _calibrations.setdefault(fit, {})
    if key not in stored:
        stored[key] = _calibrate(fit, gain, rest)
    return stored[key]


def _calibrate(fit: Fit, gain: float, rest: Array | None) -> tuple[Calibration, CalibratedMotion]:
    parts = fit.pipeline.held_out
    if not parts:
        raise CallError(
            "CollisionObserver: this fit has no samples of free motion to calibrate the threshold on; "
            "identify from logs of joint torques on a base at rest"
        )
    limits = motion_limits(fit, parts, gain, rest)
    blocks = [block for part in parts for block in residual_blocks(fit, part, gain, limits)]
    maxima = np.array([block.maxima for block in blocks])
    torque, spread = (np.max([getattr(block, name) for block in blocks], axis=0) for name in ("torque", "spread"))
    parameters = dict(zip(fit.robot.parameter_names, fit.robot.parameters, strict=True))
    names = fit.robot.joint_names
    friction = [[abs(float(parameters.get(f"{name}.{term}", 0.0))) for term in ("Fc", "F0")] for name in names]
    threshold, largest, counts, calibrated = thresholds(maxima, np.sum(friction, axis=1))
    jitter = np.mean(np.concatenate([np.diff(part.qd, 2, axis=0) ** 2 / 6.0 for part in parts]), axis=0)
    hours = sum(block.seconds for block in blocks) / 3600.0
    alarms = cross_validated_alarms(maxima)
    result = Calibration(names, threshold, largest, counts, calibrated, torque, spread, jitter, hours, alarms)
    return result, limits


def motion_limits(fit: Fit, parts: tuple[HeldOutMotion, ...], gain: float, rest: Array | None) -> CalibratedMotion:
    """Return speeds at which joints stand and are slow, usual jumps of velocities, and the uncertain directions."""
    speed = np.max([np.max(np.abs(part.qd), axis=0) for part in parts], axis=0)
    jumps = np.concatenate([np.abs(np.diff(part.qd, axis=0)) for part in parts])
    sigma = np.maximum(fit.uncertainty.noise.below(gain / 4.0), 1e-12)
    modes = least_certain(fit.covariance, SampleRows(fit.model).typical(), sigma**-2.0)
    return CalibratedMotion(RULE.rest * speed if rest is None else rest, RULE.slow * speed, np.quantile(jumps, 0.99, axis=0), modes)


@dataclass(frozen=True, eq=False)
class ResidualBlock:
    """A block of held-out motion: largest |residual| per joint and state (n, 3), NaN where a state is absent.

    torque, spread : largest model torque and parameter uncertainty, (n,) [N m|N]
    """

    maxima: Array
    torque: Array
    spread: Array
    seconds: float


def residual_blocks(fit: Fit, part: HeldOutMotion, gain: float, limits: CalibratedMotion) -> Iterator[ResidualBlock]:
    """Yield the blocks of a part, predicted by the models that were estimated without it."""
    dt = np.diff(part.t, prepend=part.t[0])
    interval = float(np.median(dt[1:]))
    qd = VelocityGuard(limits.jump, interval).held(part.qd, dt)
    states = StateClassifier(limits.rest, limits.slow, RULE.memory / gain).classify(qd, dt)
    rows = SampleRows(fit.model)
    every = [ModelTerms(fit.robot.without_known_function(), fit.model, rows, base) for base in part.bases]
    models = [MomentumResidual(terms, gain, limits.rest, limits.modes) for terms in every]
    length = max(round(RULE.block / interval), 2)
    for start in range(0, len(dt), length):
        index = slice(start, min(start + length, len(dt)))
        maxima, torque, spread = block_maxima(models, part, qd, dt, states, index)
        yield ResidualBlock(maxima, torque, spread, float(np.sum(dt[index])))


def block_maxima(
    models: list[MomentumResidual], part: HeldOutMotion, qd: Array, dt: Array, states: States, block: slice
) -> tuple[Array, Array, Array]:
    """Return the largest |residual| (n, 3), torque (n,) and parameter uncertainty (n,) of a block, over all models."""
    n = qd.shape[1]
    maxima, torque, spread = np.full((n, len(STATES)), np.nan), np.zeros(n), np.zeros(n)
    for start in range(block.start, block.stop, CHUNK):
        index = slice(start, min(start + CHUNK, block.stop))
        state = states[index]
        for model in models:
            r = model.run(part.q[index], qd[index], part.tau[index], dt[index])
            new = np.stack([largest_where(r.external, state == s) for s in range(len(STATES))], axis=1)
            maxima = np.fmax(maxima, new)
            torque = np.maximum(torque, np.max(r.torque, axis=0))
            spread = np.maximum(spread, np.max(np.sqrt(np.sum(r.modes**2, axis=2)), axis=0))
    return maxima, torque, spread


def largest_where(values: Array, mask: NDArray[np.bool_]) -> Array:
    """Return max |values| (n,) over the samples of a mask (N, n); NaN for a joint without any."""
    most = np.max(np.where(mask, np.abs(values), -1.0), axis=0)
    return np.where(most < 0.0, np.nan, most)


def thresholds(maxima: Array, friction: Array) -> tuple[Array, Array, Counts, NDArray[np.bool_]]:
    """Return threshold, largest residual, number of blocks and whether it is calibrated, each (n, 3).

    A reversing joint has at least the threshold of a moving one, whose residual is in its memory. A state
    with fewer than `RULE.fewest` blocks has the largest threshold of its joint. If that state is
    standing, dry friction may hold any torque up to its own level (n,), which is added.

    Parameters
    ----------
    maxima : largest residuals of blocks, (m, n, 3), NaN where a state is absent
    friction : Coulomb and constant friction, (n,) [N m|N]
    """
    present = ~np.isnan(maxima)
    counts = present.sum(axis=0)
    most = np.max(np.where(present, maxima, 0.0), axis=0)
    most[:, REVERSING] = most[:, :STANDING].max(axis=1)
    calibrated = counts >= RULE.fewest
    pooled = np.repeat(RULE.factor * most.max(axis=1)[:, None], len(STATES), axis=1)
    pooled[:, STANDING] += friction
    return np.where(calibrated, RULE.factor * most, pooled), np.where(counts > 0, most, np.nan), counts, calibrated


def cross_validated_alarms(maxima: Array) -> int:
    """Count blocks above a threshold that was calibrated on the other blocks, from maxima (m, n, 3).

    States without `RULE.fewest` other blocks are left out.
    """
    present = ~np.isnan(maxima)
    values = np.where(present, maxima, -np.inf)
    if len(values) < 2:
        return 0
    second, first = np.partition(values, -2, axis=0)[-2:]
    others = np.where(np.arange(len(values))[:, None, None] == np.argmax(values, axis=0), second, first)
    judged = present & (present.sum(axis=0) > RULE.fewest)
    return int(np.sum(np.any(judged & (values > RULE.factor * others), axis=(1, 2))))
