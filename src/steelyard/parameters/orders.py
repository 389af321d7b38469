"""The ten parameters of a link in the orders and sign conventions of other software."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algebra.spatial import steiner
from ..errors import CallError, suggest
from ..mechanism.parameter_vector import LINK_TERMS

Array = NDArray[np.float64]

OWN = tuple(LINK_TERMS)
PRODUCTS = ("Ixy", "Ixz", "Iyz")
ORDERS: dict[str, tuple[tuple[str, ...], float]] = {
    "steelyard": (OWN, 1.0),
    "lecture": (OWN, -1.0),
    "structure": (("m", "mcx", "mcy", "mcz", "Ixx", "Iyy", "Izz", "Iyz", "Ixz", "Ixy"), 1.0),
    "pinocchio": (("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"), 1.0),
}
"""Name -> the order, and the sign of products of inertia relative to the matrix entries."""
CONVENTIONS = (*ORDERS, "urdf")


def reorder(pi: ArrayLike, source: str, target: str = "steelyard") -> Array:
    """Convert ten parameters per link, (..., 10), from one convention to another.

    'steelyard': m, mc, Ixx Ixy Ixz Iyy Iyz Izz about the frame, entries of the matrix. 'lecture':
    the same order, products with the sign of the integral (minus the entry). 'structure': Ixx Iyy
    Izz Iyz Ixz Ixy. 'pinocchio': Ixx Ixy Iyy Ixz Iyz Izz. 'urdf': mass, centre of mass [m], then
    ixx ixy ixz iyy iyz izz about the centre of mass. Lectures "Newton-Euler formulation and dynamic
    parameter identification", slide 13, and "Structure and identification", the vector Pi.
    """
    pi = np.asarray(pi, float)
    if pi.ndim == 0 or pi.shape[-1] != 10:
        raise CallError(f"a link has ten parameters in the last dimension; found shape {pi.shape}")
    for name in (source, target):
        if name not in CONVENTIONS:
            raise CallError(
                f"no order of parameters is called {name!r}; {suggest(str(name), CONVENTIONS)}"
            )
    parameters = from_urdf(pi) if source == "urdf" else from_order(pi, source)
    return to_urdf(parameters) if target == "urdf" else to_order(parameters, target)


def from_order(pi: Array, name: str) -> Array:
    """Convert from the named order to ours."""
    order, sign = ORDERS[name]
    return (pi * _signs(order, sign))[..., [order.index(term) for term in OWN]]


def to_order(pi: Array, name: str) -> Array:
    """Convert from our order to the named one."""
    order, sign = ORDERS[name]
    return pi[..., [OWN.index(term) for term in order]] * _signs(order, sign)


def _signs(order: tuple[str, ...], sign: float) -> Array:
    return np.array([sign if term in PRODUCTS else 1.0 for term in order])


def from_urdf(pi: Array) -> Array:
    """Convert mass, centre of mass and inertia about it to parameters about the frame."""
    m, c = pi[..., :1], pi[..., 1:4]
    return np.concatenate([m, m * c, pi[..., 4:] + _about_frame(m, c)], axis=-1)


def urdf_jacobian(parameters: Array) -> Array:
    """Return d(mass, centre, inertia) / d(parameters) (10, 10) by central differences."""
    steps = 1e-6 * np.maximum(np.abs(parameters), 1e-3 * parameters[0])
    return np.column_stack(
        [
            (to_urdf(parameters + e) - to_urdf(parameters - e)) / (2 * h)
            for e, h in zip(np.diag(steps), steps, strict=True)
        ]
    )


def to_urdf(pi: Array) -> Array:
    """Convert parameters about the frame to mass, centre of mass and inertia about it.

    Raise CallError for a link without mass.
    """
    m = pi[..., :1]
    if np.any(m == 0):
        raise CallError(
            "a link without mass has no centre of mass: it cannot be written in the order 'urdf'"
        )
    c = pi[..., 1:4] / m
    return np.concatenate([m, c, pi[..., 4:] - _about_frame(m, c)], axis=-1)


def _about_frame(m: Array, c: Array) -> Array:
    """Return the change of the inertia when a mass m (..., 1) moves to c (..., 3), (..., 6)."""
    return np.stack(steiner(m[..., 0], (c[..., 0], c[..., 1], c[..., 2])), axis=-1)
