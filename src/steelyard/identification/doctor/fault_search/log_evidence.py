"""LogEvidence: how well a corrected log agrees with rigid-body dynamics and a description."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from ....cached import cached_property
from ....signals.resample import interpolant
from ...model.joint_gram import JointGram
from ...model.rows import Rows
from ..doctor_thresholds import THRESHOLDS
from .fault_correction import FaultCorrection
from .joint_regression import JointRegression, body_torque, build_joint_regression
from .thinned_log import ThinnedLog
from .unknowns import States, Unknowns

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Agreement:
    """Agreement of a log with the description under a correction.

    evidence [nats]; mean (K,) of the unknowns and a root W (K, K) of their covariance W^T W;
    precision (n,) of the rows of each joint; error (n,), the residual of each joint over its
    torque; weight (bodies,) of the description; negative [nats], the cost of negative friction;
    independent (n,), independent rows per row.
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
    """A correction with the torque (N, n), the regression and the agreement that follow from it."""

    correction: FaultCorrection
    torque: Array
    regression: JointRegression
    agreement: Agreement

    @property
    def evidence(self) -> float:
        return self.agreement.evidence

    @cached_property
    def gram(self) -> JointGram:
        """The normal equations of the corrected torque."""
        return self.regression.gram(self.torque)

    @property
    def residual(self) -> Array:
        """Corrected torque minus the best prediction, (N, n)."""
        return self.torque - self.regression.predicted(self.agreement.mean)


@dataclass(frozen=True, eq=False)
class LogEvidence:
    """The unknowns of a model and a thinned log, on which corrections are tried."""

    unknowns: Unknowns
    thinned_log: ThinnedLog
    _columns: dict[tuple[int, float], Array] = field(default_factory=dict, repr=False)

    def torque(self, correction: FaultCorrection) -> Array:
        """Return the corrected torque (N, n), zero in rows that are not in use."""
        places = zip(correction.torque_order, correction.delay, correction.gain, strict=True)
        return np.stack(
            [
                gain * self._column(column, delay / correction.clock)
                for column, delay, gain in places
            ],
            axis=1,
        )

    def _column(self, column: int, delay: float) -> Array:
        """Return a torque (N,) of the log without its delay [s], zero in unused rows; cached."""
        torque = self._columns.get((column, delay))
        if torque is None:
            if len(self._columns) > THRESHOLDS.cached_torques:
                self._columns.clear()
            t, used = self.thinned_log.t, self.thinned_log.keep[:, column]
            tau = self.thinned_log.tau[:, column]
            if delay:
                parts = zip(self.thinned_log.stretches, self._splines[column], strict=True)
                tau = np.concatenate(
                    [
                        spline(np.clip(t[part] + delay, t[part][0], t[part][-1]))
                        for part, spline in parts
                    ]
                )
            torque = self._columns[column, delay] = tau * used
        return torque

    @cached_property
    def _splines(self) -> tuple[tuple[Callable[[Array], Array], ...], ...]:
        """Each torque of the log as a function of time, stretch by stretch."""
        thinned_log = self.thinned_log
        return tuple(
            tuple(interpolant(thinned_log.t[part], tau[part]) for part in thinned_log.stretches)
            for tau in thinned_log.tau.T
        )

    def keep(self, correction: FaultCorrection) -> NDArray[np.bool_]:
        """Return the rows in use (N, n), which belong to the columns of the log."""
        return self.thinned_log.keep[:, list(correction.torque_order)]

    def regression(self, correction: FaultCorrection) -> JointRegression:
        """Return the regression of the corrected motion."""
        states = correction.states(self.thinned_log)
        rows = self._rows(correction, states)
        keep, payload = self.keep(correction), self.thinned_log.payload
        if correction.low_pass is None:
            return build_joint_regression(self.unknowns, states, rows, correction, keep, payload)
        every = np.ones_like(keep)  # filters mix rows that are in use with others
        whole = build_joint_regression(self.unknowns, states, rows, correction, every, payload)
        return whole.low_passed(self.thinned_log.low_pass(*correction.low_pass), keep)

    @cached_property
    def with_every_row(self) -> LogEvidence:
        """The same with all rows in use, also those at rest."""
        every = replace(self.thinned_log, keep=np.ones_like(self.thinned_log.keep))
        return LogEvidence(self.unknowns, every)

    def predicted(self, correction: FaultCorrection, u: Array) -> Array:
        """Return the torque (N, n) of the model's terms along the corrected motion."""
        states = correction.states(self.thinned_log)
        return body_torque(
            self.unknowns, states, self._rows(correction, states), correction, u
        ) * self.keep(correction)

    def _rows(self, correction: FaultCorrection, states: States) -> Rows:
        """Return the rows of the regressor along a motion.

        Of its base columns, or of all p where gravity or geometry is another.
        """
        if not correction.any_model:
            return self.unknowns.model.rows_in_reach(*states)
        return Rows.of(self.unknowns.full_rows(states, correction.gravity, correction.lengths))

    def trial(
        self,
        correction: FaultCorrection,
        like: Trial,
        regression: JointRegression | None = None,
        needed: float = -np.inf,
    ) -> Trial:
        """Try a correction with as many independent rows as another trial.

        `regression` may be passed from a trial with the same motion. The iteration ends early, with
        a low or imprecise evidence, where the trial cannot gain `needed` [nats] over the other.
        """
        regression = self.regression(correction) if regression is None else regression
        tau = self.torque(correction)
        independent = np.empty(self.thinned_log.n)
        # of each column of the log
        independent[list(like.correction.torque_order)] = like.agreement.independent
        independent = independent[list(correction.torque_order)]
        try:
            agreement = compute_agreement(regression, tau, independent, like.agreement, needed)
        except np.linalg.LinAlgError:  # such as inertial torques a million times as large
            hopeless = like.evidence - THRESHOLDS.singular_cost
            agreement = replace(like.agreement, evidence=hopeless)
        return Trial(correction, tau, regression, agreement)

    def first_trial(self, correction: FaultCorrection) -> Trial:
        """Try a correction, with the number of independent rows counted from its residuals."""
        regression = self.regression(correction)
        tau = self.torque(correction)
        few = np.full(self.thinned_log.n, self.thinned_log.band)
        return self.with_own_rows(
            Trial(correction, tau, regression, compute_agreement(regression, tau, few))
        )

    def with_own_rows(self, trial: Trial) -> Trial:
        """Return a trial with the number of independent rows counted from its residuals."""
        independent = self.thinned_log.independent(trial.residual, self.keep(trial.correction))
        updated = compute_agreement(trial.regression, trial.torque, independent, trial.agreement)
        return replace(trial, agreement=updated)


