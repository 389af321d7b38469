"""Detection and repair of faults of a log, delays between signals, and transmissions."""

from .cleaning import clean
from .correction import Correction
from .delay import Delay, estimate_delay
from .faults import find_faults
from .transmission import Transmission

__all__ = ["Correction", "Delay", "Transmission", "clean", "estimate_delay", "find_faults"]
