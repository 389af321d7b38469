"""The ten parameters of a link in the orders and signs that others write them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import CallError, choices

Array = NDArray[np.float64]

OWN = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
PRODUCTS = ("Ixy", "Ixz", "Iyz")
ORDERS: dict[str, tuple[tuple[str, ...], float]] = {
    "steelyard": (OWN, 1.0),
    "lecture": (OWN, -1.0),
    "structure": (("m", "mcx", "mcy", "mcz", "Ixx", "Iyy", "Izz", "Iyz", "Ixz", "Ixy"), 1.0),
    "pinocchio": (("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"), 1.0),
}
"""Name -> the order, and the sign of the products of inertia against the matrix's entries."""
NAMES = (*ORDERS, "urdf")


def reorder(pi: ArrayLike, source: str, target: str = "steelyard") -> Array:
    """Ten parameters per link, (..., 10), from one convention to another.

    'steelyard': m, mc, Ixx Ixy Ixz Iyy Iyz Izz about the frame, entries of the matrix. 'lecture': the same order, products with the sign
    of the integral (minus the entry). 'structure': Ixx Iyy Izz Iyz Ixz Ixy. 'pinocchio': Ixx Ixy Iyy Ixz Iyz Izz.
    'urdf': mass, centre of mass [m], then ixx ixy ixz iyy iyz izz about the centre of mass.
    Lectures "Newton-Euler formulation and dynamic parameter identification", slide 13, and "Structure and identification", the vector Pi.
    """
    pi = np.asarray(pi, float)
    if pi.ndim == 0 or pi.shape[-1] != 10:
        raise CallError(f"a link has ten parameters in the last dimension; found shape {pi.shape}")
    for name in (source, target):
        if name not in NAMES:
            raise CallError(f"no order of parameters is called {name!r}; {choices(str(name), NAMES)}")
    own = from_urdf(pi) if source == "urdf" else permuted(pi, source, inward=True)
    return to_urdf(own) if target == "urdf" else permuted(own, target, inward=False)


def permuted(pi: Array, name: str, inward: bool) -> Array:
    """pi from the named order to ours (inward) or the other way."""
    order, sign = ORDERS[name]
    signs = np.array([sign if term in PRODUCTS else 1.0 for term in order])
    index = [order.index(term) for term in OWN]
    if inward:
        return (pi * signs)[..., index]
    return pi[..., [OWN.index(term) for term in order]] * signs


def from_urdf(pi: Array) -> Array:
    """Mass, centre and central inertia as parameters about the frame."""
    m, c = pi[..., :1], pi[..., 1:4]
    return np.concatenate([m, m * c, pi[..., 4:] + steiner(m, c)], axis=-1)


def to_urdf(pi: Array) -> Array:
    """Parameters about the frame as mass, centre and central inertia; a body without mass has no centre."""
    m = pi[..., :1]
    if np.any(m == 0):
        raise CallError("a link without mass has no centre of mass: it cannot be written in the order 'urdf'")
    c = pi[..., 1:4] / m
    return np.concatenate([m, c, pi[..., 4:] - steiner(m, c)], axis=-1)


def steiner(m: Array, c: Array) -> Array:
    """m (c.c 1 - c c^T) as its six entries: the parallel axes theorem."""
    x, y, z = c[..., 0], c[..., 1], c[..., 2]
    six = [y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y]
    return m * np.stack(six, axis=-1)
