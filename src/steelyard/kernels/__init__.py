"""Compiled kernels of the algorithms.

An algorithm is traced on a robot's tree with each implementation that suits the tree. The program
with the fewest operations is compiled.

An algorithm in joint space is independent of link frames and of the choice of base parameters. It
is traced on the tree and on the customised tree, which has fewer constants.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import RLock
from types import FunctionType
from typing import Any

import numpy as np

from ..algebra.vector import vector
from ..compiler.ir.program import Program, trace
from ..compiler.progress import TRACED, compiling, report_progress
from ..compiler.runtime.cache import sources
from ..compiler.runtime.interpreter import Interpreter
from ..compiler.runtime.jit import machine
from ..compiler.runtime.kernel import Kernel
from ..content_digest import NoDigest, content_digest
from ..dynamics.customise.base_inertias import with_base_inertias
from ..dynamics.customise.canonical_frames import in_canonical_frames
from ..dynamics.wrench import wrenches_on_bodies
from ..errors import CallError, require_joints
from ..fork import once_per_process
from ..mechanism.parameter_vector import with_scalars
from ..mechanism.tree import BaseMotion, Tree
from .algorithms import ALGORITHMS, NEEDS_MASS, Algorithm, require_mass
from .loops import LOOP_ALGORITHMS

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "LOOP_ALGORITHMS",
    "cost",
    "customised",
    "interpreter",
    "kernel",
    "kernel_of",
    "program",
]


def customised(tree: Tree, level: bool = True) -> Tree:
    """Return the tree with the same joint-space dynamics and the fewest constants.

    Canonical frames and base inertial parameters; if `level`, the base frame is rotated too.
    Khalil and Kleinfinger 1987.
    """
    return with_base_inertias(in_canonical_frames(tree, level))


def program(
    tree: Tree,
    name: str,
    *,
    wrench: Sequence[str] | None = None,
    base: bool = False,
    parameters: bool = False,
    frame: str | None = None,
    columns: Sequence[int] | None = None,
) -> Program:
    """Return the program of an algorithm on a tree with the fewest operations.

    Parameters
    ----------
    tree, name : the robot, and a key of ALGORITHMS or LOOP_ALGORITHMS
    wrench : frames with an external wrench as a further input, (frames, 6); an empty sequence
        stands for the frames of all bodies
    base : whether the motion of the base is an input, (9)
    parameters : whether the parameter vector pi is an input, in place of the tree's constants
    frame : frame of algorithms that need one
    columns : the columns of a matrix, such as a regressor, that are computed; all if None
    """
    algorithm = ALGORITHMS[name] if name in ALGORITHMS else LOOP_ALGORITHMS[name]
    require_joints(tree, name)
    always = "wrench" in algorithm.inputs
    wrench = () if wrench is None and always else wrench
    if name in NEEDS_MASS and not parameters:
        require_mass(tree, name)
    added = {"wrench": wrench is not None and not always, "base": base, "parameters": parameters}
    inputs, outputs = algorithm.operands(tree, [name for name, taken in added.items() if taken])
    if wrench:
        inputs = [
            replace(each, shape=(len(wrench), 6)) if each.name == "wrench" else each
            for each in inputs
        ]
    if columns is not None:
        outputs = [replace(output, shape=(*output.shape[:-1], len(columns))) for output in outputs]
    free = algorithm.joint_space and wrench is None and not parameters
    level = not base and not algorithm.base_frame
    variants = [
        (form, function)
        for form in (equivalent_trees(tree, level) if free else (tree,))
        for function in algorithm.functions(tree, base)
    ]
    programs = []
    for i, (form, function) in enumerate(variants):
        report_progress(TRACED * i / len(variants))
        run = _call(function, form, wrench, base, parameters, frame, columns)
        programs.append(trace(name, run, inputs, outputs))
    return min(programs, key=cost)


def equivalent_trees(tree: Tree, level: bool) -> tuple[Tree, ...]:
    """Return the trees on which an algorithm in joint space is traced."""
    canonical = customised(tree, level)
    return (canonical,) if tree.n > MANY else (tree, canonical)


def _call(
    function: Callable[..., Any],
    tree: Tree,
    wrench: Sequence[str] | None,
    base: bool,
    parameters: bool,
    frame: str | None,
    columns: Sequence[int] | None,
) -> Callable[..., Any]:
    """Return the function of arrays that calls an implementation on a tree with these inputs."""

    def run(*arrays: Any) -> Any:
        rest = list(arrays)
        model = with_scalars(tree, rest.pop()) if parameters else tree
        model = on_moving_base(model, rest.pop()) if base else model
        extra = {}
        if wrench is not None:
            wrenches = rest.pop()
            extra["wrench"] = (
                wrenches_on_bodies(tree, rest[0], wrenches, wrench) if wrench else wrenches
            )
        result = function(model, *rest, *([] if frame is None else [frame]), **extra)
        return result if columns is None else [[row[c] for c in columns] for row in result]

    return run


def on_moving_base(tree: Tree, base: Sequence[Any]) -> Tree:
    """Return the tree on a base that moves.

    `base` has nine scalars: proper acceleration, angular velocity, angular acceleration.
    """
    return replace(tree, moving=BaseMotion(vector(base[:3]), vector(base[3:6]), vector(base[6:])))


MANY = 16  # joints beyond which only the customised tree is traced


def cost(program: Program) -> int:
    """Return an estimate of the number of vector instructions of a program.

    A division counts as eight operations, a sine with its cosine as thirty.
    """
    counts = program.counts
    return program.operations + 7 * counts["div"] + 15 * (counts["sin"] + counts["cos"])


_ROOT = Path(__file__).parents[1]
_TRACED_FOLDERS = tuple(
    _ROOT / folder for folder in ("algebra", "compiler", "dynamics", "kernels", "mechanism")
)

# locked while a kernel is compiled, so that no two threads compile the same one
_compiling = once_per_process(RLock)
_kernels: dict[tuple[Any, ...], Kernel] = {}  # the oldest first
_MOST = 512  # kernels in memory; a robot also keeps the gufuncs that it has called


def kernel(
    tree: Tree,
    name: str,
    *,
    wrench: tuple[str, ...] | None = None,
    base: bool = False,
    parameters: bool = False,
    frame: str | None = None,
    columns: tuple[int, ...] | None = None,
) -> Kernel:
    """Return the kernel of an algorithm on a tree: from memory, from disk, or compiled now.

    The cache key is the content of all arguments, including every field of the tree.
    """
    key = tree.__content_digest__, name, wrench, base, parameters, frame, columns
    cached = _kernels.get(key)
    if cached is not None:
        return cached

    def trace_program() -> Program:
        return program(
            tree,
            name,
            wrench=wrench,
            base=base,
            parameters=parameters,
            frame=frame,
            columns=columns,
        )

    return _make(key, name, trace_program)


def interpreter(tree: Tree, name: str, frame: str | None = None) -> Interpreter:
    """Return an algorithm as an interpreter on NumPy arrays: traced, but not compiled or cached."""
    return Interpreter(program(tree, name, frame=frame))


def kernel_of(trace_program: Callable[..., Program], *inputs: Any) -> Kernel:
    """Return the kernel of a program that is not in the table of algorithms.

    Parameters
    ----------
    trace_program : function of a module of this package. It has no closure, so that the program
        depends on its inputs and on the source code alone: the key is a digest of both.
    inputs : its arguments. If one of them has no `content_digest`, such as a user's function, the
        program is traced at every call and the kernel is not cached.

    Returns
    -------
    The kernel: from memory, from disk, or compiled now.
    """
    name = _name(trace_program)
    try:
        key = name, content_digest(inputs)
    except NoDigest:
        return Kernel(trace_program(*inputs))
    return _kernels.get(key) or _make(
        key, trace_program.__name__, lambda: trace_program(*inputs), _ROOT
    )


def _name(function: Callable[..., Any]) -> str:
    """Return the full name of a function; CallError if it may read more than its arguments."""
    module, name = (
        getattr(function, "__module__", "") or "",
        getattr(function, "__qualname__", "<>"),
    )
    plain = (
        isinstance(function, FunctionType)
        and function.__closure__ is None
        and not (function.__defaults__ or function.__kwdefaults__)
    )
    if not plain or "<" in name or module.partition(".")[0] != _ROOT.name:
        raise CallError(
            f"kernel_of: {module}.{name} is not a function of a module of {_ROOT.name} without"
            " defaults and closure"
        )
    return f"{module}.{name}"


def _make(
    key: tuple[Any, ...], label: str, trace_program: Callable[[], Program], *folders: Path
) -> Kernel:
    """Return a kernel from the cache, or trace, compile and cache it."""
    with _compiling():
        if key not in _kernels:
            with compiling(label):
                _kernels[key] = Kernel.from_cache(_disk_key(key, *folders), trace_program)
            if len(_kernels) > _MOST:
                del _kernels[next(iter(_kernels))]
        return _kernels[key]


def _disk_key(key: tuple[Any, ...], *folders: Path) -> str | None:
    """Return the key on disk: the key in memory, the machine, and a digest of all tracing code."""
    version = sources(*(folders or (*_TRACED_FOLDERS, *sorted(_ROOT.glob("*.py")))))
    return (
        None
        if version is None
        else content_digest((version, platform.python_version(), np.__version__, machine(), key))
    )
