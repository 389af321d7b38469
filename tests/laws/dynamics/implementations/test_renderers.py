"""All ways to run an algorithm give the same numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from steelyard.errors import ModelError
from steelyard.kernels import ALGORITHMS, customised, program
from tests.laws.dynamics import running
from tests.laws.dynamics.law import NEED_MASS, close, law, runs
from tests.zoo import case, features


def bound(algorithm: str) -> float:
    """Rounding grows where a result is divided by the mass matrix."""
    return 1e-9 if algorithm in NEED_MASS else 1e-11


@law(*ALGORITHMS)
def test_renderers_agree(name: str, tmp_path: Path) -> None:
    """LLVM, C and NumPy source of the same program, in a batch and sample by sample."""
    x = case(name)
    results = {
        a: program(x.robot.tree, a, frame=running.frame_of(x, a))
        for a in ALGORITHMS
        if runs(a, name)
    }
    library = running.c_library(list(results.values()), tmp_path)
    for algorithm, traced in results.items():
        arrays = running.inputs(x, algorithm)
        expected = running.by_kernel(x, algorithm, arrays)
        single = running.by_kernel(x, algorithm, [a[0] for a in arrays])
        by_c, by_numpy = (
            running.by_c(library, traced, arrays),
            running.by_numpy_source(traced, arrays),
        )
        for k, values in enumerate(expected):
            close(by_c[k], values, bound(algorithm), f"{algorithm} in C")
            close(by_numpy[k], values, bound(algorithm), f"{algorithm} in NumPy source")
            np.testing.assert_array_equal(single[k], values[0], f"{algorithm} of one sample")


@law(*ALGORITHMS)
def test_every_way_on_every_tree_agrees(name: str) -> None:
    """The algorithm as it is written, on arrays and on floats.

    On the robot's tree and on the customised one, which has fewer constants.
    """
    x = case(name)
    for algorithm in (a for a in ALGORITHMS if runs(a, name)):
        arrays, frame = running.inputs(x, algorithm), running.frame_of(x, algorithm)
        expected = running.by_kernel(x, algorithm, arrays)
        level = not ALGORITHMS[algorithm].base_frame
        trees = {"the tree": x.robot.tree, "the customised tree": customised(x.robot.tree, level)}
        for where, tree in (
            trees.items() if ALGORITHMS[algorithm].joint_space else [("the tree", x.robot.tree)]
        ):
            for method in ALGORITHMS[algorithm].implementations:
                function = method.function
                try:
                    result = running.by_way(tree, algorithm, function, arrays, frame)
                except ModelError:
                    assert method.needs_uncoupled
                    assert {"mimic", "rotor on moving link"} & set(features(name))
                    continue
                for a, b in zip(result, expected, strict=True):
                    close(a, b, bound(algorithm), f"{algorithm} by {function.__name__} on {where}")
        for values, reference in zip(
            running.by_floats(x.robot.tree, algorithm, arrays, frame), expected, strict=False
        ):
            close(values, reference[0], bound(algorithm), f"{algorithm} on floats")
