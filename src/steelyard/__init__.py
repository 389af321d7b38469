"""steelyard: the dynamics of robot manipulators, and what their motion tells about them."""

from typing import TYPE_CHECKING, Any

from .errors import CallError, LogError, MissingExtra, ModelError, ProblemError, SteelyardError, SteelyardWarning
from .version import __version__

if TYPE_CHECKING:
    from .compiler.threads import threads
    from .mechanism import robots
    from .robot import Robot, load
    from .selfcheck import check

# public name -> module that has it; imported when first asked for, so that `import steelyard` stays light
_HOMES = {
    "Robot": "robot",
    "load": "robot",
    "robots": "mechanism",
    "threads": "compiler.threads",
    "check": "selfcheck",
}

__all__ = [
    "CallError",
    "LogError",
    "MissingExtra",
    "ModelError",
    "ProblemError",
    "Robot",
    "SteelyardError",
    "SteelyardWarning",
    "__version__",
    "check",
    "load",
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


def __dir__() -> list[str]:
    return sorted(__all__)
