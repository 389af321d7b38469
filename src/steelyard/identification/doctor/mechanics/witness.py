"""Witness: how well rigid-body dynamics and the description agree with a view of a log, as the log evidence of a hypothesis."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.special import log_ndtr

from .design import FOLDS, Design, Unknowns, make_design
from .hypothesis import Hypothesis
from .view import View

Array = NDArray[np.float64]
SHAPE = 3.0  # of the gamma distribution of a body's weight
VAGUE = 3.0  # torque of a joint term before the samples, as a multiple of the joint's own
FLOOR = 0.005  # least noise of a joint as a share of its torque: no model of a real joint is better
SLACK = 0.02  # by which friction and rotor inertia may seem negative, as a share of the joint's torque
IMPOSSIBLE = -15.0  # [nats] at the most for each friction that is negative
STEPS = 12
CONVERGED = 0.02  # change of the logarithms
HOPELESS = (np.inf, 300.0, 150.0, 80.0, 60.0)  # [nats] below the start after so many steps, beyond which nothing is to be won
MOST_TORQUES = 64  # that are kept
ROUNDING = 1e-10  # added to a diagonal of ones before a factorisation


@dataclass(frozen=True, eq=False)
class Agreement:
    """How well a log agrees with the description under a hypothesis.

    evidence [nats]; mean (K,) and covariance of the unknowns; precision (n,) of the rows of each joint; error (n,): the residual of each
    joint over its torque; weight (bodies,) that the description deserves; negative [nats]: what friction below zero costs;
    independent (n,): independent rows per row.
    """

    evidence: float
    mean: Array
    covariance: Array
    precision: Array
    error: Array
    weight: Array
    negative: float
    independent: Array


@dataclass(frozen=True, eq=False)
class Trial:
    """A hypothesis with the torque (N, n), the design and the agreement that follow from it."""

    hypothesis: Hypothesis
    torque: Array
    design: Design
    agreement: Agreement

    @property
    def evidence(self) -> float:
        return self.agreement.evidence

    @property
    def residual(self) -> Array:
        """Corrected torque minus the best prediction, (N, n)."""
        return self.torque - self.design.predicted(self.agreement.mean)


@dataclass(frozen=True, eq=False)
class Witness:
    """The unknowns of a model and a view of a log, on which hypotheses are tried."""

    unknowns: Unknowns
    view: View
    _torques: dict[tuple[object, ...], Array] = field(default_factory=dict, repr=False)

    def torque(self, hypothesis: Hypothesis) -> Array:
        """Return the corrected torque (N, n), zero in rows that are not in use; what is moved in time is kept."""
        key = hypothesis.torque_order, hypothesis.delay, hypothesis.clock
        if key not in self._torques:
            if len(self._torques) > MOST_TORQUES:
                self._torques.clear()
            plain = hypothesis.changed(gain=(1.0,) * hypothesis.n)
            self._torques[key] = plain.torque(self.view) * self.keep(hypothesis)
        return self._torques[key] * np.array(hypothesis.gain)

    def keep(self, hypothesis: Hypothesis) -> NDArray[np.bool_]:
        """Return the rows in use (N, n), which belong to the columns of the log."""
        return self.view.keep[:, list(hypothesis.torque_order)]

    def design(self, hypothesis: Hypothesis) -> Design:
        """Return the design of the corrected motion."""
        return make_design(self.unknowns, hypothesis.states(self.view), hypothesis, self.keep(hypothesis), self.view.payload)

    def trial(self, hypothesis: Hypothesis, like: Trial, design: Design | None = None) -> Trial:
        """Try a hypothesis with as many independent rows as another trial; `design` is that of a trial with the same motion."""
        made = self.design(hypothesis) if design is None else design
        tau = self.torque(hypothesis)
        independent = np.empty(self.view.n)
        independent[list(like.hypothesis.torque_order)] = like.agreement.independent  # of each column of the log
        independent = independent[list(hypothesis.torque_order)]
        return Trial(hypothesis, tau, made, agreement(made, tau, independent, like.agreement))

    def first_trial(self, hypothesis: Hypothesis) -> Trial:
        """Try a hypothesis, with the independent rows that its own residuals have."""
        design = self.design(hypothesis)
        tau = self.torque(hypothesis)
        few = np.full(self.view.n, self.view.band)
        return self.anew(Trial(hypothesis, tau, design, agreement(design, tau, few)))

    def anew(self, trial: Trial) -> Trial:
        """Return a trial with the independent rows that its own residuals have."""
        independent = self.view.independent(trial.residual)
        found = agreement(trial.design, trial.torque, independent, trial.agreement)
        return replace(trial, agreement=found)


def agreement(design: Design, tau: Array, independent: Array, start: Agreement | None = None) -> Agreement:
    """Return how well a torque (N, n) agrees with the description; EM for the noise of each joint and the weight of each body.

    log evidence = -sum_j m_j log(sigma_j/|tau_j|) - 1/2 u^T P u - 1/2 log det(P + D)/P + log p(weights) + log P(friction > 0), where m_j is
    the number of independent rows; over |tau_j| it is, but for a constant, the density of the log itself, whatever factor corrects it. The
    iteration ends early where the evidence stays far below that of `start`, from which it begins.
    Bishop, "Pattern Recognition and Machine Learning", 2006, sections 3.5 and 9.3.4.
    """
    D, N, inner = design.information, np.maximum(design.counts, 1.0), design.inner
    c, squares = design.targets(tau)
    size = torque_sizes(tau, N)
    outer = vague_precision(design, N * size)
    weight = np.full(inner // 10, design.weight) if start is None else start.weight
    variance = size * np.maximum(0.1 if start is None else start.error, FLOOR) ** 2
    for step in range(STEPS):
        before = np.concatenate([variance, weight])
        P = np.concatenate([np.repeat(weight, 10), outer])
        u, V, log_det = posterior(D, c, independent / variance, P)
        rss = squares - 2 * c @ u + (D @ u) @ u
        variance = np.maximum(rss / N, FLOOR**2 * size)
        moment = np.sum((u[:inner] ** 2 + np.diag(V)[:inner]).reshape(-1, 10), axis=1)
        weight = (5 + SHAPE) / (0.5 * moment + SHAPE / design.weight)
        fit = float(independent * design.counts @ (0.5 * np.log(size / variance)))
        prior = (
            -0.5 * float(u @ (P * u)) - 0.5 * log_det + SHAPE * float(np.sum(np.log(weight / design.weight) - weight / design.weight + 1))
        )
        hopeless = start is not None and fit + prior < start.evidence - HOPELESS[min(step, len(HOPELESS) - 1)]
        if hopeless or np.max(np.abs(np.log(np.concatenate([variance, weight]) / before))) < CONVERGED:
            break
    negative = sign_evidence(design.signs, u, V, size)
    error = np.sqrt(variance / size)
    return Agreement(fit + prior + negative, u, V, independent / variance, error, weight, negative, independent)


def vague_precision(design: Design, squares: Array) -> Array:
    """Return the precision (K - inner,) of the joint terms before the samples, from the squares of each joint's torque (n,)."""
    shares = np.max(np.einsum("jkk->jk", design.information)[:, design.inner :] / squares[:, None], axis=0)
    return np.where(shares > 1e-12, shares / VAGUE**2, 1.0)


