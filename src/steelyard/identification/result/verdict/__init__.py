"""The verdict on a fit: its inputs, the rules that decide, and the decision."""

from .inputs import VerdictInputs
from .rules import decide
from .torque_errors import ValidationErrors
from .verdict import WORDS, JointError, JointVerdict, Verdict

__all__ = [
    "WORDS",
    "JointError",
    "JointVerdict",
    "ValidationErrors",
    "Verdict",
    "VerdictInputs",
    "decide",
]
