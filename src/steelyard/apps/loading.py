"""Loading a robot for a command: what loading warns about becomes a sentence on stderr, not a line of Python."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

from ..errors import SteelyardWarning

if TYPE_CHECKING:
    from ..robot import Robot


def load(name: str, quiet: bool = False) -> Robot:
    """The robot; its warnings on stderr unless `quiet`, for commands that show the remarks themselves."""
    import steelyard as sy

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = sy.load(name)
    for warning in caught:
        if quiet or not issubclass(warning.category, SteelyardWarning):
            continue  # what other packages warn their developers of is not for users
        print(f"steelyard: warning: {warning.message}", file=sys.stderr)
    return robot
