"""steelyard: the dynamics of robot manipulators, and what their motion tells about them."""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .errors import CallError, LogError, MissingExtra, ModelError, ProblemError, SteelyardError, SteelyardWarning
from .version import __version__

if TYPE_CHECKING:
    from .compiler.threads import threads
    from .identify import Coupling, Fit, Validation, doctor, identify
    from .mechanism import robots
    from .motion import Trajectory, excite
    from .parameters.base import base_parameters
    from .report import report
    from .robot import Robot, load
    from .selfcheck import check
    from .signals import Log, read_log
    from .simulate import Sensors, hidden, record

# public name -> module that has it; imported when first asked for, so that `import steelyard` stays light
_HOMES = {
    "Robot": "robot",
    "load": "robot",
    "robots": "mechanism",
    "threads": "compiler.threads",
    "check": "selfcheck",
    "base_parameters": "parameters.base",
    "identify": "identify",
    "Fit": "identify",
    "Validation": "identify",
    "Coupling": "identify",
    "doctor": "identify",
    "Log": "signals",
    "read_log": "signals",
    "Trajectory": "motion",
    "excite": "motion",
    "Sensors": "simulate",
    "hidden": "simulate",
    "record": "simulate",
    "report": "report",
}

__all__ = [
    "CallError",
    "Coupling",
    "Fit",
    "Log",
    "LogError",
    "MissingExtra",
    "ModelError",
    "ProblemError",
    "Robot",
    "Sensors",
    "SteelyardError",
    "SteelyardWarning",
    "Trajectory",
    "Validation",
    "__version__",
    "base_parameters",
    "check",
    "doctor",
    "excite",
    "hidden",
    "identify",
    "load",
    "read_log",
    "record",
    "report",
    "robots",
    "threads",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'steelyard' has no attribute {name!r}; it has {', '.join(sorted(_HOMES))}")


class _Package(ModuleType):
    """`steelyard.identify` is the function, though a folder has that name: importing the folder must not put itself in its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted(__all__)
