"""The judge: the default identification and the plain candidates on the same samples and band."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.unseen.plain import (
    ExtraTerms,
    Intervals,
    KnownTorque,
    banded,
    compare,
    relative,
)

Array = NDArray[np.float64]
BAND = 8.0  # [Hz] of states and torque, unless a set says otherwise
MOVING = 0.02  # of a joint's largest speed: slower samples count as rest
LEAST_SAMPLES = 20  # moving inside the region, for an error
TRUSTED = ("trusted", "trusted within")


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Errors |e| / |tau| of the default and of plain least squares on held-out logs.

    `moving` is the error of moving joints inside the verdict's region, `expected` the verdict's
    own. `joints` has the moving error of every joint [N m|N] over the expected one.
    """

    default: float
    plain: dict[str, float]
    cross_validated: dict[str, float]
    picked: str
    best: str
    word: str = ""
    expected: float = float("nan")
    moving: float = float("nan")
    inside: float = 0.0
    joints: tuple[float, ...] = ()
    findings: tuple[tuple[str, tuple[str, ...], float, str], ...] = ()
    reasons: tuple[str, ...] = ()
    seconds: float = 0.0
    failure: str = ""

    @property
    def over_picked(self) -> float:
        """Default over the candidate that cross-validation picks."""
        return self.default / self.plain[self.picked]

    @property
    def over_best(self) -> float:
        """Default over the best candidate in hindsight."""
        return self.default / self.plain[self.best]

    @property
    def trusted(self) -> bool:
        return self.word in TRUSTED

    @property
    def kept(self) -> bool | None:
        """Whether moving joints inside the region keep to the expected error; None if untested."""
        finite = np.isfinite([self.moving, self.expected]).all()
        return bool(self.moving <= self.expected) if finite else None

    def line(self) -> str:
        """Return the figures in one line."""
        return (
            f"default {percent(self.default)}  picked {percent(self.plain[self.picked])}"
            f" ({self.picked})  best {percent(self.plain[self.best])} ({self.best})"
            f"  d/p {self.over_picked:5.2f}  d/b {self.over_best:5.2f}"
            f"  {self.word or 'error'} {percent(self.expected)} moving {percent(self.moving)}"
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """Training and held-out logs of one robot, with torque known beforehand and the band [Hz].

    `terms` are further columns of plain least squares, `options` of the default: knowledge about
    the robot that both have, such as a coupled wrist. At `pushed` times [s] of the held-out logs
    somebody pushes the robot: no model predicts that, and these rows do not count.
    """

    name: str
    robot: sy.Robot
    training: tuple[sy.Log, ...]
    held_out: tuple[sy.Log, ...]
    known: KnownTorque | None = None
    band: float = BAND
    terms: ExtraTerms | None = None
    options: dict[str, Any] = field(default_factory=dict)
    pushed: Intervals = ()


def percent(value: float) -> str:
    """Return a share as per cent, in a fixed width."""
    return f"{100 * value:6.2f}" if np.isfinite(value) else "     –"


def judge(trial: Trial, fit: sy.Fit | None = None) -> tuple[Judgement, sy.Fit | None]:
    """Identify with the default, fit the plain candidates, and predict the held-out logs.

    `fit` is the default's of the same training logs, if it exists already.
    """
    with warnings.catch_warnings(), sy.threads(1):
        warnings.simplefilter("ignore")
        plain = compare(
            trial.robot,
            trial.training,
            trial.held_out,
            trial.band,
            trial.known,
            trial.terms,
            trial.pushed,
        )
        result: dict[str, Any] = {
            "plain": plain.held_out,
            "cross_validated": plain.cross_validated,
            "picked": plain.picked,
            "best": plain.best,
        }
        start = perf_counter()
        known: dict[str, Any] = {} if trial.known is None else {"known": trial.known}
        try:
            logs = trial.training if len(trial.training) > 1 else trial.training[0]
            if fit is None:
                fit = sy.identify(trial.robot, logs, **known, **trial.options)
            verdict = fit.verdict
            seconds = perf_counter() - start
            errors = held_out_errors(fit, trial.held_out, trial.band, trial.pushed)
        except sy.SteelyardError as error:
            return Judgement(default=float("inf"), failure=str(error), **result), None
        findings = tuple(
            (f.fault, tuple(f.joints), float(f.certainty), f.severity) for f in verdict.findings
        )
        judgement = Judgement(
            **errors,
            **result,
            word=verdict.word,
            expected=float(verdict.error),
            findings=findings,
            reasons=tuple(verdict.reasons),
            seconds=seconds,
        )
        return judgement, fit


def held_out_errors(
    fit: sy.Fit, logs: Sequence[sy.Log], band: float, pushed: Intervals = ()
) -> dict[str, Any]:
    """Return the errors of a fit on logs in a band: all, moving joints inside, and per joint."""
    errors, torques, moving, inside = [], [], [], []
    for log in (banded(log, band, pushed) for log in logs):
        rows = log.inner
        predicted = log.low_pass(np.asarray(fit.predict(log.q, log.qd, log.qdd).torque))
        errors.append(log.tau[rows] - predicted)
        torques.append(log.tau[rows])
        moving.append(is_moving(log.qd)[rows])
        inside.append(np.asarray(fit.verdict.region.contains(log.q, log.qd, log.qdd))[rows])
    error, torque = np.concatenate(errors), np.concatenate(torques)
    moves, covered = np.concatenate(moving), np.concatenate(inside)
    counted = moves & covered[:, None]
    expected = [joint.inside.error if joint.inside else np.nan for joint in fit.verdict.joints]
    count = np.maximum(counted.sum(axis=0), 1)
    rms = np.sqrt(np.sum((error * counted) ** 2, axis=0) / count)
    enough = counted.sum() >= LEAST_SAMPLES
    return {
        "default": relative(error, torque),
        "moving": relative(error * counted, torque * counted) if enough else float("nan"),
        "inside": float(np.mean(covered)),
        "joints": tuple(float(x) for x in rms / np.maximum(expected, 1e-300)),
    }


def is_moving(qd: Array) -> NDArray[np.bool_]:
    """Return for each sample and joint whether it moves."""
    return np.asarray(np.abs(qd) > MOVING * np.max(np.abs(qd), axis=0))
