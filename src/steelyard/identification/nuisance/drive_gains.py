"""Drive gains: factors of the measured torques, estimated together with the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...drawing.numbers import with_uncertainty
from ...errors import CallError, ProblemError, suggest
from ...signals.autocorrelation import lagged_products, variance_inflation
from ...signals.log import Log
from ..estimators.least_squares import inverse_information, least_squares
from ..model.accumulator import Accumulator, triangular
from ..model.linear_model import Model
from ..model.problem import Problem
from ..samples.samples import Samples
from .log_payloads import (
    EstimatedPayload,
    PayloadColumns,
    estimated_payload,
    payload_columns,
    unknown_terms,
    with_payloads,
)
from .nuisance_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class DriveGains:
    """The factor of each joint's measured torque, (n,), and its standard deviation.

    1 and 0 where none was asked for.

    A gain that the samples do not hold is 1 with an infinite standard deviation. `notes` say which.
    `payloads` are payloads of the logs that were estimated with the gains. `base_covariance` (b, b)
    is what the uncertainty of gains and payloads adds to the covariance of the base parameters.
    `scale_std` is the relative standard deviation of the mean gain, a fraction.
    """

    values: Array
    std: Array
    notes: tuple[str, ...] = ()
    base_covariance: Array | None = None
    payloads: tuple[EstimatedPayload, ...] = ()
    scale_std: float = 0.0

    def apply(self, samples: tuple[Samples, ...]) -> tuple[Samples, ...]:
        """Return the samples with torques in true units, and the whole torque of payloads."""
        whole = tuple(with_payloads(s, self.payloads) for s in samples)
        return (
            whole
            if np.all(self.values == 1.0)
            else tuple(replace(s, tau=s.tau * self.values) for s in whole)
        )


def estimate_gains(
    model: Model, samples: tuple[Samples, ...], joints: Sequence[str], factor: int
) -> DriveGains:
    """Return k_j with k_j tau_j = Y_j base + L_j load + known_j + noise.

    The most likely base, 1/k_j and unknown parameters of payloads together.

    Joints that are not asked for have correct gains, and determine the others through shared
    parameters. Where all are asked for, something must be known: the mass of a payload that some
    logs carry and others do not, or a fixed mass. A gain that cannot be identified stays 1. Raises
    ProblemError if none can be identified, or if no log is without a payload of unknown centre.
    Gautier and Briot, "Global identification of joint drive gains and dynamic parameters of
    robots", J. Dyn. Sys. Meas. Control 136 (2014).
    """
    asked = asked_joints(model.robot.joint_names, joints)
    columns = payload_columns(model, samples)
    if not asked.any() and not columns.payloads:
        return DriveGains(np.ones(model.n), np.zeros(model.n))
    columns, notes = separable_payloads(model, samples, factor, columns)
    problem = Problem(model, samples, factor, columns if columns.payloads else None)
    search = GainSearch(fold_rows(problem, columns.count), problem.prior, mass_row(model))
    search = search.with_payload_columns(columns.count)
    active, identifiable = asked.copy(), asked.copy()
    while True:
        base, inverse = search.solve(active)
        weights = search.weights(base, inverse) / np.sqrt(inflation(problem, base, inverse))
        share, std = search.information(active, base, inverse, weights)
        lost = active & is_unidentifiable(share, std / inverse)
        if not lost.any():
            break
        identifiable &= ~lost
        # the others may be identifiable relative to it
        active[np.flatnonzero(lost)[np.argmax((std / inverse)[lost])]] = False
    if asked.any() and not identifiable.any():
        raise ProblemError(unidentifiable_message(model, asked, search))
    std = np.where(identifiable, std / inverse**2, np.where(asked, np.inf, 0.0))
    values = np.where(active, 1.0 / inverse, 1.0)
    rows = search.linearised(active, base, inverse, weights)
    payloads = estimated_payloads(model, samples, columns, base, rows)
    if asked.any():
        notes += sentences(model.robot.joint_names, asked, values, std)
    return DriveGains(
        values=values,
        std=std,
        notes=notes
        + tuple(each.sentence() for each in payloads if each.stated in columns.payloads),
        base_covariance=search.base_covariance(rows),
        payloads=payloads,
        scale_std=search.scale_std(rows, inverse, identifiable),
    )


def separable_payloads(
    model: Model, samples: tuple[Samples, ...], factor: int, columns: PayloadColumns
) -> tuple[PayloadColumns, tuple[str, ...]]:
    """Return the columns of payloads that the samples separate from the links, and notes.

    Raises ProblemError for a payload of unknown centre that cannot be separated.
    """
    if not columns.payloads:
        return columns, ()
    b, total = model.base.n_base, fold_rows(Problem(model, samples, factor, columns), columns.count)
    rows = np.concatenate([total.rows(j)[:, :-2] for j in range(total.n)])
    shares = independent_columns(rows, [range(b + p.start, b + p.stop) for p in columns.slices])
    separable, notes = [], []
    for payload, share in zip(columns.payloads, shares, strict=True):
        if share >= THRESHOLDS.least_gain_share:
            separable.append(payload)
        elif payload.com is None:
            raise ProblemError(
                f"the centre of mass of the payload of {payload.mass:.4g} kg cannot be separated"
                " from the link that carries it: add a log without this payload, or give com= of"
                " Payload"
            )
        else:
            notes.append(
                f"The inertia of the payload of {payload.mass:.4g} kg is not known and cannot be"
                " separated from the link that carries it: it is part of that link."
            )
    return replace(columns, payloads=tuple(separable)), tuple(notes)


def independent_columns(rows: Array, groups: Sequence[Sequence[int]]) -> Array:
    """Return for each group of columns the largest share of one that no others can take over."""
    unit = np.linalg.norm(rows, axis=0)
    unit[unit <= 1e-12 * unit.max(initial=0.0)] = np.inf
    scaled = rows / unit
    shares = []
    for group in groups:
        others = np.delete(scaled, list(group), axis=1)
        inside = scaled[:, list(group)]
        best, *_ = np.linalg.lstsq(others, inside, rcond=1e-12)
        shares.append(np.max(np.linalg.norm(inside - others @ best, axis=0), initial=0.0))
    return np.array(shares)


def estimated_payloads(
    model: Model, samples: tuple[Samples, ...], columns: PayloadColumns, base: Array, rows: Array
) -> tuple[EstimatedPayload, ...]:
    """Return the payloads of the samples with estimated parameters.

    `base` (b + k,) ends with the parameters of `columns`, `rows` are linearised at it. Payloads
    without columns are point masses at their centre.
    """
    b = model.base.n_base
    covariance = inverse_information(triangular(rows))
    shown = independent_columns(rows[:, :-1], [[b + k] for k in range(columns.count)])
    estimates = []
    for payload in payload_columns(model, samples).payloads:
        k, index = len(unknown_terms(payload)), slice(0, 0)
        values, spread, seen = np.zeros(k), np.zeros((k, k)), np.zeros(k, bool)
        if payload in columns.payloads:
            index = columns.slices[columns.payloads.index(payload)]
            values = base[b:][index]
            spread = covariance[b : len(base), b : len(base)][index, index]
            seen = shown[index] >= THRESHOLDS.least_gain_share
        estimates.append(estimated_payload(model.plain, payload, values, spread, seen))
    return tuple(estimates)


def currents_as_torques(log: Log, joints: Sequence[str]) -> Log:
    """Return a log of currents with them as torques, if the gains of all joints are asked for.

    The drive gains are then the torque constants at the joints [N m/A|N/A].
    """
    names = log.joint_names or ()
    every = tuple(joints) == ("all",) or (bool(names) and set(names) <= set(joints))
    if log.tau is not None or log.current is None or not every:
        return log
    note = (
        f"{log.where or 'A log: '}it has currents and no torques: the drive gains are torque"
        " constants at the joints [N m/A|N/A], and errors of torques are currents [A]."
    )
    return log.replace(tau=log.current, effort="current", remarks=(*log.remarks, note))


def is_unidentifiable(share: Array, relative_std: Array) -> Bools:
    """Return which gains (n,) other unknowns can absorb, or are within their uncertainty."""
    return (share < THRESHOLDS.least_gain_share) | (
        relative_std > THRESHOLDS.largest_gain_deviation
    )


def asked_joints(names: Sequence[str], joints: Sequence[str]) -> Bools:
    """Return which joints are meant, (n,), by names or the word 'all'.

    Raises CallError for a name that no joint has.
    """
    requested = names if tuple(joints) == ("all",) else joints
    for name in requested:
        if name not in names:
            raise CallError(
                f"drive_gains: no joint is called {name!r}; {suggest(str(name), (*names, 'all'))}",
                argument="drive_gains",
            )
    return np.array([name in requested for name in names])


def fold_rows(problem: Problem, more: int = 0) -> Accumulator:
    """Return the rows [Y_j L_j known_j tau_j] of all samples folded, with tau_j as measured.

    L_j are the further columns of the problem, `more` in number.
    """
    b = problem.base.n_base
    further = range(b, b + more + 1)
    reach = [(*columns, *further) for columns in problem.model.reach]
    total = Accumulator.empty(reach, b + more + 1)
    for block in problem.blocks():
        total = total.fold(
            np.concatenate([block.Y, block.known[:, :, None]], axis=2),
            block.tau + block.known,
            block.keep,
        )
    return total


def mass_row(model: Model) -> Array | None:
    """Return a row [c m] (b + 1,) with c base = m, the known mass of the free links [kg].

    None if no total mass is known, or if torques do not show it: links that turn show their mass
    only together with its centre.
    """
    if model.total_mass is None:
        return None
    picked = np.array([float(name.endswith(".m")) for name in model.names])
    fixed = [i for i, _ in model.held]
    rest = model.total_mass - float(picked[fixed] @ model.start[fixed])
    picked[fixed] = 0.0
    c, *_ = np.linalg.lstsq(model.base.matrix.T, picked, rcond=None)
    shown = np.linalg.norm(model.base.matrix.T @ c - picked) <= 1e-8 * np.linalg.norm(picked)
    return np.append(c, rest) if shown and picked.any() else None


def inflation(problem: Problem, base: Array, inverse: Array) -> Array:
    """Return the variance inflation due to autocorrelated residuals of each joint, (n,)."""
    sums = np.zeros((2, problem.n))
    for block in problem.blocks(16):
        e = block.tau + block.known - inverse * (block.every_column @ base + block.known)
        sums[: min(2, len(e))] += lagged_products(e if block.keep is None else e * block.keep)
    return variance_inflation(sums[1] / np.maximum(sums[0], 1e-300))


@dataclass(frozen=True, eq=False)
class GainSearch:
    """tau_j = s_j (Y_j base + known_j) + noise, s = 1/k, from the factors of [Y_j known_j tau_j].

    `prior` (b,) where nothing is seen.

    `mass` (b + 1,) is a row c base = m of what is known of the mass, None for nothing. The last
    `n_payload` of the b columns belong to payloads.
    """

    total: Accumulator
    prior: Array
    mass: Array | None = None
    n_payload: int = 0

    def with_payload_columns(self, count: int) -> GainSearch:
        """Return the search with `count` columns of payloads behind the base parameters."""
        nothing = np.zeros(count)
        mass = None if self.mass is None else np.insert(self.mass, -1, nothing)
        return replace(self, prior=np.append(self.prior, nothing), mass=mass, n_payload=count)

    @property
    def mass_rows(self) -> tuple[Array, Array]:
        """Return c (k, b) and m (k,) of c base = m, over the std of the known mass; k = 0 or 1."""
        b = len(self.prior)
        row = (
            np.zeros((0, b + 1))
            if self.mass is None
            else self.mass[None] / (THRESHOLDS.known_mass_deviation * abs(self.mass[-1]))
        )
        return row[:, :b], row[:, b]

    def parts(self, joint: int) -> tuple[Array, Array, Array]:
        """Return the factor of one joint.

        Columns of Y (k, b), known torque (k,) and measured torque (k,).
        """
        rows = self.total.rows(joint)
        return rows[:, :-2], rows[:, -2], rows[:, -1]

    def weights(self, base: Array, inverse: Array) -> Array:
        """Return 1/sigma_j (n,) of the residuals; sigma is at least the rounding of the torque."""
        return 1.0 / self.sigma(self.squares(base, inverse))

    def squares(self, base: Array, inverse: Array) -> Array:
        """Return the sum of squared residuals of each joint, (n,)."""
        parts = (self.parts(j) for j in range(self.total.n))
        return np.array(
            [np.sum((t - inverse[j] * (Y @ base + k)) ** 2) for j, (Y, k, t) in enumerate(parts)]
        )

    def sigma(self, squares: Array) -> Array:
        """Return the standard deviation of residuals with these sums of squares, (n,)."""
        counts = np.array(self.total.counts)
        free = np.maximum(counts * (1.0 - len(self.prior) / max(counts.sum(), 1.0)), 1.0)
        size = np.sqrt(self.total.torque_squares() / np.maximum(counts, 1.0))
        return np.asarray(
            np.maximum(np.sqrt(squares / free), 1e-6 * max(float(size.max(initial=0.0)), 1e-300))
        )

    def solve(self, active: Bools) -> tuple[Array, Array]:
        """Return base (b,) and 1/k (n,) of the active joints by damped Gauss-Newton steps.

        The first weights are the noise of each joint after a separate fit of its parameters.
        """
        weights = 1.0 / self.sigma(np.array([R[-1, -1] ** 2 for R in self.total.factors]))
        base, inverse = self.start(active, weights)
        for _ in range(3):
            base, inverse = self.descend(active, base, inverse, weights)
            before, weights = weights, self.weights(base, inverse)
            if np.allclose(weights, before, rtol=1e-3):
                break
        return base, inverse

    def start(self, active: Bools, weights: Array) -> tuple[Array, Array]:
        """Return base and 1/k of the linear equations k_j tau_j - Y_j base = known_j.

        They are biased by the noise of tau_j.
        """
        b, rows = len(self.prior), []
        for j in range(self.total.n):
            Y, known, tau = self.parts(j)
            gain = np.zeros((len(Y), self.total.n))
            gain[:, j] = -tau if active[j] else 0.0
            rows.append(
                weights[j] * np.column_stack([Y, gain, -known + (0.0 if active[j] else 1.0) * tau])
            )
        c, mass = self.mass_rows
        rows.append(np.column_stack([c, np.zeros((len(c), self.total.n)), mass]))
        x = least_squares(
            triangular(np.concatenate(rows)), np.append(self.prior, np.ones(self.total.n))
        )
        k = np.where(active, x[b:], 1.0)
        if np.all(k > 1e-6):
            return x[:b], 1.0 / k
        rows = [
            weights[j] * np.column_stack([Y, tau - known])
            for j in range(self.total.n)
            for Y, known, tau in [self.parts(j)]
        ]
        return least_squares(triangular(np.concatenate(rows)), self.prior), np.ones(self.total.n)

    def descend(
        self, active: Bools, base: Array, inverse: Array, weights: Array
    ) -> tuple[Array, Array]:
        """Return base and 1/k after Gauss-Newton steps with these weights."""
        b = len(base)
        cost = self.cost(base, inverse, weights)
        for _ in range(THRESHOLDS.gain_rounds):
            step = least_squares(
                triangular(self.linearised(active, base, inverse, weights)),
                np.zeros(b + self.total.n),
            )
            for size in 0.5 ** np.arange(12):
                new_base, new = base + size * step[:b], inverse + size * step[b:]
                new_cost = self.cost(new_base, new, weights) if np.all(new > 0) else np.inf
                if new_cost <= cost:
                    break
            else:
                return base, inverse
            moved = float(np.max(np.abs(new / inverse - 1.0)))
            base, inverse, cost = new_base, new, new_cost
            if moved < 1e-11:
                break
        return base, inverse

    def cost(self, base: Array, inverse: Array, weights: Array) -> float:
        """Return the weighted sum of squares."""
        c, mass = self.mass_rows
        return float(
            np.sum(weights**2 * self.squares(base, inverse)) + np.sum((c @ base - mass) ** 2)
        )

    def linearised(self, active: Bools, base: Array, inverse: Array, weights: Array) -> Array:
        """Return weighted rows of [d tau / d base, d tau / d s, residual].

        The columns of joints that are not active are zero.
        """
        rows = []
        for j in range(self.total.n):
            Y, known, tau = self.parts(j)
            whole = Y @ base + known
            gain = np.zeros((len(Y), self.total.n))
            gain[:, j] = whole if active[j] else 0.0
            rows.append(
                weights[j] * np.column_stack([inverse[j] * Y, gain, tau - inverse[j] * whole])
            )
        c, mass = self.mass_rows
        rows.append(np.column_stack([c, np.zeros((len(c), self.total.n)), mass - c @ base]))
        return np.concatenate(rows)

    def information(
        self, active: Bools, base: Array, inverse: Array, weights: Array
    ) -> tuple[Array, Array]:
        """Return the independent share of each column of 1/k, and its standard deviation, (n,)."""
        rows, b = self.linearised(active, base, inverse, weights)[:, :-1], len(base)
        share, std = np.zeros(self.total.n), np.full(self.total.n, np.inf)
        unit = np.linalg.norm(rows, axis=0)
        unit[unit <= 1e-12 * unit.max(initial=0.0)] = np.inf
        columns = rows / unit
        for j in np.flatnonzero(active):
            if not np.isfinite(unit[b + j]):
                continue
            others = np.delete(columns, b + j, axis=1)
            best, *_ = np.linalg.lstsq(others, columns[:, b + j], rcond=1e-12)
            share[j] = np.linalg.norm(columns[:, b + j] - others @ best)
            std[j] = 1.0 / max(unit[b + j] * share[j], 1e-300)
        return share, std

    def base_covariance(self, rows: Array) -> Array:
        """Return what uncertain gains and payloads add to the covariance of the base parameters.

        It is (b, b); `rows` are linearised at the solution.
        """
        b, triangle = len(self.prior) - self.n_payload, triangular(rows)
        alone = np.delete(np.delete(triangle, slice(b, -1), axis=1), slice(b, -1), axis=0)
        return np.asarray(inverse_information(triangle)[:b, :b] - inverse_information(alone))

    def scale_std(self, rows: Array, inverse: Array, identifiable: Bools) -> float:
        """Return the relative standard deviation of the mean of the gains that are identified."""
        if not identifiable.any():
            return 0.0
        b = len(self.prior)
        covariance = inverse_information(triangular(rows))[b:, b:] / np.outer(inverse, inverse)
        mean = identifiable / identifiable.sum()
        return float(np.sqrt(max(mean @ covariance @ mean, 0.0)))


def unidentifiable_message(model: Model, asked: Bools, search: GainSearch) -> str:
    """Return why no gain can be identified, and what would help."""
    joints = ", ".join(name for name, a in zip(model.robot.joint_names, asked, strict=True) if a)
    why = "torques and masses could all be scaled alike"
    if model.total_mass is not None and search.mass is None:
        why = (
            "the torques of this robot show no total mass, only masses together with their centres"
        )
    elif any(np.any(search.parts(j)[1]) for j in range(model.n)):
        why = (
            "what is known acts on the torques only together with parameters that are free, as a"
            " payload in every log adds to a link"
        )
    helps = (
        "It is identified by logs with and without a known payload (Log(...,"
        " payload=sy.Payload(mass))), by a link that is held whole"
    )
    return (
        f"the gain of {joints} cannot be separated from the mass: {why}. {helps}, or against "
        "joints that are right and left out of drive_gains"
    )


def sentences(names: Sequence[str], asked: Bools, values: Array, std: Array) -> tuple[str, ...]:
    """Return the gains with two standard deviations, and which of them cannot be identified."""
    known = [
        f"{names[int(j)]} {' ± '.join(with_uncertainty(values[j], 2 * std[j]))}"
        for j in np.flatnonzero(np.isfinite(std) & asked)
    ]
    lost = [names[int(j)] for j in np.flatnonzero(np.isinf(std))]
    right = [names[int(j)] for j in np.flatnonzero(~asked)]
    against = f" ({', '.join(right)} taken as right)" if right else ""
    note = (
        f"Drive gains, by which the measured torques were multiplied{against}: {', '.join(known)}."
    )
    reason = "cannot be separated from the mass: the known quantities do not determine it"
    return (note, *((f"The gain of {', '.join(lost)} {reason}.",) if lost else ()))
