"""ELF objects: relocations follow the ABI, and other objects are linked by LLVM."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from steelyard.compiler.render.llvm import module as llvm
from steelyard.compiler.runtime import jit
from steelyard.compiler.runtime.elf import RUNS_HERE, Linked, Loaded, link, load_code, pack
from steelyard.compiler.runtime.gufunc import gufunc
from tests.every_operation import assert_same, on_arrays, traced

pytestmark = pytest.mark.skipif(not RUNS_HERE, reason="ELF objects are linked on Linux on x86-64")

RETURNS = "define void @kernel() {\n  ret void\n}\n"
NOT_SIMPLE = {
    "a function of the C library": (
        "declare void @exit(i32)\ndefine void @kernel() {\n  call void @exit(i32 0)\n  ret"
        " void\n}\n"
    ),
    "data that changes": (
        "@count = global i64 7\ndefine void @kernel() {\n  store i64 1, ptr @count\n  ret void\n}\n"
    ),
    "zeroed data": (
        "@count = global [9 x i64] zeroinitializer\ndefine void @kernel() {\n  store i64 1, ptr"
        " @count\n  ret void\n}\n"
    ),
    "an address in data": f"@table = constant [1 x ptr] [ptr @kernel]\n{RETURNS}",
    "no kernel": RETURNS.replace("kernel", "other"),
}


def compiled() -> bytes:
    host = jit.host()
    return jit.compile_object(llvm.render(traced(), host.lanes, host.fused))


def test_a_kernel_is_linked() -> None:
    linked = link(compiled())
    assert isinstance(linked, Linked)
    assert 0 < linked.entry < len(linked.code)
    assert pack(compiled())[:1] == b"I"


def test_linked_code_runs_at_any_address() -> None:
    """Two copies of the same bytes at two addresses compute the same."""
    library = pack(compiled())
    one, other = load_code(library), load_code(library)
    assert one.address != other.address
    x, y = np.array([[0.3, -0.8]]), np.array([[1.5, 0.7]])
    first, second = (of_code(loaded)(x, y) for loaded in (one, other))
    np.testing.assert_array_equal(first, second)
    assert_same(first, on_arrays(x, y))


def of_code(loaded: Loaded) -> np.ufunc:
    table = jit.library()
    program = traced()
    return gufunc(
        loaded.address,
        ctypes.addressof(table),
        [(2,), (2,)],
        [program.outputs[0].shape],
        "linked",
        "",
        owner=(loaded, table),
    )


@pytest.mark.parametrize("what", NOT_SIMPLE)
def test_what_is_not_simple_is_left_to_llvm(what: str) -> None:
    code = jit.compile_object(NOT_SIMPLE[what])
    assert link(code) is None
    assert pack(code) == b"O" + code


@pytest.mark.parametrize(
    "code",
    [b"", b"\x7fELF", bytes(64), b"\xcf\xfa\xed\xfe" + bytes(100), b"MZ" + bytes(100)],
    ids=repr,
)
def test_other_files_are_not_linked(code: bytes) -> None:
    assert link(code) is None


def test_objects_for_other_processors_are_not_linked() -> None:
    code = bytearray(compiled())
    code[18] = 183  # AArch64
    assert link(bytes(code)) is None


def test_damaged_objects_raise_nothing() -> None:
    code = compiled()
    for length in range(0, len(code), 97):
        assert link(code[:length]) is None
    for position in range(64):
        altered = bytearray(code)
        altered[position] ^= 0xFF
        link(bytes(altered))  # linked or None, but no exception
