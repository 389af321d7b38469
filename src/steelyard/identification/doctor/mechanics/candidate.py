"""Candidate: a fault that may explain a log better than what was assumed so far, with the tools that all families of faults share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .design import Design
from .hypothesis import Hypothesis
from .witness import Trial, Witness, posterior_mean

Array = NDArray[np.float64]
DECISIVE = 3.0  # [nats] beyond the prior odds: a probability of 95 %
USUAL = -4.0  # log odds of a fault at one place before the samples: one log in 50
LARGE_ERROR = 0.08  # of a joint's torque
LITTLE_WEIGHT = 0.15  # of the description of a body, over that before the samples
NEGATIVE = -4.0  # [nats] that negative friction costs
NEEDED = DECISIVE - USUAL  # [nats] that a usual fault must win
ROUNDS = 4  # parabolas
LITTLE = 0.1  # [nats] that are not worth another trial
FARTHEST = 4.0  # that a search goes from its start
STANDING = 0.02  # [rad|m] that a joint moves in all, below which it stands
OF_A_NUMBER = -2.0  # log odds that one further number costs, known to about a tenth of its range after the samples
GAIN_SPREAD = 1.5  # standard deviation of the logarithm of a wrong gain, before the samples


@dataclass(frozen=True, eq=False)
class Candidate:
    """A trial that differs from the one before by one fault, the joints concerned, and the log odds of that fault before the samples."""

    fault: str
    joints: tuple[int, ...]
    trial: Trial
    log_odds: float

    @property
    def score(self) -> float:
        """Log evidence and log odds [nats]."""
        return self.trial.evidence + self.log_odds


def doubtful(trial: Trial) -> bool:
    """Return whether a log agrees so badly with the description that faults are worth looking for which would have been noticed."""
    found = trial.agreement
    return bool(
        np.any(found.error > LARGE_ERROR) or np.any(found.weight < LITTLE_WEIGHT * trial.design.weight) or found.negative < NEGATIVE
    )


def more_unknowns(count: int) -> float:
    """Return the log odds that `count` further numbers cost."""
    return OF_A_NUMBER * count


def gain_odds(gain: float) -> float:
    """Return the log odds of a gain of this size, one further number, against none."""
    return USUAL + more_unknowns(1) - 0.5 * float(np.log(abs(gain)) / GAIN_SPREAD) ** 2


def linear_step(trial: Trial, slope: Array) -> tuple[float, float]:
    """Return the estimate of one more unknown with columns `slope` (N, n), the others adapting, and its information."""
    design, found = trial.design, trial.agreement
    cross = sum(a * (E.T @ (A.T @ d)) for a, E, A, d in zip(found.precision, design.to_u, design.columns, slope.T, strict=True))
    whole = float(found.precision @ np.sum(slope**2, axis=0))
    taken = found.root @ cross
    information = whole - float(taken @ taken)
    if information <= 1e-7 * whole:  # the others take its place entirely
        return 0.0, 0.0
    return float(found.precision @ np.sum(slope * trial.residual, axis=0)) / information, information


def climb(
    witness: Witness,
    start: Trial,
    change: Callable[[Hypothesis, float], Hypothesis],
    step: float,
    same_motion: bool,
    least: float = -np.inf,
) -> Trial:
    """Return the best trial along one number x, hypothesis = change(start, x), by parabolas through three points [nats].

    It ends where a parabola told its own summit well, or promises nothing more, or less than the evidence `least`.
    """
    best, at = start, 0.0

    def tried(x: float) -> Trial:
        return witness.trial(change(start.hypothesis, x), best, start.design if same_motion else None)

    for _ in range(ROUNDS):
        beside = [(x, tried(x)) for x in (at - step, at + step)]
        (_, low), (_, high) = beside
        curvature = 2 * best.evidence - low.evidence - high.evidence
        moved = 0.5 * (high.evidence - low.evidence) / curvature * step if curvature > 0 else 0.0
        inside = curvature > 0 and abs(moved) <= step
        rise = 0.25 * (high.evidence - low.evidence) * moved / step
        if inside and (rise < LITTLE or best.evidence + rise < least):
            break
        x = float(np.clip(at + np.clip(moved, -2 * step, 2 * step), -FARTHEST, FARTHEST))
        beside.append((x, tried(x)))
        place, top = max(beside, key=lambda item: item[1].evidence)
        foretold = inside and place == x and abs(top.evidence - best.evidence - rise) < LITTLE
        if top.evidence > best.evidence:
            at, best = place, top
            step = min(max(abs(moved), step / 3.0) if curvature > 0 else 2 * step, 0.5 * FARTHEST)
        else:
            step /= 3.0
        if foretold or step < 0.01:
            break
    return best


def others_and_description(design: Design, c: Array, precision: Array, weight: Array, joint: int | None) -> Array:
    """Return the unknowns (K,) that the description and the joints other than `joint` lead to; None: the description alone."""
    seen = np.zeros_like(precision) if joint is None else np.where(np.arange(len(precision)) == joint, 0.0, precision)
    vague = 1e-6 * (seen @ design.information.diagonal())[design.inner :]
    P = np.concatenate([np.repeat(weight, 10), np.where(vague > 0, vague, 1.0)])
    return posterior_mean(design.information, c, seen, P) if np.any(seen) else np.zeros(design.K)


def torque_slope(design: Design, tau: Array, u: Array, joint: int) -> float:
    """Return b of tau_j = b (torque of the bodies u) + friction, by least squares; nan where the bodies ask for none."""
    E, A = design.to_u[joint], design.columns[joint]
    bodies = design.known[:, joint] + A @ (design.zero[joint] + E[:, : design.inner] @ u[: design.inner])
    friction = A @ E[:, design.inner :]
    X = np.concatenate([bodies[:, None], friction[:, np.any(friction != 0, axis=0)]], axis=1)
    scale = np.linalg.norm(X, axis=0)
    if scale[0] <= 1e-9 * np.linalg.norm(tau[:, joint]) or not np.any(tau[:, joint]):
        return float("nan")
    solution, *_ = np.linalg.lstsq(X / np.maximum(scale, 1e-300), tau[:, joint], rcond=1e-8)
    return float(solution[0] / scale[0])
