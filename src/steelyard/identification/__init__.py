"""Identification of dynamic parameters: from logs to a fit with its uncertainty."""

from typing import TYPE_CHECKING, Any

from ..mechanism.model import Coupling
from ..option_groups.identification import Bounds
from .doctor import Diagnosis, doctor
from .estimators.registry import ESTIMATORS
from .identify import identify
from .model.accumulator import Accumulator
from .model.model_options import ModelOptions
from .options import Options
from .result.fit import Fit
from .result.prediction import Prediction, Region
from .result.validation import Validation
from .result.verdict import Verdict
from .samples.preparation import Preparation
from .validate import CrossValidation, cross_validate, validate_robot, validate_robots

if TYPE_CHECKING:
    from .estimators.errors_in_variables.maximum_likelihood import MaximumLikelihood
    from .estimators.errors_in_variables.total_least_squares import TLS
    from .estimators.frequency import Frequency
    from .estimators.least_squares import OLS, WLS, Sequential
    from .estimators.robust import IRLS
    from .estimators.sdp import SDP
    from .estimators.shrinkage import ElasticNet, Lasso, Ridge
    from .estimators.simulated.automatic import Automatic
    from .estimators.simulated.didim import DIDIM
    from .estimators.simulated.instruments import IV
    from .estimators.simulated.output_error import CLOE
    from .estimators.without_acceleration.energy import EnergyEstimator
    from .estimators.without_acceleration.momentum import MomentumEstimator

__all__ = [
    "CLOE",
    "DIDIM",
    "ESTIMATORS",
    "IRLS",
    "IV",
    "OLS",
    "SDP",
    "TLS",
    "WLS",
    "Accumulator",
    "Automatic",
    "Bounds",
    "Coupling",
    "CrossValidation",
    "Diagnosis",
    "ElasticNet",
    "EnergyEstimator",
    "Fit",
    "Frequency",
    "Lasso",
    "MaximumLikelihood",
    "ModelOptions",
    "MomentumEstimator",
    "Options",
    "Prediction",
    "Preparation",
    "Region",
    "Ridge",
    "Sequential",
    "Validation",
    "Verdict",
    "cross_validate",
    "doctor",
    "identify",
    "validate_robot",
    "validate_robots",
]


def __getattr__(name: str) -> Any:
    """Return the class of an estimator, whose module is imported when it is first used."""
    row = next((row for row in ESTIMATORS.values() if row.class_name == name), None)
    if row is not None:
        from importlib import import_module

        value = getattr(import_module(f".estimators.{row.module}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'steelyard.identification' has no attribute {name!r}")
