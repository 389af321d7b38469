"""Object code linked into an image that runs wherever it is put, so that a process that finds it on disk needs no LLVM to use it.

Kernels call nothing by name and own no data that changes: all that an ELF object of theirs leaves open are distances between its sections
("System V ABI, AMD64 supplement", section 4.4, relocations PC32 and PLT32). An object that leaves more open, or is of another kind, is for
LLVM to link.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

_ELF_X86_64 = b"\x7fELF\x02\x01\x01"
_RELOCATABLE, _AMD64 = 1, 62
_PROGBITS, _SYMBOLS, _RELOCATIONS = 1, 2, 4
_WRITE, _ALLOC = 1, 2
_DISTANCES = (2, 4)  # R_X86_64_PC32, R_X86_64_PLT32


@dataclass(frozen=True)
class Image:
    """Bytes to be placed at the start of a page, and where in them the kernel begins."""

    code: bytes
    entry: int


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class _Symbol(NamedTuple):
    name: int
    info: int
    other: int
    section: int
    value: int
    size: int


def link(code: bytes, symbol: str = "kernel") -> Image | None:
    """The image of an ELF object, or None where this is not that simple."""
    try:
        return _link(code, symbol.encode() + b"\0")
    except (struct.error, IndexError, KeyError, OverflowError):
        return None


def _link(code: bytes, symbol: bytes) -> Image | None:
    sections = _sections(code)
    placed = _place(code, sections)
    if placed is None:
        return None
    image, at = placed
    symbols, names = _symbols(code, sections)
    for target, offset, number, kind, addend in _relocations(code, sections):
        if target in at:
            s = symbols[number]
            if kind not in _DISTANCES or s.section not in at:
                return None
            position = at[target] + offset
            struct.pack_into("<i", image, position, at[s.section] + s.value + addend - position)
    for s in symbols:
        if s.section in at and names[s.name : s.name + len(symbol)] == symbol:
            return Image(bytes(image), at[s.section] + s.value)
    return None


def _sections(code: bytes) -> list[_Section]:
    if not code.startswith(_ELF_X86_64) or struct.unpack_from("<HH", code, 16) != (_RELOCATABLE, _AMD64):
        return []
    (start,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    return [_Section(*struct.unpack_from("<IIQQQQIIQQ", code, start + i * size)) for i in range(count)]


def _place(code: bytes, sections: list[_Section]) -> tuple[bytearray, dict[int, int]] | None:
    """The sections that matter at run time one behind the other, and where each begins; None where one would have to be writable.

    Tables for unwinding are left out: they are of their own kind, or of another flag, and nothing in a kernel throws.
    """
    image, at = bytearray(), {}
    for i, section in enumerate(sections):
        if section.flags & _WRITE and section.flags & _ALLOC and section.size:
            return None
        if section.kind == _PROGBITS and section.flags & _ALLOC:
            image += bytes(-len(image) % max(section.align, 1))
            at[i] = len(image)
            image += code[section.offset : section.offset + section.size]
    return image, at


def _symbols(code: bytes, sections: list[_Section]) -> tuple[list[_Symbol], bytes]:
    table = next((s for s in sections if s.kind == _SYMBOLS), None)
    if table is None:
        raise KeyError("no symbols")
    names = sections[table.link]
    symbols = [_Symbol(*struct.unpack_from("<IBBHQQ", code, table.offset + i)) for i in range(0, table.size, 24)]
    return symbols, code[names.offset : names.offset + names.size]


def _relocations(code: bytes, sections: list[_Section]) -> Iterator[tuple[int, int, int, int, int]]:
    """(section, offset in it, symbol, kind, addend) of every place that was left open."""
    for section in sections:
        if section.kind == _RELOCATIONS:
            for i in range(0, section.size, 24):
                offset, info, addend = struct.unpack_from("<QQq", code, section.offset + i)
                yield section.info, offset, info >> 32, info & 0xFFFFFFFF, addend
