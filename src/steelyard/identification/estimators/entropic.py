"""The pull of a description by the entropic divergence itself, by Newton's method on cone programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..model.prior import IDENTITY, SVEC
from .cone import Program, solve

Array = NDArray[np.float64]
ROUNDS = 40
SMALL = 1e-7  # of a step, in the metric of the point where it starts


def entropic(program: Program, data: tuple[Array, Array], strength: Array, pi: Array) -> tuple[Array, str]:
    """argmin |A pi - b|^2 + sum_i strength_i 2 (tr S_i - log det S_i - 4), S_i = 1 for the body as described; from a consistent pi.

    Where a body is far from its description, log det grows without bound towards a body that cannot exist, as no quadratic form does.
    Each round solves the cone program of the second-order form at the present S: its metric is S, its centre 2 S - S^2. Steps are damped
    as self-concordance asks. Lee, Wensing and Park, IEEE T-RO 36 (2020), eq. (19); Boyd and Vandenberghe 2004, section 9.6.4.
    """
    inverse = [np.linalg.inv(T) for T in program.anchor.to_pi]
    word = "Solved"
    for _ in range(ROUNDS):
        rows, target = second_order(program, inverse, strength, pi)
        joined = replace(program, rows=np.vstack([data[0], rows]), target=np.concatenate([data[1], target]))
        found, word = solve(joined)
        size = step_size(inverse, pi, found)
        if size < SMALL:
            return found, word
        pi = pi + (found - pi) / (1.0 + size if size > 0.25 else 1.0)
    return pi, word


def second_order(program: Program, inverse: list[Array], strength: Array, pi: Array) -> tuple[Array, Array]:
    """Rows and target over pi of the divergence's second-order form at pi: |S_k^-1/2 (S - 2 S_k + S_k^2) S_k^-1/2|^2 for each body."""
    inner = 10 * len(inverse)
    rows, target = np.zeros((inner, len(pi))), np.zeros(inner)
    for i, to_x in enumerate(inverse):
        own = slice(10 * i, 10 * i + 10)
        S = matrix(to_x @ pi[own])
        half = inverse_root(S)
        scaling = np.array([[np.sum(E * (half @ F @ half)) for F in SVEC] for E in SVEC])
        weight = np.sqrt(strength[i])
        rows[own, own] = weight * scaling @ to_x
        target[own] = weight * (2.0 * IDENTITY - to_x @ pi[own])
    return rows, target


def step_size(inverse: list[Array], pi: Array, found: Array) -> float:
    """The largest |S_k^-1/2 dS S_k^-1/2| of any body."""
    sizes = []
    for i, to_x in enumerate(inverse):
        own = slice(10 * i, 10 * i + 10)
        half = inverse_root(matrix(to_x @ pi[own]))
        sizes.append(float(np.linalg.norm(half @ matrix(to_x @ (found[own] - pi[own])) @ half)))
    return max(sizes, default=0.0)


def matrix(x: Array) -> Array:
    """The symmetric 4x4 matrix of an svec."""
    return np.asarray(np.einsum("k,kij->ij", x, SVEC))


def inverse_root(S: Array) -> Array:
    """S^-1/2 of a positive definite matrix."""
    values, vectors = np.linalg.eigh(S)
    return np.asarray((vectors / np.sqrt(np.maximum(values, 1e-12))) @ vectors.T)
