"""Linking of ELF objects without LLVM, so that cached kernels start without loading LLVM.

Kernels call no function by name and have no writable data. The only relocations of their objects
are distances between sections ("System V ABI, AMD64 supplement", section 4.4, PC32 and PLT32). Once
these are filled in, the code runs at any address. An object with other relocations, or for another
system, is linked by LLVM.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import struct
import sys
import warnings
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...errors import SteelyardWarning
from . import jit

_ELF_X86_64 = b"\x7fELF\x02\x01\x01"
_RELOCATABLE, _AMD64 = 1, 62
_PROGBITS, _SYMBOLS, _RELOCATIONS = 1, 2, 4
_WRITE, _ALLOC = 1, 2
_DISTANCES = (2, 4)  # R_X86_64_PC32, R_X86_64_PLT32


_LINKED, _OBJECT = b"I", b"O"  # first byte of stored code
_READ_EXECUTE = 5
RUNS_HERE = (
    sys.platform.startswith("linux")
    and platform.machine() == "x86_64"
    and struct.calcsize("P") == 8
)


@dataclass(frozen=True)
class Linked:
    """Machine code that runs at the start of any page, and the offset of the kernel's entry."""

    code: bytes
    entry: int


@dataclass(frozen=True)
class Loaded:
    """Code in memory, valid while this object lives."""

    address: int
    _owner: Any


def pack(code: bytes) -> bytes:
    """Return object code in the form that loads fastest: linked if possible, else unchanged."""
    linked = link(code) if RUNS_HERE else None
    return (
        _OBJECT + code
        if linked is None
        else _LINKED + struct.pack("<Q", linked.entry) + linked.code
    )


def load_code(content: bytes) -> Loaded:
    """Load stored code into memory; RuntimeError if this machine cannot run it."""
    if content[:1] == _LINKED and len(content) > 9 and RUNS_HERE:
        (entry,) = struct.unpack_from("<Q", content, 1)
        return _load(Linked(content[9:], entry))
    if content[:1] == _OBJECT:
        return Loaded(*jit.link_object(content[1:]))
    raise RuntimeError("neither linked code nor an object")


def _load(linked: Linked) -> Loaded:
    """Write code into separate pages, which are then executable and no longer writable."""
    if not 0 <= linked.entry < len(linked.code):
        raise RuntimeError("the entry of linked code lies outside of it")
    view = _executable(linked.code)
    return Loaded(ctypes.addressof(view) + linked.entry, view)


def _executable(code: bytes) -> Any:
    """Return a view of pages that hold code and are executable, and no longer writable."""
    pages = mmap.mmap(-1, len(code), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.write(code)
    view = (ctypes.c_char * len(code)).from_buffer(pages)
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    if protect(ctypes.addressof(view), len(code), _READ_EXECUTE):
        raise RuntimeError(
            "the system does not let this process make code executable:"
            f" {os.strerror(ctypes.get_errno())}"
        )
    return view


@cache
def executable_memory() -> bool:
    """Return whether this process may make memory executable; warn once if kernels are interpreted.

    Only Linux is asked: a hardened service (systemd's MemoryDenyWriteExecute), SELinux or PaX may
    forbid it there.
    """
    if not sys.platform.startswith("linux"):
        return True
    try:
        _executable(b"\xc3")
    except (RuntimeError, OSError) as error:
        warnings.warn(
            "compiled kernels cannot run here, and NumPy interprets them, often more than 100"
            f" times slower ({error}). To compile, allow executable memory:"
            " MemoryDenyWriteExecute=no in a systemd unit, or 'setsebool deny_execmem 0' with"
            " SELinux",
            SteelyardWarning,
            stacklevel=2,
        )
        return False
    return True


_Section = namedtuple("_Section", "name kind flags address offset size link info align entry")
_Symbol = namedtuple("_Symbol", "name info other section value size")


def link(code: bytes, symbol: str = "kernel") -> Linked | None:
    """Return an ELF object linked, None if it is for another machine or needs more relocations."""
    try:
        return _link(code, symbol.encode() + b"\0")
    except (struct.error, IndexError, KeyError, OverflowError):
        return None


def _link(code: bytes, symbol: bytes) -> Linked | None:
    sections = _sections(code)
    placed = _place(code, sections)
    if placed is None:
        return None
    linked, begins = placed
    symbols, names = _symbols(code, sections)
    for target, offset, number, kind, addend in _relocations(code, sections):
        if target in begins:
            s = symbols[number]
            if kind not in _DISTANCES or s.section not in begins:
                return None
            position = begins[target] + offset
            struct.pack_into(
                "<i", linked, position, begins[s.section] + s.value + addend - position
            )
    for s in symbols:
        if s.section in begins and names[s.name : s.name + len(symbol)] == symbol:
            return Linked(bytes(linked), begins[s.section] + s.value)
    return None


def _sections(code: bytes) -> list[_Section]:
    if not code.startswith(_ELF_X86_64) or struct.unpack_from("<HH", code, 16) != (
        _RELOCATABLE,
        _AMD64,
    ):
        return []
    (start,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    return [
        _Section(*struct.unpack_from("<IIQQQQIIQQ", code, start + i * size)) for i in range(count)
    ]


def _place(code: bytes, sections: list[_Section]) -> tuple[bytearray, dict[int, int]] | None:
    """Return the sections needed at run time in sequence, and the begin of each.

    None if one must be writable. Tables for unwinding are omitted, since nothing in a kernel
    throws.
    """
    linked, begins = bytearray(), {}
    for i, section in enumerate(sections):
        if section.flags & _WRITE and section.flags & _ALLOC and section.size:
            return None
        if section.kind == _PROGBITS and section.flags & _ALLOC:
            linked += bytes(-len(linked) % max(section.align, 1))
            begins[i] = len(linked)
            linked += code[section.offset : section.offset + section.size]
    return linked, begins


def _symbols(code: bytes, sections: list[_Section]) -> tuple[list[_Symbol], bytes]:
    table = next((s for s in sections if s.kind == _SYMBOLS), None)
    if table is None:
        raise KeyError("no symbols")
    names = sections[table.link]
    symbols = [
        _Symbol(*struct.unpack_from("<IBBHQQ", code, table.offset + i))
        for i in range(0, table.size, 24)
    ]
    return symbols, code[names.offset : names.offset + names.size]


def _relocations(code: bytes, sections: list[_Section]) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield (section, offset in it, symbol, kind, addend) of every relocation."""
    for section in sections:
        if section.kind == _RELOCATIONS:
            for i in range(0, section.size, 24):
                offset, info, addend = struct.unpack_from("<QQq", code, section.offset + i)
                yield section.info, offset, info >> 32, info & 0xFFFFFFFF, addend
