"""Faults of the model: gravity that was subtracted or tilted, joints that share a motor."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..doctor_thresholds import THRESHOLDS
from .fault_correction import Gravity, Pair
from .fault_hypothesis import FaultHypothesis, number_odds
from .joint_regression import shared_columns
from .log_evidence import LogEvidence, Trial
from .unknowns import SHARED, Unknowns

Array = NDArray[np.float64]


def wrong_gravity(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Yield hypotheses of subtracted gravity, and of gravity in another direction."""
    correction = trial.correction
    if correction.lifted == 0.0 and correction.gravity is None:
        if log_evidence.unknowns.described:
            yield FaultHypothesis(
                "gravity taken out",
                (),
                log_evidence.trial(correction.changed(lifted=1.0), trial),
                THRESHOLDS.fault_odds,
            )
        yield FaultHypothesis(
            "gravity taken out",
            (),
            log_evidence.trial(correction.changed(gravity=(0.0, 0.0, 0.0)), trial),
            THRESHOLDS.fault_odds,
        )
    if correction.gravity is None and correction.lifted == 0.0:
        yield from wrong_mounting(log_evidence, trial)


def wrong_mounting(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Yield hypotheses of tilted gravity, estimated alternately with the bodies."""
    if not np.any(log_evidence.unknowns.model.robot.gravity):
        return
    columns = GravityColumns.of(log_evidence, trial)
    for start in (np.zeros(trial.regression.inner), trial.agreement.mean):
        best = best_gravity(log_evidence, trial, columns, start)
        if best is not trial:
            yield FaultHypothesis(
                "gravity direction", (), best, THRESHOLDS.fault_odds + number_odds(2)
            )


def best_gravity(
    log_evidence: LogEvidence,
    trial: Trial,
    columns: GravityColumns | None = None,
    start: Array | None = None,
) -> Trial:
    """Return the trial with the best direction of gravity, alternating with the bodies.

    `start` are the unknowns of the bodies at first.
    """
    columns = GravityColumns.of(log_evidence, trial) if columns is None else columns
    described = np.array(log_evidence.unknowns.model.robot.gravity, float)
    strength, best = float(np.linalg.norm(described)), trial
    g = columns.fitted(trial.agreement.mean if start is None else start)
    for _ in range(4):
        size = float(np.linalg.norm(g))
        if (
            size < THRESHOLDS.least_gravity * strength
            or angle(g, described) < THRESHOLDS.smallest_tilt
        ):
            break
        tilted = log_evidence.trial(
            trial.correction.changed(gravity=three_floats(g * strength / size)), best
        )
        if best is not trial and tilted.evidence <= best.evidence + 0.1:
            break
        best, g = tilted, columns.fitted(tilted.agreement.mean)
    return best


class GravityColumns:
    """Torques per component of gravity, and without gravity, linear in the bodies' unknowns."""

    def __init__(
        self,
        still: Array,
        lifts: tuple[Array, ...],
        friction: list[Array],
        tau: Array,
        origin: Array,
        to_pi: Array,
    ) -> None:
        self.still, self.lifts, self.friction, self.tau, self.origin, self.to_pi = (
            still,
            lifts,
            friction,
            tau,
            origin,
            to_pi,
        )

    @classmethod
    def of(cls, log_evidence: LogEvidence, trial: Trial) -> GravityColumns:
        """Return the columns along the motion of a trial."""
        unknowns, inner = log_evidence.unknowns, trial.regression.inner
        states = trial.correction.states(log_evidence.thinned_log)
        rest = states[0], np.zeros_like(states[0]), np.zeros_like(states[0])
        lengths = trial.correction.lengths
        keep = log_evidence.keep(trial.correction)[:, :, None]
        still = keep * unknowns.full_rows(states, (0.0, 0.0, 0.0), lengths)[:, :, :inner]
        lifts = tuple(
            keep * unknowns.full_rows(rest, three_floats(e), lengths)[:, :, :inner]
            for e in np.eye(3)
        )
        friction = []
        for A, E in zip(trial.regression.columns, trial.regression.to_u, strict=True):
            columns = A @ E[:, inner:]
            columns = columns[:, np.any(columns != 0, axis=0)]
            friction.append(
                np.linalg.qr(columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300))[0]
            )
        tau = trial.torque - trial.regression.known
        return cls(
            still, lifts, friction, tau, unknowns.origin[:inner], unknowns.to_pi[:inner, :inner]
        )

    def fitted(self, u: Array) -> Array:
        """Return the gravity (3,) [m/s^2] that fits best with the bodies u, friction left free."""
        pi = self.origin + self.to_pi @ u[: len(self.origin)]
        rows, target = [], []
        for j, Q in enumerate(self.friction):
            X = np.stack(
                [Y[:, j] @ pi for Y in self.lifts] + [self.tau[:, j] - self.still[:, j] @ pi],
                axis=1,
            )
            X = (X - Q @ (Q.T @ X)) / max(float(np.linalg.norm(self.tau[:, j])), 1e-300)
            rows.append(X[:, :3])
            target.append(X[:, 3])
        return np.asarray(
            np.linalg.lstsq(
                np.concatenate(rows), np.concatenate(target), rcond=THRESHOLDS.gravity_rank
            )[0]
        )


