"""Kernels as built-in functions of Python, for the fastest call with one sample.

The function checks its arrays itself; calls with other arguments go to the gufunc. It is created by
CPython's constructor of built-in functions from a pointer to compiled code (Python/C API reference,
"Common Object Structures", METH_FASTCALL).
"""

from __future__ import annotations

import ctypes
import struct
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from pathlib import Path
from pickle import PicklingError
from typing import Any

import numpy as np

from ..ir.program import Operand
from ..render.llvm.entry import DOUBLE, ITEMS, MOST, OPERAND, PAYLOAD, RANK, WORDS, render
from . import cache as disk
from . import jit
from .elf import Loaded, load_code, pack

# numbers of the first array below which a batch goes to the gufunc; with more, threads may be
# faster
SMALL = 512
# indices of PyArray_New, PyArray_Return and PyArray_Type in NumPy's table
_NEW_ARRAY, _SCALAR_OF, _ARRAY_TYPE = 93, 76, 2
_FAST_WITH_KEYWORDS = 0x80 | 0x02
# a flag of types, and the byte of a type at which tp_vectorcall_offset is
_HAS_VECTORCALL, _VECTORCALL_OFFSET = 1 << 11, 56
_OUT = sys.intern("out")


class _Self(tuple[Any, ...]):
    """Memory behind a built-in function, which Python keeps as the object to which it is bound.

    A built-in function is pickled as the attribute of this object that has its name. The memory
    belongs to this process, so that the last item is pickled in its place: a function and its
    arguments, which return an object with such an attribute.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        if self[-1] is None:
            raise PicklingError(
                "this compiled function belongs to nothing that can be pickled: pickle the robot,"
                " and ask it for the function"
            )
        return self[-1]


class _Definition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def single_call(
    address: int,
    data: int,
    inputs: Sequence[Operand],
    outputs: Sequence[Operand],
    gufunc: np.ufunc,
    otherwise: Any = None,
    called: tuple[str, str] | None = None,
    origin: tuple[Callable[..., Any], tuple[Any, ...]] | None = None,
) -> Callable[..., Any] | None:
    """Return the built-in function over the loop at an address, which its gufunc keeps in memory.

    None if it cannot be created. `otherwise` is called with arguments that are not one sample.
    Without it a small batch goes to the gufunc and other calls return NotImplemented. `called` is
    its name and text for `help`, by default the gufunc's. `origin` is pickled in its place: a
    function and its arguments, which return an object that has it as an attribute.
    """
    operands = (*inputs, *outputs)
    if (
        unsupported_reason()
        or len(operands) > MOST
        or max(len(each.shape) for each in operands) > RANK
    ):
        return None
    gufunc_call, otherwise_call = (
        _vectorcall(gufunc),
        (0 if otherwise is None else _vectorcall(otherwise)),
    )
    if gufunc_call is None or otherwise_call is None:
        return None
    loaded = _load_entry()
    words = _constants() | {
        "gufunc_call": gufunc_call,
        "otherwise_call": otherwise_call,
        "inputs": len(inputs),
        "outputs": len(outputs),
        "loop": address,
        "data": data,
        "gufunc": id(gufunc),
        "otherwise": 0 if otherwise is None else id(otherwise),
        "small": SMALL if otherwise is None else 0,
    }
    steps = [0] * len(operands) + [
        8 * prod(each.shape[k + 1 :]) for each in operands for k in range(len(each.shape))
    ]
    described = [
        x
        for each in operands
        for x in (len(each.shape), *each.shape, *[0] * (RANK - len(each.shape)), 8 * each.size)
    ]
    assert len(described) == OPERAND * len(operands)
    first = len(WORDS)
    words |= {"dimensions": first, "steps": first + 1, "operands": first + 1 + len(steps)}
    table = struct.pack(
        f"={first + 1 + len(steps) + len(described)}q",
        *(words[name] for name in WORDS),
        1,
        *steps,
        *described,
    )
    name, doc = called or (gufunc.__name__, gufunc.__doc__ or "")
    definition = _Definition(name.encode(), loaded.address, _FAST_WITH_KEYWORDS, doc.encode())
    return _constructor()(
        ctypes.addressof(definition),
        _Self((table, definition, loaded, gufunc, otherwise, origin)),
        None,
    )


def unsupported_reason() -> str:
    """Return why built-in functions of kernels are not supported here; empty if they are."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return (
            "this Python runs without a global lock, for which compiled single calls are not"
            " tested: use the robot's methods"
        )
    return (
        ""
        if _has_expected_layout()
        else (
            "this Python or NumPy lays its objects out in another way than the compiled entry"
            " expects"
        )
    )


