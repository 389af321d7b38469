"""The doctor: what is wrong with a log for this robot, as findings with their evidence."""

from .diagnose import Diagnosis, doctor
from .finding import FAULTS, Finding

__all__ = ["FAULTS", "Diagnosis", "Finding", "doctor"]
