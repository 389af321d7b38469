"""C for a controller: a robot's algorithms as one header and one source file of C99 that need nothing but <math.h>.

Knows trees and names, not robots: it is a user of `kernels`, beside `closed_form`.
"""

from __future__ import annotations

from .c_module import FUNCTIONS, module, write_c

__all__ = ["FUNCTIONS", "module", "write_c"]
