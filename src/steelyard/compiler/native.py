"""LLVM text to machine code for this processor, and machine code to an address that can be called."""

from __future__ import annotations

import ctypes
import itertools
import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding as llvm

_lock = threading.Lock()  # LLVM's JIT is entered by one thread at a time
_names = itertools.count()


@dataclass(frozen=True)
class Host:
    """The processor that code is made for."""

    triple: str
    cpu: str
    features: str
    lanes: int
    fused: bool  # multiplies and adds in one instruction

    @property
    def key(self) -> str:
        """What object code depends on besides its program."""
        return f"{self.triple} {self.cpu} {self.features} llvm{'.'.join(map(str, llvm.llvm_version_info))}"


@cache
def host() -> Host:
    """This machine: 8 lanes of doubles with AVX-512, 4 with AVX2, else 2 (SSE2, NEON)."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    found = llvm.get_host_cpu_features()
    lanes = 8 if found.get("avx512dq") else 4 if found.get("avx2") else 2
    triple = llvm.get_process_triple()
    fused = bool(found.get("fma")) or triple.startswith(("aarch64", "arm64"))
    return Host(triple, llvm.get_host_cpu_name(), found.flatten(), lanes, fused)


def _machine(opt: int = 2) -> Any:
    h = host()
    target = llvm.Target.from_triple(h.triple)
    return target.create_target_machine(cpu=h.cpu, features=h.features, opt=opt, reloc="pic", codemodel="small")


@cache
def _jit() -> Any:
    host()
    return llvm.create_lljit_compiler(_machine())


def compile_object(text: str, opt: int = 2) -> bytes:
    """Position-independent object code of a module."""
    with _lock:
        module = llvm.parse_assembly(text)
        module.verify()
        return bytes(_machine(opt).emit_object(module))


def assembly(text: str) -> str:
    """What the processor will be given, for people to read."""
    with _lock:
        host()
        return str(_machine().emit_assembly(llvm.parse_assembly(text)))


@dataclass(frozen=True)
class Loaded:
    """Code in memory: valid while this object lives."""

    address: int
    _tracker: Any


def load_object(code: bytes, symbol: str = "kernel") -> Loaded:
    """Link object code into this process and find a function in it."""
    with _lock:
        builder = llvm.JITLibraryBuilder().add_object_img(code).export_symbol(symbol)
        tracker = builder.link(_jit(), f"steelyard{next(_names)}")
        return Loaded(tracker[symbol], tracker)


@cache
def library() -> Any:
    """A table of the C library's functions, which kernels get as their data pointer."""
    from .frame import LIBRARY

    functions = [_c_function(name) for name in LIBRARY]
    return (ctypes.c_void_p * len(functions))(*functions)


def _c_function(name: str) -> int:
    for source in (None, "libm.so.6", "libm.dylib", "ucrtbase"):
        try:
            return ctypes.cast(getattr(ctypes.CDLL(source), name), ctypes.c_void_p).value or 0
        except (OSError, AttributeError, TypeError):
            continue
    raise OSError(f"the C library of this system has no function {name}")  # pragma: no cover
