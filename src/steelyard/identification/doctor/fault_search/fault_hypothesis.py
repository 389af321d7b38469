"""FaultHypothesis: a fault that may explain a log, and the tools of all fault families."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model.joint_gram import JointGram
from ..doctor_thresholds import THRESHOLDS
from .fault_correction import FaultCorrection
from .joint_regression import JointRegression
from .log_evidence import LogEvidence, Trial

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FaultHypothesis:
    """A fault with its joints, the trial with its correction, and its prior log odds."""

    fault: str
    joints: tuple[int, ...]
    trial: Trial
    log_odds: float

    @property
    def score(self) -> float:
        """Log evidence and log odds [nats]."""
        return self.trial.evidence + self.log_odds


def is_doubtful(trial: Trial) -> bool:
    """Return whether a log agrees so badly with the description that all faults are tried."""
    agreement = trial.agreement
    return bool(
        np.any(agreement.error > THRESHOLDS.doubtful_error)
        or np.any(agreement.weight < THRESHOLDS.doubtful_weight * trial.regression.weight)
        or agreement.negative < THRESHOLDS.doubtful_friction
    )


def number_odds(count: int) -> float:
    """Return the log odds that `count` further numbers cost."""
    return THRESHOLDS.number_odds * count


def gain_odds(gain: float) -> float:
    """Return the log odds of a gain of this size, one further number, against none."""
    return (
        THRESHOLDS.fault_odds
        + number_odds(1)
        - 0.5 * float(np.log(abs(gain)) / THRESHOLDS.gain_spread) ** 2
    )


def gauss_newton_step(trial: Trial, column: Array) -> tuple[float, float]:
    """Return the Gauss-Newton step of one more unknown, and its information.

    `column` (N, n) is the derivative of the torque; the other unknowns are eliminated.
    """
    regression, agreement = trial.regression, trial.agreement
    cross = sum(
        a * (E.T @ (A.T @ d))
        for a, E, A, d in zip(
            agreement.precision, regression.to_u, regression.columns, column.T, strict=True
        )
    )
    whole = float(agreement.precision @ np.sum(column**2, axis=0))
    taken = agreement.root @ cross
    information = whole - float(taken @ taken)
    if information <= 1e-7 * whole:  # the others take its place entirely
        return 0.0, 0.0
    return (
        float(agreement.precision @ np.sum(column * trial.residual, axis=0)) / information,
        information,
    )


def line_search(
    log_evidence: LogEvidence,
    start: Trial,
    change: Callable[[FaultCorrection, float], FaultCorrection],
    step: float,
    same_motion: bool,
    least: float = -np.inf,
) -> Trial:
    """Return the best trial along one number x by parabolas through three evidences.

    The corrections are change(start, x). The search ends where a parabola predicted its maximum
    well, where it predicts no further gain, or where it cannot reach the evidence `least`.
    """
    best, x_best = start, 0.0

    def tried(x: float) -> Trial:
        return log_evidence.trial(
            change(start.correction, x), best, start.regression if same_motion else None
        )

    for _ in range(THRESHOLDS.parabolas):
        beside = [(x, tried(x)) for x in (x_best - step, x_best + step)]
        (_, low), (_, high) = beside
        curvature = 2 * best.evidence - low.evidence - high.evidence
        moved = 0.5 * (high.evidence - low.evidence) / curvature * step if curvature > 0 else 0.0
        inside = curvature > 0 and abs(moved) <= step
        rise = 0.25 * (high.evidence - low.evidence) * moved / step
        if inside and (rise < THRESHOLDS.negligible_evidence or best.evidence + rise < least):
            break
        x = float(
            np.clip(
                x_best + np.clip(moved, -2 * step, 2 * step),
                -THRESHOLDS.farthest_step,
                THRESHOLDS.farthest_step,
            )
        )
        beside.append((x, tried(x)))
        x_top, top = max(beside, key=lambda item: item[1].evidence)
        foretold = (
            inside
            and x_top == x
            and abs(top.evidence - best.evidence - rise) < THRESHOLDS.negligible_evidence
        )
        if top.evidence > best.evidence:
            x_best, best = x_top, top
            step = min(
                max(abs(moved), step / 3.0) if curvature > 0 else 2 * step,
                0.5 * THRESHOLDS.farthest_step,
            )
        else:
            step /= 3.0
        if foretold or step < 0.01:
            break
    return best


def unknowns_without_joint(
    gram: JointGram, inner: int, precision: Array, weight: Array, joint: int
) -> Array:
    """Return the unknowns (K,) that the description and the torques of the other joints lead to.

    Parameters
    ----------
    gram : normal equations of all joints
    inner : how many unknowns belong to bodies
    precision : of the rows of each joint, (n,)
    weight : of the description of each body, (bodies,)
    joint : whose torque is left out
    """
    others = np.where(np.arange(len(precision)) == joint, 0.0, precision)
    if not np.any(others):
        return np.zeros(gram.size)
    vague = 1e-6 * (others @ gram.diagonal)[inner:]
    P = np.concatenate([np.repeat(weight, 10), np.where(vague > 0, vague, 1.0)])
    return gram.posterior_mean(others, P)


def fit_torque_ratio(regression: JointRegression, tau: Array, u: Array, joint: int) -> float:
    """Return b of tau_j = b (torque of the bodies u) + friction, by least squares.

    Nan where the bodies ask for none.
    """
    E, A = regression.to_u[joint], regression.columns[joint]
    bodies = regression.known[:, joint] + A @ (
        regression.zero[joint] + E[:, : regression.inner] @ u[: regression.inner]
    )
    friction = A @ E[:, regression.inner :]
    X = np.concatenate([bodies[:, None], friction[:, np.any(friction != 0, axis=0)]], axis=1)
    scale = np.linalg.norm(X, axis=0)
    if scale[0] <= 1e-9 * np.linalg.norm(tau[:, joint]) or not np.any(tau[:, joint]):
        return float("nan")
    solution, *_ = np.linalg.lstsq(X / np.maximum(scale, 1e-300), tau[:, joint], rcond=1e-8)
    return float(solution[0] / scale[0])
