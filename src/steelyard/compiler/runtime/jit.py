"""LLVM: text to object code for this processor, and object code to a callable address.

llvmlite is imported when the first kernel is compiled.
"""

from __future__ import annotations

import ctypes
import itertools
import os
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from threading import RLock
from typing import Any

from ...fork import fork_waits_for
from ..render.llvm.loop import LIBRARY

_library_names = itertools.count()
# LLVM is entered by one thread at a time, and never forked while it works
lock = fork_waits_for(RLock())


@dataclass(frozen=True)
class Host:
    """A processor for which code is compiled."""

    triple: str
    cpu: str
    features: str
    lanes: int  # doubles in a vector register
    fused: bool  # multiplies and adds in one instruction

    @property
    def key(self) -> str:
        """All fields and the version of LLVM as one text."""
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
    """Return this machine: 8 lanes of doubles with AVX-512, 4 with AVX2, else 2 (SSE2, NEON)."""
    llvm = _llvm()
    features = llvm.get_host_cpu_features()
    lanes = 8 if features.get("avx512dq") else 4 if features.get("avx2") else 2
    triple = llvm.get_process_triple()
    fused = bool(features.get("fma")) or triple.startswith(("aarch64", "arm64"))
    return Host(triple, llvm.get_host_cpu_name(), features.flatten(), lanes, fused)


def target_machine(target: Host) -> Any:
    """Return LLVM's compiler for a processor."""
    machine = _llvm().Target.from_triple(target.triple)
    return machine.create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, reloc="pic", codemodel="small"
    )


@cache
def _jit() -> Any:
    return _llvm().create_lljit_compiler(target_machine(host()), suppress_errors=True)


def compile_object(text: str, target: Host | None = None) -> bytes:
    """Return the position-independent object code of a module, for this machine or another."""
    with lock:
        module = _llvm().parse_assembly(text)
        module.verify()
        return bytes(target_machine(target or host()).emit_object(module))


def link_object(code: bytes, symbol: str = "kernel") -> tuple[int, Any]:
    """Link object code into this process.

    Returns the address of a function in it, and the object that keeps it in memory. RuntimeError if
    it is not object code for this kind of machine.
    """
    with lock:
        builder = _llvm().JITLibraryBuilder().add_object_img(code).export_symbol(symbol)
        tracker = builder.link(_jit(), f"steelyard{next(_library_names)}")
        return tracker[symbol], tracker


@cache
def library() -> Any:
    """Return the table of C functions that kernels get as their data pointer."""
    functions = [_c_function(name) for name in LIBRARY]
    return (ctypes.c_void_p * len(functions))(*functions)


def _c_function(name: str) -> int:
    for source in (None, "libm.so.6", "libm.dylib", "ucrtbase"):
        address = _address(source, name)
        if address:
            return address
    raise OSError(f"the C library of this system has no function {name}")  # pragma: no cover


def _address(source: str | None, name: str) -> int | None:
    try:
        return ctypes.cast(getattr(ctypes.CDLL(source), name), ctypes.c_void_p).value
    except (OSError, AttributeError, TypeError):
        return None


def machine() -> str:
    """Return what machine code depends on besides its program: processor and compiler.

    LLVM is not loaded if that is possible.
    """
    processor, compiler = _linux_processor(), _llvmlite_version()
    return (
        host().key if processor is None or compiler is None else f"{processor}\nllvmlite {compiler}"
    )


def _linux_processor() -> str | None:
    """Return make and features of the first processor.

    None if they are not in /proc/cpuinfo (other systems, ARM).
    """
    try:
        with open("/proc/cpuinfo", "rb") as file:
            first = file.read(1 << 14).split(b"\n\n")[0].decode("ascii", "replace")
    except OSError:
        return None
    names = ("vendor_id", "cpu family", "model", "stepping", "flags")
    lines = [line for line in first.splitlines() if line.split("\t")[0].strip() in names]
    return "\n".join(lines) if any(line.startswith("flags") for line in lines) else None


def _llvmlite_version() -> str | None:
    """Return the text of llvmlite's version file, without importing the package."""
    spec = find_spec("llvmlite")
    if spec is None or spec.origin is None:
        return None
    try:
        with open(
            os.path.join(os.path.dirname(spec.origin), "_version.py"), encoding="utf-8"
        ) as file:
            return file.read()
    except OSError:
        return None
