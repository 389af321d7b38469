"""From logs to a model that can be trusted: problems, the accumulator, estimators, frozen results, validation, doctor."""

from .doctor import Diagnosis, doctor
from .estimators.elastic_net import ElasticNet, Lasso
from .estimators.irls import IRLS
from .estimators.ols import OLS
from .estimators.registry import ESTIMATORS
from .estimators.ridge import Ridge
from .estimators.sdp import SDP
from .estimators.sequential import Sequential
from .estimators.tls import TLS
from .estimators.wls import WLS
from .identify import identify
from .model.accumulator import Accumulator
from .model.extra_terms import Coupling
from .model.stribeck import Stribeck
from .result.cross_validation import CrossValidation, cross_validate
from .result.fit import Fit
from .result.validation import Validation

__all__ = [
    "ESTIMATORS", "IRLS", "OLS", "SDP", "TLS", "WLS", "Accumulator", "Coupling", "CrossValidation", "Diagnosis", "ElasticNet", "Fit",
    "Lasso", "Ridge", "Sequential", "Stribeck", "Validation", "cross_validate", "doctor", "identify",
]  # fmt: skip
