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

# estimator -> module that has it; imported when first asked for
_HOMES = {
    "CLOE": "simulated.output_error",
    "DIDIM": "simulated.didim",
    "IRLS": "robust",
    "IV": "simulated.instruments",
    "OLS": "least_squares",
    "SDP": "sdp",
    "TLS": "errors_in_variables.total_least_squares",
    "WLS": "least_squares",
    "Automatic": "simulated.automatic",
    "ElasticNet": "shrinkage",
    "EnergyEstimator": "without_acceleration.energy",
    "Frequency": "frequency",
    "Lasso": "shrinkage",
    "MaximumLikelihood": "errors_in_variables.maximum_likelihood",
    "MomentumEstimator": "without_acceleration.momentum",
    "Ridge": "shrinkage",
    "Sequential": "least_squares",
}

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
    if name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(f".estimators.{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'steelyard.identification' has no attribute {name!r}")
