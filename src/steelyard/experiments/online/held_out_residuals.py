"""Held-out residuals of a fit.

Its own log through the observer, by models that were estimated without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...identification.result.fit import Fit
from ...identification.result.held_out_motion import HeldOutMotion
from .causal_velocity import CausalDerivative, FilteredMotion, VelocityGuard
from .hypotheses import least_certain
from .momentum_residual import ModelTerms, MomentumResidual, predicting_terms
from .online_thresholds import THRESHOLDS
from .sample_rows import SampleRows

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldOutLimits:
    """What an observer needs beside its calibration.

    rest : speed of joints at rest, (n,) [rad/s|m/s]
    speed : largest speed, (n,) [rad/s|m/s]
    jump : usual change of velocity between samples, (n,) [rad/s|m/s]
    jitter : variance of the noise of the velocities, (n,) [(rad/s)^2|(m/s)^2]
    modes : uncertain directions of the base parameters, (b, r)
    differentiated : whether velocities are derivatives of the positions
    """

    rest: Array
    speed: Array
    jump: Array
    jitter: Array
    modes: Array
    differentiated: bool

    @property
    def without_modes(self) -> HeldOutLimits:
        """The same without uncertain directions, for a model with other base parameters."""
        return replace(self, modes=np.zeros((0, 0)))


class ResidualStream(NamedTuple):
    """Samples of the observer in one part of a log; q, qd, residual, spread and torque are (N, n).

    dt : intervals, (N,) [s] residual : the largest |residual| of the models [N m|N] spread :
    parameter uncertainty of the torque [N m|N] torque : the smallest |torque| of the first two
    models [N m|N]: both reached it by_model : |residual| by the model without this part, by the
    model without its half, and, where it exists, by the fit of the other half, (k, N, n) half :
    half of the log that contains this part, 0 or 1
    """

    dt: Array
    q: Array
    qd: Array
    residual: Array
    spread: Array
    torque: Array
    by_model: Array
    half: int = 0

    @property
    def has_half_model(self) -> bool:
        """Whether a model of the other half exists, beside the one without this part."""
        return not np.array_equal(self.by_model[0], self.by_model[1])


def without_velocities(fit: Fit) -> bool:
    """Whether a log of the fit has no velocities, so that the observer differentiates positions."""
    return any(part.qd is None for part in fit.pipeline.held_out)


def filtered(part: HeldOutMotion, gain: float, differentiated: bool) -> FilteredMotion:
    """Return the samples of a part with the velocities that the observer uses."""
    dt = np.diff(part.t, prepend=part.t[0])
    if differentiated or part.qd is None:
        return CausalDerivative(THRESHOLDS.derivative_bandwidth * gain).run(part.q, part.tau, dt)
    return FilteredMotion(part.q, part.qd, part.tau, dt, 0)


def held_out_limits(fit: Fit, gain: float, rest: Array | None, share: float = 0.0) -> HeldOutLimits:
    """Return the speeds of a fit's motion, and its uncertain directions.

    Parameters
    ----------
    fit : the identified robot
    gain : bandwidth of the observer [1/s]
    rest : speed of joints at rest, (n,) [rad/s|m/s]; None for a share of each joint's largest speed
    share : that share
    """
    differentiated = without_velocities(fit)
    motions = [filtered(part, gain, differentiated).qd for part in fit.pipeline.held_out]
    motions = [qd for qd in motions if len(qd)]
    speed = np.max([np.max(np.abs(qd), axis=0) for qd in motions], axis=0)
    jump = np.quantile(
        np.concatenate([np.abs(np.diff(qd, axis=0)) for qd in motions]),
        THRESHOLDS.velocity_change_quantile,
        axis=0,
    )
    jitter = np.mean(np.concatenate([np.diff(qd, 2, axis=0) ** 2 / 6.0 for qd in motions]), axis=0)
    sigma = np.maximum(fit.uncertainty.noise.below(gain / 4.0), 1e-12)
    modes = least_certain(fit.covariance, SampleRows(fit.model).typical(), sigma**-2.0)
    return HeldOutLimits(
        rest=share * speed if rest is None else rest,
        speed=speed,
        jump=jump,
        jitter=jitter,
        modes=modes,
        differentiated=differentiated,
    )


class HalfStreams(NamedTuple):
    """Residuals of one half of a log by its own models, and of the other half by its model.

    limits : of the half's motion
    """

    parts: tuple[ResidualStream, ...]
    others: tuple[ResidualStream, ...]
    limits: HeldOutLimits


def residual_streams(
    fit: Fit, gain: float, limits: HeldOutLimits, fits: Sequence[Fit | None] = (None, None)
) -> tuple[ResidualStream, ...]:
    """Return the residuals of every part: the largest ones of the models estimated without it.

    Parameters
    ----------
    fit : the identified robot
    gain : bandwidth of the observer [1/s]
    limits : speeds of the fit's motion
    fits : fits of each half of the log, None where there is none
    """
    streams, rows = list[ResidualStream](), SampleRows(fit.model)
    for part in fit.pipeline.held_out:
        motion = filtered(part, gain, limits.differentiated)
        if len(motion.dt) < 2:
            continue
        robot, other = fit.robot.without_known_function(), fits[1 - part.half]
        models = [ModelTerms(robot, fit.model, rows, base) for base in part.bases]
        stream = part_residuals(models, motion, gain, limits, part.half)
        if other is not None:
            more = part_residuals([predicting_terms(other)], motion, gain, limits.without_modes)
            by_model = np.concatenate([stream.by_model, more.by_model])
            stream = stream._replace(by_model=by_model, residual=by_model.max(axis=0))
        streams.append(stream)
    return tuple(streams)


def half_streams(
    fit: Fit,
    streams: tuple[ResidualStream, ...],
    gain: float,
    limits: HeldOutLimits,
    fits: Sequence[Fit | None],
) -> tuple[HalfStreams, ...]:
    """Return the residuals of each half of the log, and of the other one by its model.

    A half without a fit has the choices of the fit of all.

    Parameters
    ----------
    fit : the identified robot
    streams : residuals of the parts of its log
    gain : bandwidth of the observer [1/s]
    limits : speeds of the fit's motion; a half has the speeds of its fit
    fits : fits of each half of the log, None where there is none
    """
    result = []
    for half, (half_fit, simple) in enumerate(
        zip(fits, halves_by_refits(streams, limits), strict=True)
    ):
        if half_fit is None:
            result.append(simple)
            continue
        of_half = held_out_limits(half_fit, gain, limits.rest)
        motions = [
            filtered(part, gain, of_half.differentiated)
            for part in fit.pipeline.held_out
            if part.half != half
        ]
        terms = [predicting_terms(half_fit)]
        others = (part_residuals(terms, m, gain, of_half) for m in motions if len(m.dt) > 1)
        result.append(
            HalfStreams(residual_streams(half_fit, gain, of_half), tuple(others), of_half)
        )
    return tuple(result)


def halves_by_refits(
    streams: tuple[ResidualStream, ...], limits: HeldOutLimits
) -> tuple[HalfStreams, ...]:
    """Return the residuals of each half, with the choices of the fit of all; empty without refits.

    Parameters
    ----------
    streams : residuals of the parts of a fit's log
    limits : speeds of the fit's motion
    """
    if not all(part.has_half_model for part in streams):
        streams = ()
    return tuple(
        HalfStreams(
            tuple(p._replace(residual=p.by_model[0]) for p in streams if p.half == half),
            tuple(p._replace(residual=p.by_model[1]) for p in streams if p.half != half),
            limits,
        )
        for half in (0, 1)
    )


def part_residuals(
    models: Sequence[ModelTerms],
    motion: FilteredMotion,
    gain: float,
    limits: HeldOutLimits,
    half: int = 0,
) -> ResidualStream:
    """Return the residuals of one part by some models with the same base parameters."""
    dt = np.append(0.0, motion.dt[1:])
    qd = VelocityGuard(limits.jump, float(np.median(dt[1:]))).held(motion.qd, dt)
    every = [MomentumResidual(terms, gain, limits.rest, limits.modes) for terms in models]
    by_model = np.zeros((len(models), *motion.q.shape))
    spread, torque = np.zeros_like(motion.q), np.full_like(motion.q, np.inf)
    for start in range(0, len(dt), THRESHOLDS.regressor_samples):
        index = slice(start, start + THRESHOLDS.regressor_samples)
        for residual, model in zip(by_model, every, strict=True):
            r = model.run(motion.q[index], qd[index], motion.tau[index], dt[index])
            residual[index] = np.abs(r.external)
            torque[index] = np.minimum(torque[index], np.abs(r.torque))
            spread[index] = np.sqrt(np.sum(r.modes**2, axis=2))
    return ResidualStream(
        dt=dt,
        q=motion.q,
        qd=qd,
        residual=by_model.max(axis=0),
        spread=spread,
        torque=torque,
        by_model=by_model,
        half=half,
    )
