"""NumPy generalised ufunc around a compiled loop.

NumPy supplies broadcasting, any strides, `out=`, casting and the released GIL. The constructor is
reached through the capsule `_UFUNC_API` that NumPy publishes for C extensions (NumPy C API
reference, "UFunc API").
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ...errors import CallError
from ..ir.program import Operand, Shape

_FROM_SIGNATURE = 31  # index of PyUFunc_FromFuncAndDataAndSignature in the table
_NONE = -1  # PyUFunc_None: no identity
_DOUBLE = np.dtype(np.float64).num
_immortal: list[Any] = []  # memory of ufuncs that cannot own it


class _Struct(ctypes.Structure):
    """PyUFuncObject up to `obj`, which the ufunc keeps alive (NumPy C API reference)."""

    _fields_ = (
        ("head", ctypes.c_byte * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("ntypes", ctypes.c_int),
        ("reserved1", ctypes.c_int),
        ("name", ctypes.c_void_p),
        ("types", ctypes.c_void_p),
        ("doc", ctypes.c_void_p),
        ("ptr", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
    )


@cache
def _constructor() -> Any:
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(
        api.PyCapsule_GetPointer(_multiarray_umath._UFUNC_API, None),
        ctypes.POINTER(ctypes.c_void_p),
    )
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    # loops, data, types, number of types, inputs, outputs, identity, name, documentation, unused,
    # signature
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        pointer,
        pointer,
        text,
        number,
        number,
        number,
        number,
        text,
        text,
        number,
        text,
    )
    return prototype(table[_FROM_SIGNATURE])


def signature(inputs: Sequence[Shape], outputs: Sequence[Shape]) -> str:
    """Return the signature of fixed core dimensions, such as '(6),(6)->(6,6)'."""

    def write(shapes: Sequence[Shape]) -> str:
        return ",".join(f"({','.join(map(str, shape))})" for shape in shapes)

    return f"{write(inputs)}->{write(outputs)}"


def gufunc(
    address: int,
    data: int,
    inputs: Sequence[Shape],
    outputs: Sequence[Shape],
    name: str,
    doc: str,
    owner: Any = None,
) -> np.ufunc:
    """Return the ufunc over the loop at an address.

    It keeps `owner` alive, which should keep the loop in memory.
    """
    loops = (ctypes.c_void_p * 1)(address)
    datas = (ctypes.c_void_p * 1)(data)
    types = bytes([_DOUBLE] * (len(inputs) + len(outputs)))
    texts = name.encode(), doc.encode(), signature(inputs, outputs).encode()
    ufunc = _constructor()(
        ctypes.addressof(loops),
        ctypes.addressof(datas),
        types,
        1,
        len(inputs),
        len(outputs),
        _NONE,
        texts[0],
        texts[1],
        0,
        texts[2],
    )
    _keep(ufunc, ctypes.addressof(loops), (loops, datas, types, texts, owner))
    return ufunc


def _keep(ufunc: np.ufunc, loops: int, memory: Any) -> None:
    """Keep memory alive as long as the ufunc, which may outlive its kernel."""
    inside = _Struct.from_address(id(ufunc))
    if (inside.nin, inside.nout, inside.ntypes, inside.functions, inside.obj) == (
        ufunc.nin,
        ufunc.nout,
        1,
        loops,
        None,
    ):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))
        inside.obj = id(memory)
    else:  # pragma: no cover  (a NumPy that lays its ufuncs out in another way)
        _immortal.append(memory)


def call_error(
    name: str,
    inputs: Sequence[Operand],
    outputs: Sequence[Operand],
    args: Sequence[Any],
    out: Any,
    error: Exception,
) -> CallError:
    """Return the error to raise in place of NumPy's: it names argument and expectation."""
    if len(args) != len(inputs):
        return CallError(
            f"{name} takes {len(inputs)} arrays ({', '.join(o.name for o in inputs)}), got"
            f" {len(args)}"
        )
    batches: list[tuple[str, Shape]] = []
    for value, operand in zip(args, inputs, strict=True):
        try:
            array = np.asarray(value)
        except (TypeError, ValueError):
            return CallError(
                f"{name}: {operand.name} is not an array of real numbers: {type(value).__name__}"
                f" {value!r:.60}"
            )
        if not np.can_cast(array.dtype, np.float64, "same_kind"):
            return CallError(
                f"{name}: {operand.name} is not an array of real numbers: {type(value).__name__} of"
                f" {array.dtype}"
            )
        edge = array.ndim - len(operand.shape)
        if edge < 0 or array.shape[edge:] != operand.shape:
            return CallError(
                f"{name}: {operand.name} has shape {array.shape}, expected {_expected(operand)}"
            )
        batches.append((operand.name, array.shape[:edge]))
    try:
        batch = np.broadcast_shapes(*(b for _, b in batches))
    except ValueError:
        listed = ", ".join(f"{operand} {b}" for operand, b in batches)
        return CallError(f"{name}: the batch shapes do not broadcast together: {listed}")
    if out is not None:
        expected = ", ".join(str(batch + o.shape) for o in outputs)
        return CallError(f"{name}: out= must be a float64 array of shape {expected}: {error}")
    return CallError(f"{name}: {error}")


def _expected(operand: Operand) -> str:
    """Return a shape such as '(..., 6)' for a message."""
    return (
        f"(..., {', '.join(map(str, operand.shape))})"
        if operand.shape
        else "a number or an array of numbers"
    )
