"""Machine code as it is kept on disk, and its way into memory: an image that loads by itself, or an object that LLVM links."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import struct
import sys
from dataclasses import dataclass
from typing import Any

from . import jit as native
from .elf import Image, link

_IMAGE, _OBJECT = b"I", b"O"
_READ_EXECUTE = 5


@dataclass(frozen=True)
class Loaded:
    """Code in memory: valid while this object lives."""

    address: int
    _owner: Any


def pack(code: bytes) -> bytes:
    """Object code in the form that loads quickest."""
    image = link(code) if loads_images() else None
    return _OBJECT + code if image is None else _IMAGE + struct.pack("<Q", image.entry) + image.code


def load(packed: bytes) -> Loaded:
    """Put code into memory. RuntimeError where it is nothing that this machine can run."""
    if packed[:1] == _IMAGE and len(packed) > 9 and loads_images():
        (entry,) = struct.unpack_from("<Q", packed, 1)
        return _load_image(Image(packed[9:], entry))
    if packed[:1] == _OBJECT:
        return Loaded(*native.link_object(packed[1:]))
    raise RuntimeError("neither an image nor an object")


def loads_images() -> bool:
    return sys.platform.startswith("linux") and platform.machine() == "x86_64" and struct.calcsize("P") == 8


def _load_image(image: Image) -> Loaded:
    """Pages of their own for an image: written first, then executable and never writable again."""
    if not 0 <= image.entry < len(image.code):
        raise RuntimeError("an image without its kernel")
    pages = mmap.mmap(-1, len(image.code), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.write(image.code)
    view = (ctypes.c_char * len(image.code)).from_buffer(pages)
    address = ctypes.addressof(view)
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    if protect(address, len(image.code), _READ_EXECUTE):
        raise RuntimeError(f"this system lets no code be made: {os.strerror(ctypes.get_errno())}")
    return Loaded(address + image.entry, view)


def machine() -> str:
    """What machine code depends on besides its program: the processor and the compiler, told without loading either."""
    known = _linux_processor() if loads_images() else None
    return native.host().key if known is None else f"{known}\nllvmlite {_llvmlite_version()}"


def _linux_processor() -> str | None:
    """The lines of the first processor that say what it can do."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            first = file.read(1 << 14).split(b"\n\n")[0].decode("ascii", "replace")
    except OSError:
        return None
    wanted = ("vendor_id", "cpu family", "model", "stepping", "flags")
    lines = [line for line in first.splitlines() if line.split("\t")[0].strip() in wanted]
    return "\n".join(lines) if any(line.startswith("flags") for line in lines) else None


def _llvmlite_version() -> str:
    from importlib.util import find_spec

    spec = find_spec("llvmlite")
    if spec is None or spec.origin is None:
        return "unknown"
    try:
        with open(os.path.join(os.path.dirname(spec.origin), "_version.py"), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return native.host().key
