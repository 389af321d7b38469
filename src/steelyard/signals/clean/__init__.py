"""Find and mend the faults of a log; delays between signals; from the motors' side of the gears to the joints."""

from .cleaning import clean
from .correction import Correction
from .delay import Delay, estimate_delay
from .faults import find_faults
from .transmission import Transmission

__all__ = ["Correction", "Delay", "Transmission", "clean", "estimate_delay", "find_faults"]
