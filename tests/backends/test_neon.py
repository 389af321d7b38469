"""LLVM modules for ARM's vectors of two doubles.

They compile for it, though they cannot run here.
"""

from __future__ import annotations

import llvmlite.binding as binding
import pytest

from steelyard.compiler.render.llvm.module import render
from steelyard.compiler.runtime import jit
from steelyard.compiler.runtime.elf import link
from tests.every_operation import traced

HOSTS = {
    "Linux": jit.Host("aarch64-unknown-linux-gnu", "generic", "", 2, True),
    "macOS": jit.Host("arm64-apple-macosx", "apple-m1", "", 2, True),
}


def assembly(text: str, host: jit.Host) -> str:
    return str(jit.target_machine(host).emit_assembly(binding.parse_assembly(text)))


@pytest.mark.parametrize("name", HOSTS)
def test_arm(name: str) -> None:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    host = HOSTS[name]
    text = render(traced(), host.lanes, host.fused)
    assert "fmla" in assembly(text, host), "multiplies and adds fuse"
    code = jit.compile_object(text, host)
    assert len(code) > 1000
    assert link(code) is None, "left to LLVM"
