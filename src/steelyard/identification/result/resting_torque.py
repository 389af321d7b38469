"""Torque of joints at rest: the prediction error on rows that a mask leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .result_thresholds import THRESHOLDS
from .validation import Validation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RestingTorque:
    """Errors of the predicted torque of joints at rest.

    Static friction takes any value between plus and minus the breakaway torque, which no model of
    the motion predicts; the errors are measured on the rows that are left out.

    Parameters
    ----------
    speeds : (n,) [rad/s|m/s] below which the rows of a joint are left out, 0 for all rows in use
    rms : (n,) root mean square error at rest [N m|N], NaN without rows
    std : (n,) standard deviation of a normal distribution with the same 95 % quantile [N m|N]
    """

    speeds: Array
    rms: Array
    std: Array

    def variance(self, qd: Array) -> Array:
        """Return the variance (..., n) of the torque at velocities (..., n), 0 while moving."""
        return np.where(np.abs(qd) < self.speeds, np.nan_to_num(self.std) ** 2, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the errors as plain data."""
        return {"speeds": self.speeds, "rms": self.rms, "std": self.std}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RestingTorque:
        """Return the errors that `to_dict` wrote, through JSON: None stands for NaN."""
        arrays = {name: np.array(data[name], float) for name in ("speeds", "rms", "std")}
        return cls(**arrays)


def resting_torque(validation: Validation, speeds: Array | None) -> RestingTorque | None:
    """Return the errors of resting joints on a fit's own samples; None if all rows are used.

    Parameters
    ----------
    validation : the fit on its own samples
    speeds : (n,) speeds below which rows are left out [rad/s|m/s], None for no mask
    """
    if speeds is None or validation.keep.all():
        return None
    error = np.abs(validation.measured - validation.predicted)
    left_out = [error[~keep, j] for j, keep in enumerate(validation.keep.T)]
    rms = np.array([np.sqrt(np.mean(e**2)) if len(e) else np.nan for e in left_out])
    quantile = [np.quantile(e, THRESHOLDS.noise_quantile) if len(e) else np.nan for e in left_out]
    return RestingTorque(speeds, rms, np.array(quantile) / THRESHOLDS.band_deviations)
