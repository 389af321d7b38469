"""Faults beyond the log's columns: gravity that was taken out or points elsewhere, joints that share a motor."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .candidate import NEEDED, STANDING, USUAL, Candidate, more_unknowns
from .design import shared_columns
from .hypothesis import Gravity, Pair
from .unknowns import SHARED
from .witness import Trial, Witness

Array = NDArray[np.float64]
LEAST_TILT = np.radians(15.0)  # [rad]
SMALLEST_TILT = np.radians(2.0)  # [rad] that is tried
LEAST_EXPLAINED = 0.1  # of a squared residual, before a coupling is tried
LEAST_SHARE = 0.1  # of the torque of the joints that share a motor
FELT = 0.05  # of the strength of gravity that the torques must show to have a direction
SINGULAR = 0.02  # of the largest singular value: a direction of gravity that no torque shows


def wrong_gravity(witness: Witness, trial: Trial) -> Iterator[Candidate]:
    """Torques from which gravity was taken out, or gravity in another direction."""
    own = trial.hypothesis
    if own.lifted == 0.0 and own.gravity is None:
        if witness.unknowns.described:
            yield Candidate("gravity taken out", (), witness.trial(own.changed(lifted=1.0), trial), USUAL)
        yield Candidate("gravity taken out", (), witness.trial(own.changed(gravity=(0.0, 0.0, 0.0)), trial), USUAL)
    if own.gravity is None and own.lifted == 0.0:
        yield from wrong_mounting(witness, trial)


def wrong_mounting(witness: Witness, trial: Trial) -> Iterator[Candidate]:
    """Gravity by least squares on the description's bodies, then in turn with them."""
    if not np.any(witness.unknowns.model.robot.gravity):
        return
    columns = GravityColumns.of(witness, trial)
    for start in (np.zeros(trial.design.inner), trial.agreement.mean):
        best = best_gravity(witness, trial, columns, start)
        if best is not trial:
            yield Candidate("gravity direction", (), best, USUAL + more_unknowns(2))


def best_gravity(witness: Witness, trial: Trial, columns: GravityColumns | None = None, start: Array | None = None) -> Trial:
    """Return the trial with the best direction of gravity, found in turn with the bodies, which are at first those of `start`."""
    columns = GravityColumns.of(witness, trial) if columns is None else columns
    described = np.array(witness.unknowns.model.robot.gravity, float)
    strength, best = float(np.linalg.norm(described)), trial
    g = columns.fitted(trial.agreement.mean if start is None else start)
    for _ in range(4):
        size = float(np.linalg.norm(g))
        if size < FELT * strength or angle(g, described) < SMALLEST_TILT:
            break
        made = witness.trial(trial.hypothesis.changed(gravity=vector(g * strength / size)), best)
        if best is not trial and made.evidence <= best.evidence + 0.1:
            break
        best, g = made, columns.fitted(made.agreement.mean)
    return best


class GravityColumns:
    """The torque per unit of each component of gravity, and without any, as linear functions of the bodies' unknowns."""

    def __init__(self, still: Array, lifts: tuple[Array, ...], friction: list[Array], tau: Array, origin: Array, to_pi: Array) -> None:
        self.still, self.lifts, self.friction, self.tau, self.origin, self.to_pi = still, lifts, friction, tau, origin, to_pi

    @classmethod
    def of(cls, witness: Witness, trial: Trial) -> GravityColumns:
        """Return the columns along the motion of a trial."""
        unknowns, inner = witness.unknowns, trial.design.inner
        states = trial.hypothesis.states(witness.view)
        rest = states[0], np.zeros_like(states[0]), np.zeros_like(states[0])
        still = unknowns.full_rows(states, (0.0, 0.0, 0.0))[:, :, :inner]
        lifts = tuple(unknowns.full_rows(rest, vector(e))[:, :, :inner] for e in np.eye(3))
        friction = []
        for A, E in zip(trial.design.columns, trial.design.to_u, strict=True):
            own = A @ E[:, inner:]
            own = own[:, np.any(own != 0, axis=0)]
            friction.append(np.linalg.qr(own / np.maximum(np.linalg.norm(own, axis=0), 1e-300))[0])
        tau = trial.torque - trial.design.known
        return cls(still, lifts, friction, tau, unknowns.origin[:inner], unknowns.to_pi[:inner, :inner])

    def fitted(self, u: Array) -> Array:
        """Return the gravity (3,) [m/s^2] that fits best with the bodies u, friction left free."""
        pi = self.origin + self.to_pi @ u[: len(self.origin)]
        rows, target = [], []
        for j, Q in enumerate(self.friction):
            X = np.stack([Y[:, j] @ pi for Y in self.lifts] + [self.tau[:, j] - self.still[:, j] @ pi], axis=1)
            X = (X - Q @ (Q.T @ X)) / max(float(np.linalg.norm(self.tau[:, j])), 1e-300)
            rows.append(X[:, :3])
            target.append(X[:, 3])
        return np.asarray(np.linalg.lstsq(np.concatenate(rows), np.concatenate(target), rcond=SINGULAR)[0])


def vector(g: Array) -> Gravity:
    """Return three floats."""
    x, y, z = (float(value) for value in g)
    return x, y, z


def angle(a: Array, b: Array) -> float:
    """Return the angle between two vectors [rad]."""
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def shared_motors(witness: Witness, trial: Trial) -> Iterator[Candidate]:
    """Pairs of joints that share a motor and that the description does not couple."""
    known = {frozenset(each.coordinates) for each in witness.unknowns.model.robot.tree.couplings}
    taken = known | {frozenset(pair) for pair in trial.hypothesis.couplings}
    states, residual = trial.hypothesis.states(witness.view), trial.residual
    for pair in combinations(np.flatnonzero(np.ptp(states[0], axis=0) > STANDING).tolist(), 2):
        if frozenset(pair) not in taken and max(explained(states, residual, j, pair) for j in pair) > LEAST_EXPLAINED:
            made = witness.trial(trial.hypothesis.changed(couplings=(*trial.hypothesis.couplings, pair)), trial, needed=NEEDED)
            yield Candidate("coupling", pair, made, USUAL)


def explained(states: tuple[Array, Array, Array], residual: Array, joint: int, pair: Pair) -> float:
    """Return the share of a joint's squared residual that the terms of a coupling explain; 0 where there is none."""
    shared, own = np.stack(shared_columns(states, joint, (pair,)), axis=1), residual[:, joint]
    if not np.any(own):
        return 0.0
    left = own - shared @ np.linalg.lstsq(shared, own, rcond=1e-8)[0]
    return 1.0 - float(left @ left) / float(own @ own)


def shared_part(trial: Trial, pair: Pair) -> float:
    """Return the torque that a coupling takes at its joints over their torques, as geometric means."""
    place = trial.design.K - SHARED * (len(trial.hypothesis.couplings) - trial.hypothesis.couplings.index(pair))
    u = np.zeros(trial.design.K)
    u[place : place + SHARED] = trial.agreement.mean[place : place + SHARED]
    shares = []
    for j in pair:
        own = trial.design.columns[j] @ (trial.design.to_u[j] @ u)
        shares.append(float(np.linalg.norm(own)) / max(float(np.linalg.norm(trial.torque[:, j])), 1e-300))
    return float(np.sqrt(np.prod(shares)))