def torque_sizes(tau: Array, counts: Array) -> Array:
    """Return the mean square of each joint's torque over its rows in use, (n,), none of them zero."""
    size = np.sum(tau**2, axis=0) / counts
    return np.asarray(np.maximum(size, 1e-12 * max(float(size.max()), 1e-300)))


def posterior(D: Array, c: Array, precision: Array, P: Array) -> tuple[Array, Array, float]:
    """Return mean (K,), covariance (K, K) and log det(P + D) - log det P, D weighted by the precision (n,) of each joint's rows."""
    K = len(P)
    H = (precision @ D.reshape(len(D), -1)).reshape(K, K)
    H[np.diag_indices(K)] += P
    s = 1.0 / np.sqrt(np.diag(H))
    H *= s * s[:, None]
    H[np.diag_indices(K)] += ROUNDING
    L, failed = dpotrf(H, lower=1)
    if failed:
        raise np.linalg.LinAlgError("the posterior precision is not positive definite")
    inverse, _ = dpotri(L, lower=1)
    V = (np.tril(inverse) + np.tril(inverse, -1).T) * (s * s[:, None])
    return V @ (precision @ c), V, 2 * float(np.sum(np.log(np.diag(L))) - np.sum(np.log(s))) - float(np.sum(np.log(P)))


def sign_evidence(signs: Array, u: Array, V: Array, size: Array) -> float:
    """Return the log probability that friction takes power out and that no rotor has negative inertia, a little slack apart."""
    slack = SLACK * np.tile(np.sqrt(size), 2)
    deviation = np.sqrt(np.maximum(np.einsum("rk,kl,rl->r", signs, V, signs, optimize=True), 0.0))
    return float(np.sum(np.maximum(log_ndtr((signs @ u + slack) / np.maximum(deviation, slack)), IMPOSSIBLE)))


def held_out_error(trial: Trial) -> Array:
    """Return the error of each joint over its torque (n,) on parts of time that took no part; noise and weights as found on all."""
    design, found, tau = trial.design, trial.agreement, trial.torque
    left = np.zeros(design.n)
    for f in range(FOLDS):
        others = [k for k in range(FOLDS) if k != f]
        D = design.information_of(others)
        vague = 1e-6 * np.diag(np.tensordot(found.precision, D, 1))[design.inner :]
        P = np.concatenate([np.repeat(found.weight, 10), np.where(vague > 0, vague, 1.0)])
        u, _, _ = posterior(D, design.targets(tau, others)[0], found.precision, P)
        part = design.parts[f]
        for j in range(design.n):
            e = tau[part, j] - design.known[part, j] - design.columns[j][part] @ (design.zero[j] + design.to_u[j] @ u)
            left[j] += e @ e
    return np.asarray(np.sqrt(left / np.maximum(np.sum(tau**2, axis=0), 1e-300)))
