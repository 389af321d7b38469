"""What fit.json keeps of a fit, as far as two fits are compared by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, translate_errors
from ..identification import Fit
from .results import fit_content

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SavedFit:
    """A saved fit: verdict, errors of the joints (n,), and parameters (p,) with units and std.

    rms [N m|N], the other errors are fractions of the torque; a standard deviation is infinite
    where the log says nothing.
    """

    word: str
    joint_names: tuple[str, ...]
    joint_units: tuple[str, ...]
    rms: Array
    relative_error: Array
    r2: Array
    total_relative_error: float
    parameter_names: tuple[str, ...]
    parameter_units: tuple[str, ...]
    parameters: Array
    parameters_std: Array

    @classmethod
    def of(cls, fit: Fit) -> SavedFit:
        """Return what fit.json would keep of a fit."""
        return saved_data(fit.to_dict())


def saved_fit(path: Path) -> SavedFit:
    """Return the fit of a fit.json; ModelError where it is none."""
    content = fit_content(path)
    with translate_errors(f"{path} is not a fit.json written by `steelyard identify`", ModelError):
        return saved_data(content)


def saved_data(content: Mapping[str, Any]) -> SavedFit:
    """Return the fit of the content of a fit.json."""
    joints, parameters = content["joints"], content["parameters"]
    return SavedFit(
        word=str(content["verdict"]["word"]),
        joint_names=_words(joints, "name"),
        joint_units=_words(joints, "unit"),
        rms=_numbers(joints, "rms", np.nan),
        relative_error=_numbers(joints, "relative_error", np.nan),
        r2=_numbers(joints, "r2", np.nan),
        total_relative_error=float(content["total_relative_error"]),
        parameter_names=_words(parameters, "name"),
        parameter_units=_words(parameters, "unit"),
        parameters=_numbers(parameters, "value", np.nan),
        parameters_std=_numbers(parameters, "standard_deviation", np.inf),
    )


def _words(rows: list[dict[str, Any]], key: str) -> tuple[str, ...]:
    return tuple(str(row[key]) for row in rows)


def _numbers(rows: list[dict[str, Any]], key: str, absent: float) -> Array:
    return np.array([absent if row[key] is None else float(row[key]) for row in rows], dtype=float)
