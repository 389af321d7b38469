"""Images: what an ELF object leaves open is filled in rightly, or it is left to LLVM."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from steelyard.compiler.render.llvm import module as llvm
from steelyard.compiler.runtime import jit as native
from steelyard.compiler.runtime.elf import Image, link
from steelyard.compiler.runtime.gufunc import gufunc
from steelyard.compiler.runtime.machine_code import Loaded, load, loads_images, pack
from tests.every_operation import assert_same, on_arrays, traced

pytestmark = pytest.mark.skipif(not loads_images(), reason="images load on Linux on x86-64")

RETURNS = "define void @kernel() {\n  ret void\n}\n"
OPEN = {
    "a function of the C library": "declare void @exit(i32)\ndefine void @kernel() {\n  call void @exit(i32 0)\n  ret void\n}\n",
    "data that changes": "@count = global i64 7\ndefine void @kernel() {\n  store i64 1, ptr @count\n  ret void\n}\n",
    "zeroed data": "@count = global [9 x i64] zeroinitializer\ndefine void @kernel() {\n  store i64 1, ptr @count\n  ret void\n}\n",
    "an address in data": f"@table = constant [1 x ptr] [ptr @kernel]\n{RETURNS}",
    "no kernel": RETURNS.replace("kernel", "other"),
}


def compiled() -> bytes:
    host = native.host()
    return native.compile_object(llvm.render(traced(), host.lanes, host.fused))


def test_a_kernel_becomes_an_image() -> None:
    image = link(compiled())
    assert isinstance(image, Image)
    assert 0 < image.entry < len(image.code)
    assert pack(compiled())[:1] == b"I"


def test_an_image_can_be_anywhere() -> None:
    """Two copies of the same bytes at two addresses compute the same."""
    packed = pack(compiled())
    one, other = load(packed), load(packed)
    assert one.address != other.address
    x, y = np.array([[0.3, -2.0]]), np.array([[1.5, 0.7]])
    first, second = (of_code(loaded)(x, y) for loaded in (one, other))
    np.testing.assert_array_equal(first, second)
    assert_same(first, on_arrays(x, y))


def of_code(loaded: Loaded) -> np.ufunc:
    table = native.library()
    made = traced()
    return gufunc(loaded.address, ctypes.addressof(table), [(2,), (2,)], [made.outputs[0].shape], "image", "", owner=(loaded, table))


@pytest.mark.parametrize("left_open", OPEN)
def test_what_is_not_simple_is_left_to_llvm(left_open: str) -> None:
    code = native.compile_object(OPEN[left_open])
    assert link(code) is None
    assert pack(code) == b"O" + code


@pytest.mark.parametrize("code", [b"", b"\x7fELF", bytes(64), b"\xcf\xfa\xed\xfe" + bytes(100), b"MZ" + bytes(100)], ids=repr)
def test_other_files_are_no_images(code: bytes) -> None:
    assert link(code) is None


def test_other_processors_are_no_images() -> None:
    code = bytearray(compiled())
    code[18] = 183  # AArch64
    assert link(bytes(code)) is None


def test_pieces_of_objects_are_no_reason_to_crash() -> None:
    code = compiled()
    for length in range(0, len(code), 97):
        assert link(code[:length]) is None
    for position in range(64):
        altered = bytearray(code)
        altered[position] ^= 0xFF
        link(bytes(altered))  # an image or none, but no exception
