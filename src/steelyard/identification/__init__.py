"""Identification: from logs to samples, to a model, to an estimate, to a result with its uncertainty."""

from ..documented import documented
from ..floating_point import default_errstate_methods
from ..mechanism.model import Coupling
from .doctor import Diagnosis, doctor
from .estimators.errors_in_variables.maximum_likelihood import MaximumLikelihood
from .estimators.errors_in_variables.total_least_squares import TLS
from .estimators.frequency import Frequency
from .estimators.least_squares import OLS, WLS, Sequential
from .estimators.registry import ESTIMATORS
from .estimators.robust import IRLS
from .estimators.sdp import SDP
from .estimators.shrinkage import ElasticNet, Lasso, Ridge
from .estimators.simulated.automatic import Automatic
from .estimators.simulated.didim import DIDIM
from .estimators.simulated.instruments import IV
from .estimators.simulated.output_error import CLOE
from .estimators.without_acceleration.energy import Energy
from .estimators.without_acceleration.momentum import Momentum
from .identify import identify
from .model.accumulator import Accumulator
from .model.bounds import Bounds
from .model.model_options import ModelOptions
from .options import Options
from .result.fit import Fit
from .result.prediction import Prediction, Region
from .result.validation import Validation
from .result.verdict import Verdict
from .samples.preparation import Preparation
from .validate import CrossValidation, cross_validate, validate_robot, validate_robots

__all__ = [
    "CLOE", "DIDIM", "ESTIMATORS", "IRLS", "IV", "OLS", "SDP", "TLS", "WLS", "Accumulator", "Automatic", "Bounds", "Coupling",
    "CrossValidation", "Diagnosis", "ElasticNet", "Energy", "Fit", "Frequency", "Lasso", "MaximumLikelihood", "ModelOptions",
    "Momentum", "Options", "Prediction", "Preparation", "Region", "Ridge", "Sequential", "Validation", "Verdict", "cross_validate",
    "doctor", "identify", "validate_robot", "validate_robots",
]  # fmt: skip

documented(Fit, {"torque": "(..., n) [N m|N]."})
for _public in (Validation, doctor, identify):
    documented(_public)
default_errstate_methods(Fit)
