"""Fit: what an identification found, frozen."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import CallError
from ...parameters.base import BaseParameters
from ...robot import Robot
from ...signals.log import Log
from ..estimators.least_squares import Seen
from ..model.model import Model
from ..model.prior import parameter_sizes
from ..samples.options import Options
from .validation import Validation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The identified robot, its parameters, how sure they are, and how well they predict.

    `robot` has `parameters` (those of further terms, such as a coupling, are in `extra`); every link of it is a body that can exist.
    `base_values` (b,) are what the estimator found, `base_covariance` (b, b) holds for residuals that are no white noise.
    `drive_gains` (n,) is what measured torques were multiplied by, 1 where no gain was asked for. `validation` is the fit on its own
    samples, `before` that of the robot as given. `status` are sentences on how it went.
    """

    robot: Robot
    initial: Robot
    model: Model
    parameters: Array
    base_values: Array
    base_covariance: Array
    sigma: Array
    validation: Validation
    seen: Seen
    estimator: str
    options: dict[str, Any]
    preparation: Options
    delay: Array
    interval: float
    status: tuple[str, ...] = ()
    details: dict[str, Any] | None = None
    provenance: dict[str, Any] | None = None
    information: Array | None = None
    drive_gains: Array | None = None
    drive_gain_std: Array | None = None

    # the parameters ---------------------------------------------------------------------------------------------------------------------

    @property
    def base(self) -> BaseParameters:
        """The combinations that any motion of this robot could show."""
        return self.model.base

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Labels of `parameters`: the robot's, then those of further terms."""
        return self.model.names

    @property
    def extra(self) -> dict[str, float]:
        """The parameters that a robot's description has no place for."""
        count = len(self.robot.parameters)
        return dict(zip(self.parameter_names[count:], self.parameters[count:].tolist(), strict=True))

    @property
    def covariance(self) -> Array:
        """The covariance of `base_values`, (b, b)."""
        return self.base_covariance

    @cached_property
    def base_standard_deviation(self) -> Array:
        """Standard deviation of each base parameter, (b,); infinite for what the samples did not show."""
        std = np.sqrt(np.maximum(np.diag(self.base_covariance), 0.0))
        std[[i for i, name in enumerate(self.base.names) if name in self.unseen]] = np.inf
        return std

    @cached_property
    def standard_deviation(self) -> Array:
        """Standard deviation of each parameter, (p,).

        Finite for those that are a base parameter by themselves, 0 for held ones, infinite for those that are only seen in combination
        with others, or not at all.
        """
        std = np.full(len(self.parameter_names), np.inf)
        std[[i for i, _ in self.model.held]] = 0.0
        alone = set(self.base.alone)
        for column, name, value in zip(self.base.columns, self.base.names, self.base_standard_deviation, strict=True):
            if name in alone:
                std[column] = value
        return std

    @property
    def relative_std(self) -> Array:
        """Standard deviation over value, (p,), a fraction."""
        return relative(self.standard_deviation, self.parameters)

    @property
    def base_relative_std(self) -> Array:
        """Standard deviation over value of the base parameters, (b,), a fraction."""
        return relative(self.base_standard_deviation, self.base_values)

    # how well it fits -------------------------------------------------------------------------------------------------------------------

    @property
    def t(self) -> Array:
        """Times of the samples in use, (N,) [s]."""
        return self.validation.t

    @property
    def measured(self) -> Array:
        """Torque as measured, after the same filter as the regressor, (N, n) [N m|N]."""
        return self.validation.measured

    @property
    def predicted(self) -> Array:
        """Torque as the fit has it, (N, n) [N m|N]."""
        return self.validation.predicted

    @property
    def residuals(self) -> Array:
        """Measured less predicted, (N, n) [N m|N]; zero in the rows that a mask left out."""
        return self.validation.residuals

    @property
    def rms(self) -> Array:
        return self.validation.rms

    @property
    def relative_error(self) -> Array:
        return self.validation.relative_error

    @property
    def total_relative_error(self) -> float:
        return self.validation.total_relative_error

    @property
    def r2(self) -> Array:
        return self.validation.r2

    @property
    def total_r2(self) -> float:
        return self.validation.total_r2

    @property
    def before(self) -> Validation | None:
        """The robot as it was given, on the same samples."""
        return self.validation.before

    # what was seen ----------------------------------------------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """How many directions of the base parameters these samples show."""
        return self.seen.rank

    @property
    def singular_values(self) -> Array:
        """Of the weighted regressor with columns of unit norm, (b,)."""
        return self.seen.singular_values

    @property
    def condition(self) -> float:
        """Largest over smallest singular value of what was seen."""
        return self.seen.condition

    @cached_property
    def unseen(self) -> tuple[str, ...]:
        """The base parameters that these samples do not show, by name."""
        hidden = np.linalg.norm(self.seen.blind * self.seen.scale[:, None], axis=1) > 1e-3
        return tuple(name for name, h in zip(self.base.names, hidden, strict=True) if h)

    @cached_property
    def weak(self) -> tuple[str, ...]:
        """The base parameters that were seen but cannot be told from zero, and not because they are small.

        Their standard deviation is larger than their value and than a tenth of what a body like the described one has.
        """
        size = parameter_sizes(self.model)[list(self.base.columns)]
        std = self.base_standard_deviation
        hidden = (self.base_relative_std > 1.0) & (std > 0.1 * size) & np.isfinite(std)
        return tuple(name for name, h in zip(self.base.names, hidden, strict=True) if h)

    # what can be done with it -----------------------------------------------------------------------------------------------------------

    def torque(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Predicted torque (N, n) [N m|N], further terms and smooth Coulomb friction included. q [rad|m], qd, qdd: (N, n)."""
        q, qd, qdd = states(self.model.n, q, qd, qdd)
        return np.asarray(self.model.rows(q, qd, qdd) @ self.base_values + self.model.known_torque(q, qd, qdd))

    def predict(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> tuple[Array, Array]:
        """Torque (N, n) and the half-width of the band in which 95 % of measurements should lie, (N, n) [N m|N].

        2 sqrt(diag(Y cov Y^T) + sigma^2): what is unsure of the parameters, and what the residuals were.
        """
        q, qd, qdd = states(self.model.n, q, qd, qdd)
        Y = self.model.rows(q, qd, qdd)
        variance = np.einsum("tjb,bc,tjc->tj", Y, self.base_covariance, Y, optimize=True) + self.sigma**2
        return Y @ self.base_values + self.model.known_torque(q, qd, qdd), 2.0 * np.sqrt(variance)

    def validate(self, log: Log, other: Robot | Fit | None = None) -> Validation:
        """This fit on another log, prepared in the same way, beside the robot as given and, if named, another model."""
        from .validate_model import validate

        return validate(self, log, other)

    def essential(self, limit: float | None = None) -> Any:
        """The base parameters that the samples speak for, by stepwise elimination of the least sure."""
        from ..estimators.stepwise import essential

        return essential(self, limit)

    def summary(self) -> str:
        """A table of the base parameters with their uncertainty, and of the joints."""
        from .summary import summary

        return summary(self)

    def check(self) -> tuple[str, ...]:
        """Sentences: whether to trust this fit, and what to do where not."""
        from .verdict import check

        return check(self)

    def to_json(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write everything but the samples, with provenance, as JSON."""
        from .fit_json import write_json

        write_json(self, path, overwrite)

    def __repr__(self) -> str:
        return (
            f"Fit({self.robot.name!r}, {self.estimator}: rank {self.rank} of {self.base.n_base} base parameters, "
            f"{len(self.t)} samples, total relative error {self.total_relative_error:.2%})"
        )


def relative(std: Array, value: Array) -> Array:
    """std / |value|, 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(std == 0, 0.0, std / np.abs(value))


def states(n: int, *arrays: ArrayLike) -> tuple[Array, ...]:
    """States as (N, n) arrays; a single one may be (n,)."""
    made = tuple(np.atleast_2d(np.asarray(a, float)) for a in arrays)
    for array in made:
        if array.ndim != 2 or array.shape[1] != n or array.shape != made[0].shape:
            raise CallError(f"q, qd and qdd must all be (N, {n}); found {', '.join(str(a.shape) for a in made)}")
    return made
