"""Witness: how well rigid-body dynamics and the description agree with a view of a log, as the log evidence of a hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtri
from scipy.special import log_ndtr

from ....cached import cached_property
from ....signals.resample import interpolant
from ...model.rows import Rows
from .design import Design, body_torque, make_design
from .hypothesis import Hypothesis
from .joint_information import JointInformation
from .unknowns import States, Unknowns
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
MOST_GROWTH = 10.0  # times its last growth that the evidence may still grow
MOST_COLUMNS = 500  # torques of one joint that are kept
ROUNDING = 1e-10  # added to a diagonal of ones before a factorisation


@dataclass(frozen=True, eq=False)
class Agreement:
    """How well a log agrees with the description under a hypothesis.

    evidence [nats]; mean (K,) of the unknowns and a root W (K, K) of their covariance W^T W; precision (n,) of the rows of each joint;
    error (n,): the residual of each joint over its torque; weight (bodies,) that the description deserves; negative [nats]: what friction
    below zero costs; independent (n,): independent rows per row.
    """

    evidence: float
    mean: Array
    root: Array
    precision: Array
    error: Array
    weight: Array
    negative: float
    independent: Array

    @cached_property
    def variance(self) -> Array:
        """The variance of each unknown, (K,)."""
        return np.asarray(np.sum(self.root**2, axis=0))


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
    _columns: dict[tuple[int, float], Array] = field(default_factory=dict, repr=False)

    def torque(self, hypothesis: Hypothesis) -> Array:
        """Return the corrected torque (N, n), zero in rows that are not in use."""
        places = zip(hypothesis.torque_order, hypothesis.delay, hypothesis.gain, strict=True)
        return np.stack([gain * self._column(column, delay / hypothesis.clock) for column, delay, gain in places], axis=1)

    def _column(self, column: int, delay: float) -> Array:
        """Return a torque of the log (N,) without its delay [s of the log], zero in rows that are not in use; it is kept."""
        found = self._columns.get((column, delay))
        if found is None:
            if len(self._columns) > MOST_COLUMNS:
                self._columns.clear()
            t, used = self.view.t, self.view.keep[:, column]
            tau = self.view.tau[:, column]
            if delay:
                parts = zip(self.view.stretches, self._splines[column], strict=True)
                tau = np.concatenate([made(np.clip(t[part] + delay, t[part][0], t[part][-1])) for part, made in parts])
            found = self._columns[column, delay] = tau * used
        return found

    @cached_property
    def _splines(self) -> tuple[tuple[Callable[[Array], Array], ...], ...]:
        """Each torque of the log as a function of time, stretch by stretch."""
        view = self.view
        return tuple(tuple(interpolant(view.t[part], tau[part]) for part in view.stretches) for tau in view.tau.T)

    def keep(self, hypothesis: Hypothesis) -> NDArray[np.bool_]:
        """Return the rows in use (N, n), which belong to the columns of the log."""
        return self.view.keep[:, list(hypothesis.torque_order)]

    def design(self, hypothesis: Hypothesis) -> Design:
        """Return the design of the corrected motion."""
        states = hypothesis.states(self.view)
        rows = self._rows(hypothesis, states)
        return make_design(self.unknowns, states, rows, hypothesis, self.keep(hypothesis), self.view.payload)

    def predicted(self, hypothesis: Hypothesis, u: Array) -> Array:
        """Return the torque (N, n) of the model's own terms along the corrected motion, with the unknowns u."""
        states = hypothesis.states(self.view)
        return body_torque(self.unknowns, states, self._rows(hypothesis, states), hypothesis, u) * self.keep(hypothesis)

    def _rows(self, hypothesis: Hypothesis, states: States) -> Rows:
        """Return the rows of the regressor along a motion: of its base columns, or of all p where gravity is another."""
        if hypothesis.gravity is None:
            return self.unknowns.model.rows_in_reach(*states)
        return Rows.of(self.unknowns.full_rows(states, hypothesis.gravity))

    def trial(self, hypothesis: Hypothesis, like: Trial, design: Design | None = None, needed: float = -np.inf) -> Trial:
        """Try a hypothesis with as many independent rows as another trial; `design` is that of a trial with the same motion.

        What will not win `needed` [nats] over the other trial is of no interest: its evidence is then too low, or somewhat imprecise.
        """
        made = self.design(hypothesis) if design is None else design
        tau = self.torque(hypothesis)
        independent = np.empty(self.view.n)
        independent[list(like.hypothesis.torque_order)] = like.agreement.independent  # of each column of the log
        independent = independent[list(hypothesis.torque_order)]
        return Trial(hypothesis, tau, made, agreement(made, tau, independent, like.agreement, needed))

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


