"""C for a controller: a robot's algorithms as one header and one source file of C99 that need nothing but <math.h>."""

from __future__ import annotations

from .c_functions import FRAMED, FUNCTIONS
from .c_module import module, write_c

__all__ = ["FRAMED", "FUNCTIONS", "module", "write_c"]