def three_floats(g: Array) -> Gravity:
    """Return three floats."""
    x, y, z = (float(value) for value in g)
    return x, y, z


def angle(a: Array, b: Array) -> float:
    """Return the angle between two vectors [rad]."""
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def shared_motors(log_evidence: LogEvidence, trial: Trial) -> Iterator[FaultHypothesis]:
    """Yield hypotheses of pairs of joints that share a motor, missing in the description."""
    known = {
        frozenset(each.coordinates) for each in log_evidence.unknowns.model.robot.tree.couplings
    }
    taken = known | {frozenset(pair) for pair in trial.correction.couplings}
    states, residual = trial.correction.states(log_evidence.thinned_log), trial.residual
    keep = log_evidence.keep(trial.correction)
    for pair in combinations(
        np.flatnonzero(np.ptp(states[0], axis=0) > THRESHOLDS.standing).tolist(), 2
    ):
        if (
            frozenset(pair) not in taken
            and max(explained_share(states, residual, j, pair, keep[:, j]) for j in pair)
            > THRESHOLDS.coupling_share
        ):
            coupled = log_evidence.trial(
                trial.correction.changed(couplings=(*trial.correction.couplings, pair)),
                trial,
                needed=THRESHOLDS.needed,
            )
            yield FaultHypothesis("coupling", pair, coupled, THRESHOLDS.fault_odds)


def explained_share(
    states: tuple[Array, Array, Array],
    residual: Array,
    joint: int,
    pair: Pair,
    used: NDArray[np.bool_],
) -> float:
    """Return the share of a joint's squared residual that the terms of a coupling explain.

    0 where there is none. `used` (N,) are the rows in use.
    """
    shared, joint_residual = (
        np.stack(shared_columns(states, joint, (pair,)), axis=1)[used],
        residual[used, joint],
    )
    if not np.any(joint_residual):
        return 0.0
    remainder = joint_residual - shared @ np.linalg.lstsq(shared, joint_residual, rcond=1e-8)[0]
    return 1.0 - float(remainder @ remainder) / float(joint_residual @ joint_residual)


def coupling_share(unknowns: Unknowns, trial: Trial, pair: Pair) -> float:
    """Return the share of a coupling in the torques of its joints, as a geometric mean."""
    first = unknowns.first_of_coupling(trial.correction.couplings.index(pair))
    u = np.zeros(trial.regression.K)
    u[first : first + SHARED] = trial.agreement.mean[first : first + SHARED]
    shares = []
    for j in pair:
        torque = trial.regression.columns[j] @ (trial.regression.to_u[j] @ u)
        shares.append(
            float(np.linalg.norm(torque)) / max(float(np.linalg.norm(trial.torque[:, j])), 1e-300)
        )
    return float(np.sqrt(np.prod(shares)))
