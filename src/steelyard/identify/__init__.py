"""From logs to a model that can be trusted: problems, the accumulator, estimators, frozen results, validation, doctor."""

from .accumulator import Accumulator
from .extra import Coupling
from .fit import Fit
from .identify import identify
from .ols import OLS
from .sdp import SDP
from .validation import Validation
from .wls import WLS

__all__ = ["OLS", "SDP", "WLS", "Accumulator", "Coupling", "Fit", "Validation", "identify"]