def agreement(design: Design, tau: Array, independent: Array, start: Agreement | None = None, needed: float = -np.inf) -> Agreement:
    """Return how well a torque (N, n) agrees with the description; EM for the noise of each joint and the weight of each body.

    log evidence = -sum_j m_j log(sigma_j/|tau_j|) - 1/2 u^T P u - 1/2 log det(P + D)/P + log p(weights) + log P(friction > 0), where m_j is
    the number of independent rows; over |tau_j| it is, but for a constant, the density of the log itself, whatever factor corrects it. The
    iteration ends early where the evidence stays far below that of `start`, from which it begins, or does not reach `needed` above it.
    Bishop, "Pattern Recognition and Machine Learning", 2006, sections 3.5 and 9.3.4.
    """
    D, N, inner = design.information, np.maximum(design.counts, 1.0), design.inner
    c, squares = design.targets(tau)
    size = torque_sizes(tau, N)
    outer = vague_precision(design, N * size)
    weight = np.full(inner // 10, design.weight) if start is None else start.weight
    variance = size * np.maximum(0.1 if start is None else start.error, FLOOR) ** 2
    reached = -np.inf
    for step in range(STEPS):
        before = np.concatenate([variance, weight])
        P = np.concatenate([np.repeat(weight, 10), outer])
        u, root, log_det = posterior(D, c, independent / variance, P)
        rss = squares - 2 * c @ u + D.quadratic(u)
        variance = np.maximum(rss / N, FLOOR**2 * size)
        moment = np.sum((u[:inner] ** 2 + np.sum(root[:, :inner] ** 2, axis=0)).reshape(-1, 10), axis=1)
        weight = (5 + SHAPE) / (0.5 * moment + SHAPE / design.weight)
        fit = float(independent * design.counts @ (0.5 * np.log(size / variance)))
        prior = (
            -0.5 * float(u @ (P * u)) - 0.5 * log_det + SHAPE * float(np.sum(np.log(weight / design.weight) - weight / design.weight + 1))
        )
        grown, reached = fit + prior - reached, fit + prior
        hopeless = start is not None and (
            reached < start.evidence - HOPELESS[min(step, len(HOPELESS) - 1)]
            or (step > 1 and reached + MOST_GROWTH * max(grown, 0.1) < start.evidence + needed)
        )
        if hopeless or np.max(np.abs(np.log(np.concatenate([variance, weight]) / before))) < CONVERGED:
            break
    negative = sign_evidence(design.signs, u, root, size)
    error = np.sqrt(variance / size)
    return Agreement(reached + negative, u, root, independent / variance, error, weight, negative, independent)


def vague_precision(design: Design, squares: Array) -> Array:
    """Return the precision (K - inner,) of the joint terms before the samples, from the squares of each joint's torque (n,)."""
    shares = np.max(design.information.diagonal()[:, design.inner :] / squares[:, None], axis=0)
    return np.where(shares > 1e-12, shares / VAGUE**2, 1.0)


def torque_sizes(tau: Array, counts: Array) -> Array:
    """Return the mean square of each joint's torque over its rows in use, (n,), none of them zero."""
    size = np.sum(tau**2, axis=0) / counts
    return np.asarray(np.maximum(size, 1e-12 * max(float(size.max()), 1e-300)))


def posterior(D: JointInformation, c: Array, precision: Array, P: Array) -> tuple[Array, Array, float]:
    """Return mean (K,), root W (K, K) of the covariance W^T W and log det(P + D) - log det P, D weighted by each joint's precision (n,)."""
    L, s = factor(D, precision, P)
    log_det = 2 * float(np.sum(np.log(np.diag(L))) - np.sum(np.log(s))) - float(np.sum(np.log(P)))
    W = dtrtri(L, lower=1, overwrite_c=1)[0] * s
    return W.T @ (W @ (precision @ c)), W, log_det


def posterior_mean(D: JointInformation, c: Array, precision: Array, P: Array) -> Array:
    """Return the mean (K,) of the posterior alone."""
    L, s = factor(D, precision, P)
    return np.asarray(s * dpotrs(L, s * (precision @ c), lower=1)[0])


def factor(D: JointInformation, precision: Array, P: Array) -> tuple[Array, Array]:
    """Return L and s (K,) with L L^T = s (P + D) s, D weighted by each joint's precision (n,), and ones on the diagonal."""
    H, K = D.weighted(precision), len(P)
    H[np.diag_indices(K)] += P
    s = 1.0 / np.sqrt(np.diag(H))
    H *= s
    H *= s[:, None]
    H[np.diag_indices(K)] += ROUNDING
    L, failed = dpotrf(H.T, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("the posterior precision is not positive definite")
    return L, s


def sign_evidence(signs: Array, u: Array, root: Array, size: Array) -> float:
    """Return the log probability that friction takes power out and that no rotor has negative inertia, a little slack apart."""
    slack = SLACK * np.tile(np.sqrt(size), 2)
    deviation = np.linalg.norm(root @ signs.T, axis=0)
    return float(np.sum(np.maximum(log_ndtr((signs @ u + slack) / np.maximum(deviation, slack)), IMPOSSIBLE)))


def held_out_error(trial: Trial) -> Array:
    """Return the error of each joint over its torque (n,) on parts of time that took no part; noise and weights as found on all."""
    design, found, tau = trial.design, trial.agreement, trial.torque
    left = np.zeros(design.n)
    for part in design.parts:
        D, c = design.without(part, tau)
        vague = 1e-6 * (found.precision @ D.diagonal())[design.inner :]
        P = np.concatenate([np.repeat(found.weight, 10), np.where(vague > 0, vague, 1.0)])
        u = posterior_mean(D, c, found.precision, P)
        for j in range(design.n):
            e = tau[part, j] - design.known[part, j] - design.columns[j][part] @ (design.zero[j] + design.to_u[j] @ u)
            left[j] += e @ e
    return np.asarray(np.sqrt(left / np.maximum(np.sum(tau**2, axis=0), 1e-300)))
