"""Distances between capsules: a formula over scalars, compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, sqrt, where
from ...algebra.vector import Vector
from ...compiler.ir.program import Operand, Program, trace
from ...kernels import kernel_of
from .clearance_thresholds import THRESHOLDS

Array = NDArray[np.float64]


class Distances(NamedTuple):
    """Distances (N, k) [m] of k pairs, negative where they overlap.

    Unit normals from one to the other and nearest points, (N, k, 3).
    """

    distance: Array
    normal: Array
    on_a: Array
    on_b: Array


def capsule_distances(A: Array, B: Array, ra: Array, rb: Array) -> Distances:
    """Compute distances between capsules with ends A and B (N, k, 2, 3) and radii (k,)."""
    return Distances(*kernel_of(_program)(A, B, ra, rb))


def capsule_pair(A: Any, B: Any, ra: Scalar, rb: Scalar) -> tuple[Scalar, Vector, Vector, Vector]:
    """Compute distance [m], unit normal and nearest points [m] of two capsules.

    Each has two ends and a radius [m].

    The normal is any unit vector where the axes of the capsules meet.
    The nearest points of two segments: Ericson, Real-Time Collision Detection, 2005, section 5.1.9.
    """
    a0, b0 = v3.vector(A[0]), v3.vector(B[0])
    d1, d2, r = v3.sub(v3.vector(A[1]), a0), v3.sub(v3.vector(B[1]), b0), v3.sub(a0, b0)
    a, e = (_at_least(v3.dot(d, d), THRESHOLDS.point_length**2) for d in (d1, d2))
    b, c, f = v3.dot(d1, d2), v3.dot(d1, r), v3.dot(d2, r)
    s = _share((b * f - c * e) / _at_least(a * e - b * b, 1e-9 * a * e))
    t = _share((b * s + f) / e)
    s = _share((b * t - c) / a)
    p1, p2 = v3.add(a0, v3.scale(s, d1)), v3.add(b0, v3.scale(t, d2))
    gap = v3.sub(p2, p1)
    length = sqrt(v3.dot(gap, gap))
    normal = v3.vector(
        [
            where(
                length > THRESHOLDS.point_length,
                x / _at_least(length, THRESHOLDS.point_length),
                any_,
            )
            for x, any_ in zip(gap, (1.0, 0.0, 0.0), strict=True)
        ]
    )
    return (
        length - ra - rb,
        normal,
        v3.add(p1, v3.scale(ra, normal)),
        v3.sub(p2, v3.scale(rb, normal)),
    )


def _at_least(x: Scalar, least: Scalar) -> Scalar:
    return where(x > least, x, least)


def _share(x: Scalar) -> Scalar:
    return where(x > 1.0, 1.0, _at_least(x, 0.0))


def _program() -> Program:
    inputs = [
        Operand("A", (2, 3), "m"),
        Operand("B", (2, 3), "m"),
        Operand("ra", (), "m"),
        Operand("rb", (), "m"),
    ]
    outputs = [
        Operand("distance", (), "m"),
        *(Operand(name, (3,), "m") for name in ("normal", "on_a", "on_b")),
    ]
    return trace("capsule_pair", capsule_pair, inputs, outputs)
