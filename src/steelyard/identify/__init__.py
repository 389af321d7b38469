"""From logs to a model that can be trusted: problems, the accumulator, estimators, frozen results, validation, doctor."""

from .accumulator import Accumulator
from .choose import ESTIMATORS
from .crossval import CrossValidation, cross_validate
from .doctor import Diagnosis, doctor
from .elastic_net import ElasticNet, Lasso
from .extra import Coupling
from .fit import Fit
from .identify import identify
from .irls import IRLS
from .ols import OLS
from .ridge import Ridge
from .sdp import SDP
from .sequential import Sequential
from .stribeck import Stribeck
from .tls import TLS
from .validation import Validation
from .wls import WLS

__all__ = [
    "ESTIMATORS", "IRLS", "OLS", "SDP", "TLS", "WLS", "Accumulator", "Coupling", "CrossValidation", "Diagnosis", "ElasticNet", "Fit",
    "Lasso", "Ridge", "Sequential", "Stribeck", "Validation", "cross_validate", "doctor", "identify",
]  # fmt: skip
