"""Algorithms made into kernels: each is traced on a robot's tree, in the cheapest of the forms that give the same numbers, and compiled.

An algorithm in joint space does not depend on the frames that links are described in, nor on how inertia is shared between the two sides of
a joint that cannot tell: such an algorithm is traced on the tree as it is and on the customised tree, and the shorter program is kept.
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
from ..compiler.progress import TRACED, compiling, done
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

__all__ = ["ALGORITHMS", "Algorithm", "LOOP_ALGORITHMS", "cost", "customised", "interpreter", "kernel", "kernel_of", "program"]


def customised(tree: Tree, level: bool = True) -> Tree:
    """The tree whose joint-space dynamics are the same in the fewest constants; if not `level`, with its base's frame.

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
    """The shortest program for an algorithm on a tree.

    With `wrench`, names of frames, it also takes a wrench at each of them, (frames, 6); no names stand for the bodies' own frames. With
    `base` it takes the motion of the base, (9), and with `parameters` the vector pi in the place of the tree's own. `columns` restricts a
    matrix, such as a regressor, to some columns.
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
        inputs = [replace(each, shape=(len(wrench), 6)) if each.name == "wrench" else each for each in inputs]
    if columns is not None:
        outputs = [replace(output, shape=(*output.shape[:-1], len(columns))) for output in outputs]
    free = algorithm.joint_space and wrench is None and not parameters
    level = not base and not algorithm.base_frame
    tried = [(form, way) for form in (forms(tree, level) if free else (tree,)) for way in algorithm.ways_on(tree, base)]
    made = []
    for i, (form, way) in enumerate(tried):
        done(TRACED * i / len(tried))
        made.append(trace(name, _call(way, form, wrench, base, parameters, frame, columns), inputs, outputs))
    return min(made, key=cost)


def forms(tree: Tree, level: bool) -> tuple[Tree, ...]:
    """The trees that algorithms in joint space may run on, of which one is to be the cheapest."""
    made = customised(tree, level)
    return (made,) if tree.n > MANY else (tree, made)


def _call(
    way: Callable[..., Any],
    tree: Tree,
    wrench: Sequence[str] | None,
    base: bool,
    parameters: bool,
    frame: str | None,
    columns: Sequence[int] | None,
) -> Callable[..., Any]:
    def run(*arrays: Any) -> Any:
        rest = list(arrays)
        model = with_scalars(tree, rest.pop()) if parameters else tree
        model = moving(model, rest.pop()) if base else model
        extra = {}
        if wrench is not None:
            given = rest.pop()
            extra["wrench"] = wrenches_on_bodies(tree, rest[0], given, wrench) if wrench else given
        made = way(model, *rest, *([] if frame is None else [frame]), **extra)
        return made if columns is None else [[row[c] for c in columns] for row in made]

    return run


def moving(tree: Tree, base: Sequence[Any]) -> Tree:
    """The tree on a base whose motion is nine scalars: proper acceleration, angular velocity, angular acceleration."""
    return replace(tree, moving=BaseMotion(vector(base[:3]), vector(base[3:6]), vector(base[6:])))


MANY = 16  # joints beyond which the customised tree is taken without tracing on the other


def cost(made: Program) -> int:
    """Vector instructions, roughly: a division weighs as much as eight operations, a sine and its cosine as much as thirty."""
    return made.operations + 7 * made.counts["div"] + 15 * (made.counts["sin"] + made.counts["cos"])


_ROOT = Path(__file__).parents[1]
_TRACING = tuple(_ROOT / folder for folder in ("algebra", "compiler", "dynamics", "kernels", "mechanism"))

_compiling = once_per_process(RLock)  # held while a kernel is made, so that no two threads make the same one
_kernels: dict[tuple[Any, ...], Kernel] = {}  # the oldest first
_MOST = 512  # kernels kept in memory; a robot also keeps the gufuncs that it has called


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
    """Return the kernel of an algorithm on a tree: from memory, from disk, or else traced and compiled.

    Its key is the content of all arguments, of the tree with every field.
    """
    key = tree.__content_digest__, name, wrench, base, parameters, frame, columns
    found = _kernels.get(key)
    if found is not None:
        return found

    def make() -> Program:
        return program(tree, name, wrench=wrench, base=base, parameters=parameters, frame=frame, columns=columns)

    return _make(key, name, make)


def interpreter(tree: Tree, name: str, frame: str | None = None) -> Interpreter:
    """An algorithm on NumPy arrays, node by node: traced, not compiled, and not kept."""
    return Interpreter(program(tree, name, frame=frame))


def kernel_of(trace_program: Callable[..., Program], *inputs: Any) -> Kernel:
    """Return the kernel of a program that is not in the table of algorithms.

    Parameters
    ----------
    trace_program : function of a module of this package. It has no closure, so that the program
        depends on its inputs and on the source code alone: the key is a digest of both.
    inputs : what it is called with. If `content_digest` cannot tell one of them from others, as a
        user's function, the program is traced anew and no kernel is kept.

    Returns
    -------
    The kernel, from memory, from disk, or else traced and compiled.
    """
    name = _name(trace_program)
    try:
        key = name, content_digest(inputs)
    except NoDigest:
        return Kernel(trace_program(*inputs))
    return _kernels.get(key) or _make(key, trace_program.__name__, lambda: trace_program(*inputs), _ROOT)


def _name(function: Callable[..., Any]) -> str:
    """Return the full name of a function; CallError for one that reads anything but its arguments."""
    module, name = getattr(function, "__module__", "") or "", getattr(function, "__qualname__", "<>")
    plain = isinstance(function, FunctionType) and function.__closure__ is None and not (function.__defaults__ or function.__kwdefaults__)
    if not plain or "<" in name or module.partition(".")[0] != _ROOT.name:
        raise CallError(f"kernel_of: {module}.{name} is not a function of a module of {_ROOT.name} without defaults and closure")
    return f"{module}.{name}"


def _make(key: tuple[Any, ...], label: str, trace_program: Callable[[], Program], *folders: Path) -> Kernel:
    with _compiling():
        if key not in _kernels:
            with compiling(label):
                _kernels[key] = Kernel.recalled(_recall_key(key, *folders), trace_program)
            if len(_kernels) > _MOST:
                del _kernels[next(iter(_kernels))]
        return _kernels[key]


def _recall_key(key: tuple[Any, ...], *folders: Path) -> str | None:
    """Return the key on disk: that in memory, with all code that may take part in tracing, and the machine."""
    version = sources(*(folders or (*_TRACING, *sorted(_ROOT.glob("*.py")))))
    return None if version is None else content_digest((version, platform.python_version(), np.__version__, machine(), key))
