"""C export: a robot's algorithms as one C99 header and source file that need only <math.h>."""

from __future__ import annotations

from .c_functions import FRAMED, FUNCTIONS
from .c_module import module, write_c

__all__ = ["FRAMED", "FUNCTIONS", "module", "write_c"]
