"""Torque errors over samples.

Of each joint and in total, apart for states inside and outside a region.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TorqueErrors:
    """Sums of squares over samples, (n,) each: residuals and torques [(N m)^2|N^2], rows in use.

    `samples` is the number of states. Sums add up, so that errors of several logs can be pooled.
    """

    residual_squares: Array
    torque_squares: Array
    rows: Array
    samples: int

    @property
    def rms(self) -> Array:
        """Root mean square residual of each joint, (n,) [N m|N]; NaN without a row in use."""
        return root_ratio(self.residual_squares, self.rows)

    @property
    def torque_rms(self) -> Array:
        """Root mean square torque of each joint, (n,) [N m|N]; NaN without a row in use."""
        return root_ratio(self.torque_squares, self.rows)

    @property
    def relative(self) -> float:
        """|e| / |tau| over all joints, a fraction; NaN without a row in use."""
        if not self.rows.sum():
            return float("nan")
        residual, torque = float(self.residual_squares.sum()), float(self.torque_squares.sum())
        return float(np.sqrt(residual / torque)) if torque else (np.inf if residual else 0.0)

    def __add__(self, other: TorqueErrors) -> TorqueErrors:
        return TorqueErrors(
            self.residual_squares + other.residual_squares,
            self.torque_squares + other.torque_squares,
            self.rows + other.rows,
            self.samples + other.samples,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as plain data."""
        return {name: np.asarray(value).tolist() for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], n: int) -> TorqueErrors:
        """Return the errors of n joints that `to_dict` wrote."""
        names = ("residual_squares", "torque_squares", "rows")
        residual, torque, rows = (np.array(data[name], float).reshape(n) for name in names)
        return cls(residual, torque, rows, int(data["samples"]))


@dataclass(frozen=True, eq=False)
class ValidationErrors:
    """Errors on a log that the fit has not seen, inside and outside the region of the fit."""

    inside: TorqueErrors
    outside: TorqueErrors

    @property
    def total(self) -> TorqueErrors:
        """Errors over all samples."""
        return self.inside + self.outside

    @property
    def share_inside(self) -> float:
        """Share of the samples that lie inside the region."""
        return self.inside.samples / max(self.total.samples, 1)

    def is_of_same_log(self, other: ValidationErrors) -> bool:
        """Return whether two validations are of the same log: as many rows with equal torques."""
        ours, theirs = self.total, other.total
        same_rows = np.array_equal(ours.rows, theirs.rows)
        return same_rows and np.allclose(
            ours.torque_squares, theirs.torque_squares, rtol=1e-9, atol=0.0
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the errors as plain data."""
        return {"inside": self.inside.to_dict(), "outside": self.outside.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], n: int) -> ValidationErrors:
        """Return the errors of n joints that `to_dict` wrote."""
        return cls(*(TorqueErrors.from_dict(data[name], n) for name in ("inside", "outside")))


def split_errors(measured: Array, predicted: Array, keep: Bools, inside: Bools) -> ValidationErrors:
    """Compute torque errors apart for samples inside and outside a region.

    Parameters
    ----------
    measured, predicted : (N, n) torques [N m|N]
    keep : (N, n) rows in use
    inside : (N,) whether the state of a sample lies inside the region

    Returns
    -------
    ValidationErrors
    """
    return ValidationErrors(*(sum_errors(measured, predicted, keep, m) for m in (inside, ~inside)))


def sum_errors(measured: Array, predicted: Array, keep: Bools, chosen: Bools) -> TorqueErrors:
    """Sum the squares of residuals and torques (N, n) over the chosen samples (N,)."""
    use = keep[chosen]
    tau = np.where(use, measured[chosen], 0.0)
    error = np.where(use, measured[chosen] - predicted[chosen], 0.0)
    residual_squares, torque_squares = (np.sum(x**2, axis=0) for x in (error, tau))
    rows = use.sum(axis=0).astype(float)
    return TorqueErrors(residual_squares, torque_squares, rows, int(np.count_nonzero(chosen)))


def pooled(parts: Sequence[TorqueErrors]) -> TorqueErrors | None:
    """Return the errors over the samples of all parts; None if there is no sample."""
    filled = [part for part in parts if part.samples]
    if not filled:
        return None
    total = filled[0]
    for part in filled[1:]:
        total = total + part
    return total


def root_ratio(squares: Array, rows: Array) -> Array:
    """Return sqrt(squares / rows), NaN where there are no rows."""
    return np.where(rows > 0, np.sqrt(squares / np.maximum(rows, 1.0)), np.nan)
