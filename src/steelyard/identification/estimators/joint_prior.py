"""Prior of the joint terms.

Standard deviations of friction, rotor inertias and offsets around the description.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..model.accumulator import Accumulator
from ..model.linear_model import Model
from ..model.prior import body_prior
from .estimator_thresholds import THRESHOLDS
from .posterior import Coordinates, coordinates, posterior_of, projected

Array = NDArray[np.float64]


def vague_precision(model: Model, total: Accumulator, where: Coordinates) -> Array:
    """Return the prior precision of each joint term, (k - inner,).

    The prior is so wide that a single term may produce all of a joint's torque.

    The standard deviation of a term is |tau_j| / |column| over the joints that it acts on; of a
    joint that hardly moved, |tau_j| over the column of a slow motion, so that noise at rest is not
    mistaken for friction. A term whose column is zero stays as described.
    """
    to_terms = model.base.matrix @ where.matrix[:, where.inner :]
    columns = np.array(
        [np.sum((total.rows(j)[:, :-1] @ to_terms) ** 2, axis=0) for j in range(total.n)]
    )
    torque = np.sum(np.where(columns > 0, total.torque_squares()[:, None], 0.0), axis=0)
    squares = columns.sum(axis=0)
    dead = (squares <= 1e-24 * squares.max(initial=0.0)) | (
        torque <= 1e-24 * total.torque_squares().max(initial=0.0)
    )
    least = slow_motion(model) ** 2 * max(total.counts, default=0.0)
    return np.asarray(
        np.where(
            dead,
            max(float(squares.max(initial=0.0)), 1.0),
            np.maximum(squares, least) / np.maximum(torque, 1e-300),
        )
    )


def slow_motion(model: Model) -> Array:
    """Return the factor of each free joint term in a slow motion, (k - inner,).

    Speed, acceleration, or 1 for dry friction and offsets.
    """
    limits = {
        name: limit.velocity if np.isfinite(limit.velocity) and limit.velocity > 0 else 1.0
        for name, limit in zip(model.robot.joint_names, model.robot.tree.limits, strict=False)
    }
    factors = {
        "Ia": THRESHOLDS.slow_speed,
        "Fv": THRESHOLDS.slow_speed,
        "Fc": 1.0,
        "F0": 1.0,
        "Fn": 1.0,
        "Fs": 1.0,
    }
    speeds = {"Ia", "Fv"}
    return np.array(
        [
            factors.get(symbol, 0.0) * (limits.get(joint, 1.0) if symbol in speeds else 1.0)
            for joint, symbol in (name.rpartition(".")[::2] for _, name in free_terms(model))
        ]
    )


def free_terms(model: Model) -> list[tuple[int, str]]:
    """Return index and label of the free joint terms, in the order of the coordinates."""
    inner = 10 * len(model.robot.tree.bodies)
    return [(i, model.names[i]) for i in model.free if i >= inner]


def choose_joint_precision(
    model: Model, triangle: Array, vague: Array, usual: float, loose: float
) -> Array:
    """Return the prior precision of each joint term, (k - inner,), by empirical Bayes.

    Offsets of all joints may be a certain part of each joint's torque; rotor inertias that are
    described, and friction that is, may be off by a certain part of that, or by any. Of each kind
    the standard deviation with the largest evidence is taken, with links as described at the weight
    `usual`, or as heavy as the torque needs at the weight `loose`, whichever explains the samples
    better. MacKay, "Bayesian non-linear modelling for the prediction competition", ASHRAE
    Transactions 100 (1994), p. 1053 (automatic relevance determination).
    """
    everybody = range(len(model.robot.tree.bodies))
    settings = []
    for aside, weight in (((), usual), (everybody, loose)):
        where = coordinates(model, body_prior(model, aside))
        settings.append(
            (where, *projected(model, triangle, where), np.full(len(everybody), weight))
        )

    def evidence(precision: Array) -> float:
        return max(posterior_of(*setting, precision).log_evidence for setting in settings)

    for options in candidates(model, vague):
        vague = max((np.maximum(vague, option) for option in options), key=evidence)
    return vague


def candidates(model: Model, vague: Array) -> Iterator[list[Array]]:
    """Yield candidate precisions (k - inner,) for each kind of terms, the loosest first.

    Terms of other kinds have precision zero.
    """
    symbols = np.array([name.rpartition(".")[2] for _, name in free_terms(model)])
    described = np.abs([model.start[i] for i, _ in free_terms(model)])
    if np.any(offset := symbols == "F0"):
        yield [np.where(offset, vague / part**2, 0.0) for part in THRESHOLDS.offset_spreads]
    for kind in (symbols == "Ia", (symbols != "Ia") & ~offset):
        if np.any(known := kind & (described > 0)):
            yield [
                np.where(known, 1.0 / (part * np.where(known, described, 1.0)) ** 2, 0.0)
                for part in THRESHOLDS.described_spreads
            ]
