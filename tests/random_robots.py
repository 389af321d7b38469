"""Random trees with turning and sliding joints, branches, any axes and placements, ties, rotors and
friction, and states to put them in.
"""

from __future__ import annotations

import numpy as np

from steelyard.algebra.spatial import Inertia, Pose
from steelyard.algebra.vector import Symmetric
from steelyard.mechanism.joint_terms import JOINT_TERMS, Terms
from steelyard.mechanism.tree import Body, Frame, Tree

PRINCIPAL = [
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, 0.0, 1.0),
    (-1.0, 0.0, 0.0),
    (0.0, -1.0, 0.0),
    (0.0, 0.0, -1.0),
]
BATCH = 4


def random_tree(
    rng: np.random.Generator,
    bodies: int = 7,
    *,
    tied: bool = False,
    joint_terms: bool = True,
    chain: bool = False,
) -> Tree:
    """A tree of `bodies` bodies; with `tied`, some share a coordinate."""
    coordinate = coordinates_of(rng, bodies, tied)
    results = tuple(random_body(rng, i, coordinate[i], tied, chain) for i in range(bodies))
    n = max(coordinate) + 1
    frames = {f"tool{i}": Frame(i, random_pose(rng)) for i in range(-1, bodies)}
    terms = tuple(random_terms(rng) if joint_terms else Terms() for _ in range(n))
    gravity = tuple(float(x) for x in rng.normal(size=3) * 5)
    return Tree(results, tuple(f"joint{k}" for k in range(n)), gravity, terms, frames)


def coordinates_of(rng: np.random.Generator, bodies: int, tied: bool) -> list[int]:
    result, n = [], 0
    for i in range(bodies):
        if tied and n > 1 and (rng.random() < 0.4 or i == bodies - 1):
            result.append(int(rng.integers(n)))
        else:
            result.append(n)
            n += 1
    return result


def random_body(rng: np.random.Generator, i: int, coordinate: int, tied: bool, chain: bool) -> Body:
    principal = rng.random() < 0.5
    axis = (
        PRINCIPAL[rng.integers(6)]
        if principal
        else tuple(float(x) for x in unit(rng.normal(size=3)))
    )
    tie = (
        {"multiplier": float(rng.uniform(-2, 2)), "offset": float(rng.normal())}
        if tied and rng.random() < 0.5
        else {}
    )
    return Body(
        name=f"link{i}",
        joint=f"joint{i}",
        parent=i - 1 if chain or i == 0 or rng.random() < 0.6 else int(rng.integers(-1, i)),
        kind="prismatic" if rng.random() < 0.3 else "revolute",
        placement=random_pose(rng, quarter_turns=principal),
        axis=axis,
        inertia=random_inertia(rng),
        coordinate=coordinate,
        **tie,
    )


def random_inertia(rng: np.random.Generator) -> Inertia:
    """The inertia of some point masses: one that a body can have."""
    points, masses = rng.normal(size=(6, 3)) * 0.3, rng.uniform(0.1, 2.0, size=6)
    second = np.einsum("k,ki,kj->ij", masses, points, points)
    full = np.trace(second) * np.eye(3) - second
    entries = [float(full[i, j]) for i in range(3) for j in range(i, 3)]
    return Inertia(
        float(masses.sum()), tuple(float(x) for x in masses @ points), Symmetric(*entries)
    )


def random_pose(rng: np.random.Generator, quarter_turns: bool = False) -> Pose:
    if quarter_turns:
        R = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], size=3)
        R[0] *= np.linalg.det(R)
        p = np.where(rng.random(3) < 0.5, 0.0, rng.normal(size=3))
    else:
        x = unit(rng.normal(size=4))
        R, p = quaternion_matrix(x), rng.normal(size=3)
    return Pose(tuple(tuple(float(x) for x in row) for row in R), tuple(float(x) for x in p))


def random_terms(rng: np.random.Generator) -> Terms:
    """Some of the linear joint terms that need no shape."""
    rows = [row for row in JOINT_TERMS if row.linear and not row.needs]
    return Terms.of({row.key: float(rng.uniform(0.1, 1.0)) for row in rows if rng.random() < 0.5})


def random_state(
    rng: np.random.Generator, tree: Tree, batch: int = BATCH
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, qd, qdd as (n, batch) arrays: a list of n scalars that are arrays of samples."""
    q, qd, qdd = rng.normal(size=(3, tree.n, batch))
    return q, qd, qdd


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x)


def quaternion_matrix(x: np.ndarray) -> np.ndarray:
    w, v = x[0], x[1:]
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * K + 2 * K @ K


def array(nested: object) -> np.ndarray:
    """Nested lists of scalars as one array (..., batch).

    Zeros of the structure are spread over the batch.
    """
    leaves = list(_leaves(nested))
    shape = np.broadcast_shapes(*(leaf.shape for leaf in leaves))
    return np.stack([np.broadcast_to(leaf, shape) for leaf in leaves]).reshape(
        _extent(nested) + shape
    )


def samples(nested: object, batch: int = BATCH) -> np.ndarray:
    """As `array`, with the batch axis there even where nothing depends on the sample."""
    values = array(nested)
    deep = len(_extent(nested)) < values.ndim
    return values if deep else np.broadcast_to(values[..., None], (*values.shape, batch))


def close(a: object, b: object, tolerance: float = 1e-11) -> None:
    """Equal to within rounding beside the largest entry.

    A side that does not depend on the sample holds for all.
    """
    x, y = array(a), array(b)
    x, y = (x[..., None] if x.ndim < y.ndim else x), (y[..., None] if y.ndim < x.ndim else y)
    error, size = np.abs(x - y).max(initial=0.0), max(np.abs(y).max(initial=0.0), 1e-3)
    assert x.shape[:-1] == y.shape[:-1]
    assert error <= tolerance * size, f"differs by {error:.3g} beside {size:.3g}"


def _leaves(nested: object):
    if isinstance(nested, list | tuple):
        for x in nested:
            yield from _leaves(x)
    else:
        yield np.asarray(nested)


def _extent(nested: object) -> tuple[int, ...]:
    return (len(nested), *_extent(nested[0])) if isinstance(nested, list | tuple) else ()


def complex_step(function, *motion: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """d/dt of function(x, ...) along (x, dx/dt) pairs, exact to rounding: Im f(x + ih dx) / h."""
    h = 1e-30
    return np.imag(samples(function(*(list(x + 1j * h * xd) for x, xd in motion)))) / h
