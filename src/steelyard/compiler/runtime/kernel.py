"""Kernels: programs compiled for this processor, callable on NumPy arrays."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...errors import CallError
from ..ir.program import Operand, Program
from ..progress import RENDERED, TRACED, report_progress
from . import cache, jit
from .cache import sources
from .elf import Loaded, executable_memory, load_code, pack
from .gufunc import call_error, gufunc
from .interpreter import InterpretedUfunc
from .single_call import SMALL, single_call, unsupported_reason
from .threads import in_parallel, thread_count

PARALLEL_WORK = 400_000  # nodes times samples; below, one thread is faster
# s for a node and for a number read or written, of one sample on a fast machine
NODE_TIME, SCALAR_TIME = 0.03e-9, 0.8e-9
BLOCK_TIME = 0.008  # s for the first block of a long call on a fast machine
_array = np.ndarray


class Kernel:
    """A compiled program.

    Call it with one array per input, batch dimensions first. It returns float64 arrays, or fills
    the arrays of `out=`. `ufunc` is the generalised ufunc itself. The call adds threads for large
    batches, interrupts within long ones, and errors that name the argument.
    """

    def __init__(self, program: Program) -> None:
        self._open(Interface.of(program), _load_code(program) if executable_memory() else program)

    @classmethod
    def from_cache(cls, key: str | None, make: Callable[[], Program]) -> Kernel:
        """Return the kernel of the program that `make` traces.

        Nothing is traced if the disk cache has interface and code for the key. The key must depend
        on everything on which the program depends, including the code that traces. None: do not use
        the disk.
        """
        if not executable_memory():
            return cls(make())
        name = None if key is None else cache.key("interface", key)
        interface = None if name is None else Interface.read(cache.read_entry(name) or b"")
        loaded = None if interface is None else _read_cached(interface.digest)
        if interface is None or loaded is None:
            program = make()
            interface, loaded = Interface.of(program), _load_code(program)
            if name is not None:
                cache.write(name, interface.write())
        kernel = cls.__new__(cls)
        kernel._open(interface, loaded)
        return kernel

    def _open(self, interface: Interface, loaded: Loaded | Program) -> None:
        """Set the fields; a program without code is interpreted."""
        self.name, self.inputs, self.outputs = interface.name, interface.inputs, interface.outputs
        self.operations, self.nodes, self.digest = (
            interface.operations,
            interface.nodes,
            interface.digest,
        )
        self.ufunc, self._address = self._ufunc_of(loaded)
        samples = PARALLEL_WORK // max(self.nodes, 1)
        self._large = samples * min(o.size for o in self.inputs)
        scalars = sum(o.size for o in (*self.inputs, *self.outputs))
        self._block = int(BLOCK_TIME / (NODE_TIME * self.nodes + SCALAR_TIME * scalars)) + 1
        self._long = 2 * self._block * max(o.size for o in self.inputs)

    def _ufunc_of(self, loaded: Loaded | Program) -> tuple[Any, int]:
        """Return the gufunc of compiled code and its address, or an interpreter and 0."""
        if isinstance(loaded, Program):
            return InterpretedUfunc(loaded), 0
        shapes = [o.shape for o in self.inputs], [o.shape for o in self.outputs]
        table = jit.library()
        doc = f"{self.name} ({self.operations} operations)"
        return (
            gufunc(
                loaded.address,
                ctypes.addressof(table),
                *shapes,
                self.name,
                doc,
                owner=(loaded, table),
            ),
            loaded.address,
        )

    def small_batch_call(self) -> Callable[..., Any]:
        """Return a function for one sample or a few, without threads and error messages.

        It returns NotImplemented for other calls.
        """
        return self._single_call(None) or self._by_gufunc

    def bare(
        self, origin: tuple[Callable[..., Any], tuple[Any, ...]] | None = None
    ) -> Callable[..., Any]:
        """Return a built-in function with the arguments of this kernel, fastest for one sample.

        CallError if Python does not support it. `origin` is a function and its arguments, which
        return the same built-in function in another process: it is pickled as these.
        """
        builtin = self._single_call(
            self._checked_call,
            origin=None if origin is None else (_with_attribute, (self.name, *origin)),
        )
        if builtin is None and not self._address:
            return self._checked_call
        if builtin is None:
            raise CallError(
                f"{self.name}: {unsupported_reason() or 'it has too many arrays for a single call'}"
            )
        return builtin

    def as_builtin(self, method: Callable[..., Any]) -> Callable[..., Any] | None:
        """Return a built-in function that computes single samples and calls a method otherwise.

        None if Python does not support it.
        """
        plain = [
            each.replace(annotation=Parameter.empty)
            for each in signature(method).parameters.values()
        ]
        # what inspect reads in the text of a built-in function
        taken = str(Signature(plain)).replace("(", "($self, ", 1)
        called = method.__name__, f"{method.__name__}{taken}\n--\n\n{method.__doc__}"
        return self._single_call(method, called, (_identity, (getattr(method, "__self__", None),)))

    def _single_call(
        self,
        otherwise: Any,
        called: tuple[str, str] | None = None,
        origin: tuple[Callable[..., Any], tuple[Any, ...]] | None = None,
    ) -> Callable[..., Any] | None:
        if not self._address:
            return None
        data = ctypes.addressof(jit.library())
        return single_call(
            self._address, data, self.inputs, self.outputs, self.ufunc, otherwise, called, origin
        )

    def _checked_call(self, *args: Any, out: Any = None) -> Any:
        """Call the kernel with the right number of arrays.

        A gufunc would write into further ones.
        """
        if len(args) != len(self.inputs):
            raise call_error(self.name, self.inputs, self.outputs, args, out, TypeError())
        return self(*args, out=out)

    def _by_gufunc(self, first: Any, *others: Any, out: Any = None) -> Any:
        return NotImplemented if first.size >= SMALL else self.ufunc(first, *others, out=out)

    def __call__(self, *args: Any, out: Any = None) -> Any:
        try:
            for a in args:
                if (
                    type(a) is _array
                    and a.size > self._large
                    and ((count := thread_count()) > 1 or a.size > self._long)
                ):
                    return in_parallel(
                        self.ufunc, self.inputs, self.outputs, count, self._block, args, out
                    )
            return self.ufunc(*args) if out is None else self.ufunc(*args, out=out)
        except FloatingPointError:  # underflow is not an error of a kernel
            if np.geterr()["under"] != "raise":
                raise
            with np.errstate(under="ignore"):
                return self(*args, out=out)
        except (ValueError, TypeError) as error:
            raise call_error(self.name, self.inputs, self.outputs, args, out, error) from None


def _identity(owner: Any) -> Any:
    """Return the object to which a built-in function is bound."""
    return owner


def _with_attribute(
    name: str, make: Callable[..., Any], arguments: tuple[Any, ...]
) -> SimpleNamespace:
    """Return an object whose attribute of this name is the function that `make` returns."""
    return SimpleNamespace(**{name: make(*arguments)})


def _load_code(program: Program) -> Loaded:
    """Return the machine code of a program, from the disk cache or compiled and written there."""
    cached = _read_cached(program.digest)
    if cached is not None:
        return cached
    code = pack(_compile(program))
    name = _name(program.digest)
    if name is not None:
        cache.write(name, code)
    return load_code(code)


def _read_cached(digest: str) -> Loaded | None:
    """Return the machine code of a program from the disk cache; None if absent or not loadable."""
    name = _name(digest)
    code = None if name is None else cache.read_entry(name)
    with suppress(RuntimeError):
        return None if code is None else load_code(code)
    return None


def _name(digest: str) -> str | None:
    version = sources(Path(__file__).parents[1])
    return None if version is None else cache.key("code", digest, jit.machine(), version)


def _compile(program: Program) -> bytes:
    if not program.inputs:
        raise CallError(
            f"{program.name} takes no array; expected at least one, with the batch shape "
            "of the result"
        )
    for operand in (*program.inputs, *program.outputs):
        if operand.size == 0:
            raise CallError(
                f"{program.name}: {operand.name} has no scalar, shape {operand.shape}; expected at"
                " least one"
            )
    report_progress(TRACED)
    with jit.lock:
        from ..render.llvm.module import render  # imported only where something is compiled

        host = jit.host()
        text = render(program, host.lanes, host.fused)
        report_progress(RENDERED)
        return jit.compile_object(text)


@dataclass(frozen=True)
class Interface:
    """Name, operands and size of a program, and the digest of its computation."""

    name: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    operations: int
    nodes: int
    digest: str

    @staticmethod
    def of(program: Program) -> Interface:
        return Interface(
            name=program.name,
            inputs=program.inputs,
            outputs=program.outputs,
            operations=program.operations,
            nodes=len(program.steps),
            digest=program.digest,
        )

    def write(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def read(text: bytes) -> Interface | None:
        """Return the interface that `write` wrote, or None for any other text."""
        try:
            fields = json.loads(text)
            inputs, outputs = (
                tuple(Operand(o["name"], tuple(o["shape"]), o["unit"]) for o in fields[direction])
                for direction in ("inputs", "outputs")
            )
            return Interface(
                name=fields["name"],
                inputs=inputs,
                outputs=outputs,
                operations=int(fields["operations"]),
                nodes=int(fields["nodes"]),
                digest=str(fields["digest"]),
            )
        except (ValueError, KeyError, TypeError):
            return None