@cache
def _has_expected_layout() -> bool:
    """Return whether objects have the memory layout that the entry expects, checked on a few."""
    if (
        sys.implementation.name != "cpython"
        or struct.calcsize("P") != 8
        or object.__basicsize__ != 16
    ):
        return False
    x, numbers, items = np.zeros((2, 3)), b"steelyard", ("a", "b")
    seen = list((ctypes.c_int64 * 9).from_address(id(x)))
    shape = list((ctypes.c_int64 * 2).from_address(seen[4]))
    tuple_items = list((ctypes.c_int64 * 2).from_address(id(items) + ITEMS))
    return (
        (seen[1], seen[2], seen[3] & 0xFFFFFFFF, shape, seen[7])
        == (id(np.ndarray), x.ctypes.data, 2, [2, 3], id(np.dtype(np.float64)))
        and seen[8] & 0xFFFFFFFF == x.flags.num
        and ctypes.string_at(id(numbers) + PAYLOAD, len(numbers)) == numbers
        and tuple_items == [id(each) for each in items]
        and ctypes.c_int64.from_address(id(items) + 16).value == 2
        and np.dtype(np.float64).num == DOUBLE
        and _array_table()[_ARRAY_TYPE] == id(np.ndarray)
    )


@cache
def _constants() -> dict[str, int]:
    """Return the words of the table that all kernels share."""
    table = _array_table()
    python = {"new_tuple": "PyTuple_New", "increase": "Py_IncRef", "decrease": "Py_DecRef"}
    addresses = {
        name: ctypes.cast(getattr(ctypes.pythonapi, symbol), ctypes.c_void_p).value or 0
        for name, symbol in python.items()
    }
    objects = {
        "array_type": np.ndarray,
        "float64": np.dtype(np.float64),
        "not_implemented": NotImplemented,
        "out": _OUT,
    }
    return (
        addresses
        | {name: id(each) for name, each in objects.items()}
        | {"new_array": table[_NEW_ARRAY], "scalar_of": table[_SCALAR_OF]}
    )


def _vectorcall(called: Any) -> int | None:
    """Return the address of the C function that calls an object (PEP 590), None if it has none.

    Python 3.10 exports no function that finds it, so it is read from the object: its type has the
    offset.
    """
    if not type(called).__flags__ & _HAS_VECTORCALL:
        return None
    offset = ctypes.c_ssize_t.from_address(id(type(called)) + _VECTORCALL_OFFSET).value
    return ctypes.c_void_p.from_address(id(called) + offset).value


@cache
def _array_table() -> Any:
    """Return NumPy's table of C functions."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
    ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(
        ctypes.pythonapi.PyCapsule_GetPointer(_multiarray_umath._ARRAY_API, None),
        ctypes.POINTER(ctypes.c_void_p),
    )


@cache
def _constructor() -> Any:
    """Return PyCFunction_NewEx."""
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
    )
    return prototype(("PyCFunction_NewEx", ctypes.pythonapi))


@cache
def _load_entry() -> Loaded:
    """Return the entry, from the disk cache or compiled."""
    version = disk.sources(Path(__file__).parents[1])
    name = None if version is None else disk.key("single_call", jit.machine(), version)
    code = None if name is None else disk.read_entry(name)
    if code is None:
        with jit.lock:
            code = pack(jit.compile_object(render()))
        if name is not None:
            disk.write(name, code)
    return load_code(code)
