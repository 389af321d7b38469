"""Programs as ufuncs in any rendering.

Other widths, other processors, other budgets than a kernel would take on this machine.
"""

from __future__ import annotations

import ctypes
import platform

import numpy as np

from steelyard.compiler.ir.program import Program
from steelyard.compiler.render.llvm import module as llvm
from steelyard.compiler.runtime import jit
from steelyard.compiler.runtime.elf import Loaded, load_code, pack
from steelyard.compiler.runtime.gufunc import gufunc


def hosts() -> dict[str, jit.Host]:
    """This processor at every width, with and without fused multiply-add, and the plain processors
    that it can stand in for.
    """
    here = jit.host()
    results = {
        f"{lanes} lanes, {'fused' if fused else 'not fused'}": jit.Host(
            here.triple, here.cpu, here.features, lanes, fused
        )
        for lanes in (2, 4, 8)
        for fused in ((True, False) if here.fused else (False,))
    }
    if platform.machine().lower() in ("x86_64", "amd64"):
        results["SSE2"] = jit.Host(here.triple, "x86-64", "", 2, False)
        if here.lanes >= 4:
            results["AVX2"] = jit.Host(here.triple, "haswell", "", 4, True)
    return results


def ufunc_of(
    program: Program,
    host: jit.Host | None = None,
    budget: int | None = llvm.BUDGET,
    *,
    by_llvm: bool = False,
) -> np.ufunc:
    """The ufunc of a rendering; with `by_llvm` it is linked by LLVM."""
    host = host or jit.host()
    code = jit.compile_object(llvm.render(program, host.lanes, host.fused, budget), host)
    loaded = Loaded(*jit.link_object(code)) if by_llvm else load_code(pack(code))
    table = jit.library()
    shapes = [o.shape for o in program.inputs], [o.shape for o in program.outputs]
    return gufunc(
        loaded.address, ctypes.addressof(table), *shapes, program.name, "", owner=(loaded, table)
    )
