"""How fast a robot's kernels are on this machine, against what a user would take instead."""

from __future__ import annotations

from ..checks.plain_python import Yardstick, against_plain_python
from .cases import Measurement, measure
from .machine import Machine, this_machine
from .startup import Startup, measure_startup

__all__ = ["Machine", "Measurement", "Startup", "Yardstick", "against_plain_python", "measure", "measure_startup", "this_machine"]
