"""Expected accuracy of an identification before the experiment, and targets for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, ProblemError, suggest
from ...kernels import kernel
from ...motion.trajectories.accuracy import PredictedAccuracy
from ...motion.trajectories.basis import PeriodicMotion
from ...motion.trajectories.limits import TrajectoryLimits
from .criteria import Criterion, largest_ratio
from .excitation_thresholds import THRESHOLDS
from .information import FisherInformation
from .prior import Prior

Array = NDArray[np.float64]
Region: TypeAlias = "Mapping[str, tuple[float, float]] | None"


@dataclass(frozen=True, eq=False)
class RegionOfUse:
    """The states in which the identified model will be used.

    `rows` is Y_b (N, n, b) at random states; `torque` (n,) [N m|N] the RMS torque of the
    description there.
    """

    rows: Array
    torque: Array

    @classmethod
    def of(
        cls, information: FisherInformation, limits: TrajectoryLimits, region: Region = None
    ) -> RegionOfUse:
        """Draw random states within the limits, with positions of some joints within `region`.

        `region` maps joint names to (low, high) [rad|m].
        """
        robot = information.robot
        lower, upper = limits.lower.copy(), limits.upper.copy()
        for name, ends in (region or {}).items():
            if name not in robot.joint_names:
                raise CallError(
                    f"region: no joint is called {name!r}; {suggest(str(name), robot.joint_names)}",
                    argument="region",
                )
            low, high = (float(x) for x in ends)
            if not low < high:
                raise CallError(
                    f"region[{name!r}] = {ends!r}; expected two positions [rad|m], the lower first",
                    argument="region",
                )
            lower[robot.joint_names.index(name)], upper[robot.joint_names.index(name)] = low, high
        rng = np.random.default_rng(0)
        shape = (THRESHOLDS.accuracy_states, robot.n)
        fastest = np.where(
            np.isfinite(limits.acceleration),
            limits.acceleration,
            THRESHOLDS.acceleration_rate * limits.velocity,
        )
        q, qd, qdd = (
            rng.uniform(lower, upper, shape),
            limits.velocity * rng.uniform(-1, 1, shape),
            fastest * rng.uniform(-1, 1, shape),
        )
        Y = np.asarray(kernel(robot.tree, "regressor", columns=information.columns)(q, qd, qdd))
        tau = robot.inverse_dynamics(q, qd, qdd)
        return cls(Y, np.sqrt(np.mean(tau**2, axis=0)))

    def std(self, covariance: Array) -> Array:
        """Return the RMS std of predicted torques (n,) [N m|N] for a covariance (b, b)."""
        return np.sqrt(
            np.einsum("tja,ab,tjb->j", self.rows, covariance, self.rows) / len(self.rows)
        )


@dataclass(frozen=True, eq=False)
class Targets:
    """Variances to reach: v_i = tr(A^-1 M_i) at most 1, for matrices M (k, b, b), with labels."""

    matrices: Array
    labels: tuple[str, ...]

    @property
    def criterion(self) -> Criterion:
        """Criterion that minimises the largest ratio of variance to target."""
        return largest_ratio(self.matrices)

    def ratios(self, A: Array) -> Array:
        """Return standard deviation over target of each, (k,), for the information A (b, b)."""
        covariance = covariance_of(A)
        return np.sqrt(np.einsum("ab,kba->k", covariance, self.matrices))


def targets(
    information: FisherInformation,
    region: RegionOfUse,
    accuracy: Mapping[str, float] | None,
    torque_accuracy: float | None,
    prior: Prior | None = None,
) -> Targets | None:
    """Build targets of relative standard deviations; None if there are none.

    Targets are for parameters by name, and for every joint's torque. A parameter is a base
    parameter, or with a prior any parameter that the base parameters and the prior determine.
    """
    rows, labels = [], []
    for name, share in (accuracy or {}).items():
        _check_share(f"accuracy[{name!r}]", share)
        rows.append(_parameter_target(information, name, share, prior))
        labels.append(f"{name} to {100 * share:g} %")
    if torque_accuracy is not None:
        _check_share("torque_accuracy", torque_accuracy)
        for j, joint in enumerate(information.robot.joint_names):
            M = np.einsum("ta,tb->ab", region.rows[:, j], region.rows[:, j]) / len(region.rows)
            rows.append(M / (torque_accuracy * region.torque[j]) ** 2)
            labels.append(f"the torque of {joint} to {100 * torque_accuracy:g} %")
    return Targets(np.array(rows), tuple(labels)) if rows else None


def _parameter_target(
    information: FisherInformation, name: str, share: float, prior: Prior | None
) -> Array:
    """Return M = c c^T / v for a variance c^T A^-1 c of at most v.

    v is the requested variance minus the part of the prior variance that no motion reduces.
    """
    base = information.base
    values = base.values(information.robot.parameters)
    alone = name in base.names and (prior is None or name in base.alone)
    if not alone and (prior is None or name not in base.parameter_names):
        raise CallError(f"accuracy: {_not_a_target(information, name)}", argument="accuracy")
    column = base.parameter_names.index(name)
    size = abs(values[base.names.index(name)] if alone else information.robot.parameters[column])
    if not size > 0:
        raise CallError(
            f"accuracy: {name} is 0 in the description, so that a relative accuracy of"
            f" {share!r} is undefined; name another parameter",
            argument="accuracy",
        )
    c, remainder = (
        (np.eye(base.n_base)[base.names.index(name)], 0.0)
        if alone or prior is None
        else prior.seen(column)
    )
    if not (share * size) ** 2 > remainder:
        raise ProblemError(
            f"accuracy: {name} cannot be known to {100 * share:g} %, however long the motion:"
            f" {100 * np.sqrt(remainder) / size:.3g} % of the description's tolerance is in "
            "combinations that do not affect the torques",
            argument="accuracy",
        )
    return np.outer(c, c) / ((share * size) ** 2 - remainder)


def expected_accuracy(
    information: FisherInformation,
    region: RegionOfUse,
    motion: PeriodicMotion,
    prior: Prior | None,
    rate: float,
    seconds: float,
    assumed: bool,
) -> PredictedAccuracy:
    """Predict the accuracy of one recording of a motion, with prior knowledge.

    The covariance is (Y_b^T W Y_b + known)^-1 (Gauss-Markov).
    """
    base, robot = information.base, information.robot
    covariance = covariance_of(information.whole(information.states(motion)))
    std = np.sqrt(np.diag(covariance))
    physical = (
        np.full(len(base.parameter_names), np.inf)
        if prior is None
        else prior.physical_std(covariance)
    )
    for column, name, value in zip(base.columns, base.names, std, strict=True):
        if name in base.alone:
            physical[column] = value
    return PredictedAccuracy(
        names=base.names,
        expressions=base.expressions,
        values=base.values(robot.parameters),
        std=std,
        parameter_names=base.parameter_names,
        parameters_std=physical,
        joint_names=robot.joint_names,
        torque=region.torque,
        torque_std=region.std(covariance),
        noise=information.noise,
        rate=rate,
        seconds=seconds,
        assumed=assumed,
    )


def covariance_of(A: Array) -> Array:
    """Invert A (b, b) by its eigenvalues, scaled to a unit diagonal.

    Directions without information get a variance of 1 / rounding.
    """
    size = np.sqrt(np.maximum(np.diag(A), 1e-300))
    values, vectors = np.linalg.eigh(A / np.outer(size, size))
    values = np.maximum(values, np.finfo(float).eps * values[-1])
    return np.asarray((vectors / values) @ vectors.T / np.outer(size, size))


def _check_share(what: str, share: object) -> None:
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share < np.inf:
        raise CallError(
            f"{what} = {share!r}; expected a positive fraction, such as 0.02",
            argument=what.partition("[")[0],
        )


def _not_a_target(information: FisherInformation, name: object) -> str:
    base = information.base
    if name in base.unidentifiable:
        return (
            f"no motion identifies {name}, torques do not depend on it; "
            f"{suggest(str(name), base.names)}"
        )
    if name in base.parameter_names:
        within = [
            text
            for row, text in zip(base.matrix, base.expressions, strict=True)
            if row[base.parameter_names.index(str(name))]
        ]
        return (
            f"no motion identifies {name} by itself, only within {'; '.join(within)};"
            f" {suggest(str(name), base.names)}"
        )
    return f"no parameter is called {name!r}; {suggest(str(name), base.names)}"
