"""Every algorithm of the table run in every way there is.

Kernel, plain Python, NumPy arrays, NumPy source, C.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generated_c import compile_c
from steelyard.compiler.ir.program import Operand, Program, trace
from steelyard.compiler.render import c99, numpy_source
from steelyard.kernels import ALGORITHMS, kernel
from steelyard.mechanism.tree import Tree
from tests.interpret import run
from tests.zoo import Case

Array = np.ndarray
FRAMED = tuple(name for name, algorithm in ALGORITHMS.items() if algorithm.needs_frame)


def frame_of(x: Case, algorithm: str) -> str | None:
    """The frame that is asked about.

    The last one, which on most robots of the zoo is fixed beside its body's origin.
    """
    return x.robot.frame_names[-1] if algorithm in FRAMED else None


def inputs(x: Case, algorithm: str) -> list[Array]:
    """What an algorithm takes, batch dimension first."""
    wrench = np.random.default_rng(7).normal(size=(len(x.q), len(x.robot.tree.bodies), 6)) * 5
    known = {
        "q": x.q,
        "qd": x.qd,
        "qdd": x.qdd,
        "tau": x.tau,
        "qrd": x.qd[::-1] * 0.7,
        "qrdd": x.qdd[::-1] * 1.3,
        "wrench": wrench,
        "z": np.tanh(x.qdd),
        "dq": 0.03 * x.q,
        "w": x.q[:, [0] * 3] * [0.8, -0.5, 0.3],
    }
    return [known[name] for name in ALGORITHMS[algorithm].inputs]


def by_kernel(x: Case, algorithm: str, arrays: Sequence[Array]) -> list[Array]:
    """One array per output."""
    result = kernel(x.robot.tree, algorithm, frame=frame_of(x, algorithm))(*arrays)
    return list(result) if isinstance(result, tuple) else [result]


def by_way(
    tree: Tree,
    algorithm: str,
    method: Callable[..., Any],
    arrays: Sequence[Array],
    frame: str | None,
) -> list[Array]:
    """A way on NumPy arrays of samples.

    One that is made on the graph is traced and its program is run node by node.
    """
    operands = ALGORITHMS[algorithm].operands(tree, [])
    columns = [np.moveaxis(a.reshape(len(a), -1), 0, -1) for a in arrays]
    extra = [] if frame is None else [frame]
    if on_graph(method):
        flat = run(trace(algorithm, lambda *nodes: method(tree, *nodes), *operands), columns)
    else:
        shaped = [list(c.reshape(*o.shape, -1)) for c, o in zip(columns, operands[0], strict=True)]
        flat = split(method(tree, *shaped, *extra), operands[1])
    samples = len(arrays[0])
    return [stacked(values, samples, o.shape) for values, o in zip(flat, operands[1], strict=True)]


def split(result: Any, outputs: Sequence[Operand]) -> list[list[Any]]:
    """The scalars of each output."""
    rest = iter(list(_leaves(result)))
    return [[next(rest) for _ in range(output.size)] for output in outputs]


def by_floats(
    tree: Tree, algorithm: str, arrays: Sequence[Array], frame: str | None
) -> list[Array]:
    """The first way on Python floats, for the first sample.

    Nothing where it is made on the graph.
    """
    reference = ALGORITHMS[algorithm].reference
    if on_graph(reference):
        return []
    outputs = ALGORITHMS[algorithm].operands(tree, [])[1]
    result = reference(tree, *(a[0].tolist() for a in arrays), *([] if frame is None else [frame]))
    return [
        np.array(values, dtype=float).reshape(o.shape)
        for values, o in zip(split(result, outputs), outputs, strict=True)
    ]


def on_graph(method: Callable[..., Any]) -> bool:
    """Whether a way needs expression nodes, as all of `kernels.graph_derivatives` do."""
    return method.__module__ == "steelyard.kernels.graph_derivatives"


def stacked(values: Sequence[Any], samples: int, shape: tuple[int, ...]) -> Array:
    """Scalars that are arrays of samples, or constants, as (samples, *shape)."""
    columns = [np.broadcast_to(np.asarray(v, dtype=float), samples) for v in values]
    return np.stack(columns, axis=-1).reshape(samples, *shape)


def _leaves(nested: Any) -> Any:
    if isinstance(nested, list | tuple):
        for x in nested:
            yield from _leaves(x)
    else:
        yield nested


def by_numpy_source(program: Program, arrays: Sequence[Array]) -> list[Array]:
    result = numpy_source.function(program)(*arrays)
    return list(result) if isinstance(result, tuple) else [result]


def c_library(programs: Sequence[Program], folder: Path) -> ctypes.CDLL:
    """All programs in one C file, compiled without optimisation."""
    source, target = folder / "programs.c", folder / "programs.so"
    source.write_text(
        "#include <math.h>\n"
        + "\n".join(f"{c99.declaration(p)};\n{c99.render(p)}" for p in programs)
    )
    compile_c(
        [source], target, ("-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O0")
    )
    return ctypes.CDLL(str(target))


def by_c(library: ctypes.CDLL, program: Program, arrays: Sequence[Array]) -> list[Array]:
    """One call per sample, as a controller would."""
    results = [np.empty((len(arrays[0]), *o.shape)) for o in program.outputs]
    pointer = np.ctypeslib.ndpointer(dtype=float, flags="C_CONTIGUOUS")
    function = getattr(library, program.name)
    function.restype, function.argtypes = None, [pointer] * (len(arrays) + len(results))
    for k in range(len(arrays[0])):
        out = [np.empty(max(o.size, 1)) for o in program.outputs]
        function(*(np.ascontiguousarray(a[k]) for a in arrays), *out)
        for result, values in zip(results, out, strict=True):
            result[k] = values.reshape(result.shape[1:])
    return results
