"""The doctor: faults of a log for a robot, as findings with their evidence."""

from .examine import doctor, examine
from .finding import FAULTS, Diagnosis, Finding

__all__ = ["FAULTS", "Diagnosis", "Finding", "doctor", "examine"]
