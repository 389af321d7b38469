"""A NumPy generalised ufunc around a compiled loop: broadcasting, any strides, `out=`, casting and the released GIL are NumPy's.

The constructor is reached through the capsule `_UFUNC_API` that NumPy publishes for C extensions (NumPy C API reference, "UFunc API").
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from .program import Shape

_FROM_SIGNATURE = 31  # index of PyUFunc_FromFuncAndDataAndSignature in the table
_NONE = -1  # PyUFunc_None: no identity
_DOUBLE = np.dtype(np.float64).num


@cache
def _constructor() -> Any:
    from numpy._core import _multiarray_umath

    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(api.PyCapsule_GetPointer(_multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        ctypes.c_void_p,  # loops
        ctypes.c_void_p,  # data
        ctypes.c_char_p,  # types
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_char_p,  # name
        ctypes.c_char_p,  # doc
        ctypes.c_int,
        ctypes.c_char_p,  # signature
    )
    return prototype(table[_FROM_SIGNATURE])


def signature(inputs: Sequence[Shape], outputs: Sequence[Shape]) -> str:
    """'(6),(6)->(6,6)' of frozen core dimensions."""

    def write(shapes: Sequence[Shape]) -> str:
        return ",".join(f"({','.join(map(str, shape))})" for shape in shapes)

    return f"{write(inputs)}->{write(outputs)}"


def gufunc(address: int, data: int, inputs: Sequence[Shape], outputs: Sequence[Shape], name: str, doc: str) -> tuple[np.ufunc, Any]:
    """The ufunc, and the memory that must live as long as it does."""
    loops = (ctypes.c_void_p * 1)(address)
    datas = (ctypes.c_void_p * 1)(data)
    types = bytes([_DOUBLE] * (len(inputs) + len(outputs)))
    texts = name.encode(), doc.encode(), signature(inputs, outputs).encode()
    ufunc = _constructor()(
        ctypes.addressof(loops), ctypes.addressof(datas), types, 1, len(inputs), len(outputs), _NONE, texts[0], texts[1], 0, texts[2]
    )
    return ufunc, (loops, datas, types, texts)