def compute_agreement(
    regression: JointRegression,
    tau: Array,
    independent: Array,
    start: Agreement | None = None,
    needed: float = -np.inf,
) -> Agreement:
    """Compute the agreement of a torque (N, n) with the description by expectation maximisation.

    The noise of each joint and the weight of each body are estimated. log evidence = -sum_j m_j
    log(sigma_j/|tau_j|) - 1/2 u^T P u - 1/2 log det(P + D)/P + log p(weights) + log P(friction >
    0), with m_j the number of independent rows. Division by |tau_j| makes it, up to a constant, the
    density of the log itself, for any factor that corrects it. The iteration ends early where the
    evidence is far below the evidence of `start`, or does not reach `needed` above it. Bishop,
    "Pattern Recognition and Machine Learning", 2006, sections 3.5 and 9.3.4.
    """
    gram, N, inner = regression.gram(tau), np.maximum(regression.counts, 1.0), regression.inner
    size = torque_sizes(tau, N)
    outer = vague_precision(regression, N * size)
    weight = np.full(inner // 10, regression.weight) if start is None else start.weight
    variance = size * np.maximum(0.1 if start is None else start.error, THRESHOLDS.least_noise) ** 2
    reached = -np.inf
    for step in range(THRESHOLDS.evidence_steps):
        before = np.concatenate([variance, weight])
        P = np.concatenate([np.repeat(weight, 10), outer])
        u, root, log_det = gram.posterior(independent / variance, P)
        variance = np.maximum(gram.residual_squares(u) / N, THRESHOLDS.least_noise**2 * size)
        moment = np.sum(
            (u[:inner] ** 2 + np.sum(root[:, :inner] ** 2, axis=0)).reshape(-1, 10), axis=1
        )
        weight = (5 + THRESHOLDS.weight_shape) / (
            0.5 * moment + THRESHOLDS.weight_shape / regression.weight
        )
        fit = float(independent * regression.counts @ (0.5 * np.log(size / variance)))
        prior = (
            -0.5 * float(u @ (P * u))
            - 0.5 * log_det
            + THRESHOLDS.weight_shape
            * float(np.sum(np.log(weight / regression.weight) - weight / regression.weight + 1))
        )
        grown, reached = fit + prior - reached, fit + prior
        hopeless = start is not None and (
            reached
            < start.evidence
            - THRESHOLDS.hopeless_evidence[min(step, len(THRESHOLDS.hopeless_evidence) - 1)]
            or (
                step > 1
                and reached + THRESHOLDS.evidence_growth * max(grown, 0.1) < start.evidence + needed
            )
        )
        if (
            hopeless
            or np.max(np.abs(np.log(np.concatenate([variance, weight]) / before)))
            < THRESHOLDS.evidence_tolerance
        ):
            break
    negative = sign_evidence(regression.signs, u, root, size)
    error = np.sqrt(variance / size)
    return Agreement(
        evidence=reached + negative,
        mean=u,
        root=root,
        precision=independent / variance,
        error=error,
        weight=weight,
        negative=negative,
        independent=independent,
    )


def vague_precision(regression: JointRegression, squares: Array) -> Array:
    """Return the prior precision (K - inner,) of the joint terms.

    `squares` (n,) are the squared sums of the torques.
    """
    shares = np.max(
        regression.information.diagonal[:, regression.inner :] / squares[:, None], axis=0
    )
    return np.where(shares > 1e-12, shares / THRESHOLDS.joint_term_spread**2, 1.0)


def torque_sizes(tau: Array, counts: Array) -> Array:
    """Return the mean square of each joint's torque over its used rows, (n,), above zero."""
    size = np.sum(tau**2, axis=0) / counts
    return np.asarray(np.maximum(size, 1e-12 * max(float(size.max()), 1e-300)))


def sign_evidence(signs: Array, u: Array, root: Array, size: Array) -> float:
    """Return the log probability that friction dissipates and rotor inertias are positive.

    A small slack is allowed.
    """
    slack = THRESHOLDS.friction_slack * np.tile(np.sqrt(size), 2)
    deviation = np.linalg.norm(root @ signs.T, axis=0)
    return float(
        np.sum(
            np.maximum(
                log_ndtr((signs @ u + slack) / np.maximum(deviation, slack)),
                THRESHOLDS.negative_friction_cost,
            )
        )
    )


def held_out_residuals(trial: Trial, part: slice) -> list[Array]:
    """Return the residuals of each joint (part,) [N m|N] of an estimate from all other samples.

    Noise and weights follow from all samples.
    """
    regression, agreement, tau = trial.regression, trial.agreement, trial.torque
    gram = regression.gram_without(part, tau)
    vague = 1e-6 * (agreement.precision @ gram.diagonal)[regression.inner :]
    P = np.concatenate([np.repeat(agreement.weight, 10), np.where(vague > 0, vague, 1.0)])
    u = gram.posterior_mean(agreement.precision, P)
    return [
        tau[part, j]
        - regression.known[part, j]
        - regression.columns[j][part] @ (regression.zero[j] + regression.to_u[j] @ u)
        for j in range(regression.n)
    ]


def held_out_error(trial: Trial) -> Array:
    """Return the held-out error of each joint over its torque, (n,)."""
    regression, tau = trial.regression, trial.torque
    squares = np.zeros(regression.n)
    for part in regression.parts:
        squares += [e @ e for e in held_out_residuals(trial, part)]
    return np.asarray(np.sqrt(squares / np.maximum(np.sum(tau**2, axis=0), 1e-300)))
