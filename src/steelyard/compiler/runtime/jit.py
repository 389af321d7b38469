"""LLVM text to machine code for this processor, and machine code to an address that can be called.

llvmlite is imported when the first kernel is made: importing steelyard does without it.
"""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import dataclass
from functools import cache
from threading import RLock
from typing import Any

from ..render.llvm.loop import LIBRARY
from .fork import fork_waits_for

_names = itertools.count()


lock = fork_waits_for(RLock())  # LLVM is entered by one thread at a time, and never forked while it works


@dataclass(frozen=True)
class Host:
    """A processor that code is made for."""

    triple: str
    cpu: str
    features: str
    lanes: int  # doubles in a vector register
    fused: bool  # multiplies and adds in one instruction

    @property
    def key(self) -> str:
        """What object code depends on besides its program."""
        version = ".".join(map(str, _llvm().llvm_version_info))
        return f"{self.triple} {self.cpu} {self.features} {self.lanes} {self.fused} llvm{version}"


@cache
def _llvm() -> Any:
    with lock:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        return llvm


@cache
def host() -> Host:
    """This machine: 8 lanes of doubles with AVX-512, 4 with AVX2, else 2 (SSE2, NEON)."""
    llvm = _llvm()
    found = llvm.get_host_cpu_features()
    lanes = 8 if found.get("avx512dq") else 4 if found.get("avx2") else 2
    triple = llvm.get_process_triple()
    fused = bool(found.get("fma")) or triple.startswith(("aarch64", "arm64"))
    return Host(triple, llvm.get_host_cpu_name(), found.flatten(), lanes, fused)


def _machine(made_for: Host) -> Any:
    target = _llvm().Target.from_triple(made_for.triple)
    return target.create_target_machine(cpu=made_for.cpu, features=made_for.features, opt=2, reloc="pic", codemodel="small")


@cache
def _jit() -> Any:
    return _llvm().create_lljit_compiler(_machine(host()), suppress_errors=True)


def compile_object(text: str, made_for: Host | None = None) -> bytes:
    """Position-independent object code of a module, for this machine or another."""
    with lock:
        module = _llvm().parse_assembly(text)
        module.verify()
        return bytes(_machine(made_for or host()).emit_object(module))


def assembly(text: str, made_for: Host | None = None) -> str:
    """What the processor will be given, for people to read."""
    with lock:
        return str(_machine(made_for or host()).emit_assembly(_llvm().parse_assembly(text)))


def link_object(code: bytes, symbol: str = "kernel") -> tuple[int, Any]:
    """Link object code into this process: the address of a function in it, and what must live as long as that is called.

    RuntimeError where it is no object code of this kind of machine.
    """
    with lock:
        builder = _llvm().JITLibraryBuilder().add_object_img(code).export_symbol(symbol)
        tracker = builder.link(_jit(), f"steelyard{next(_names)}")
        return tracker[symbol], tracker


@cache
def library() -> Any:
    """A table of the C library's functions, which kernels get as their data pointer."""
    functions = [_c_function(name) for name in LIBRARY]
    return (ctypes.c_void_p * len(functions))(*functions)


def _c_function(name: str) -> int:
    for source in (None, "libm.so.6", "libm.dylib", "ucrtbase"):
        address = _found_in(source, name)
        if address:
            return address
    raise OSError(f"the C library of this system has no function {name}")  # pragma: no cover


def _found_in(source: str | None, name: str) -> int | None:
    try:
        return ctypes.cast(getattr(ctypes.CDLL(source), name), ctypes.c_void_p).value
    except (OSError, AttributeError, TypeError):
        return None
