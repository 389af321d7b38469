"""Shapes of friction by variable projection.

Width of the Coulomb step, Stribeck velocity and presliding distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...mechanism.joint_terms import BY_KEY, JointState
from ...mechanism.tree import TermUse
from ..estimators.least_squares import weighted
from ..model.friction_memory import states_by_distance
from ..model.linear_model import Model
from ..model.problem import Problem
from ..samples.samples import Samples
from .nuisance_thresholds import THRESHOLDS

Array = NDArray[np.float64]
CANDIDATES = {  # [rad/s|m/s, rad|m]; 0 stands for no shape at all, from which a value must win
    "width": (0.0, *np.geomspace(*BY_KEY["width"].between, THRESHOLDS.width_candidates).tolist()),
    "stribeck": tuple(
        np.geomspace(*BY_KEY["stribeck"].between, THRESHOLDS.stribeck_candidates).tolist()
    ),
    "distance": tuple(
        np.geomspace(*BY_KEY["distance"].between, THRESHOLDS.distance_candidates).tolist()
    ),
}


def estimate_friction_shape(
    model: Model, samples: tuple[Samples, ...], width: bool, joints: Sequence[int] | None = None
) -> Model:
    """Estimate Stribeck velocities, presliding distances and, if `width`, widths of Coulomb steps.

    Of all joints, or of those named by number.
    """
    further = any(any(model.shape(key)) for key in ("stribeck", "distance"))
    for _ in range(2 if width and further else 1):
        model = estimate_shape(model, samples, "distance", 2, joints)
        model = estimate_shape(model, samples, "stribeck", 2, joints)
        model = estimate_shape(model, samples, "width", 3, joints) if width else model
    return model


def estimate_shape(
    model: Model,
    samples: tuple[Samples, ...],
    key: str,
    rounds: int = 3,
    joints: Sequence[int] | None = None,
) -> Model:
    """Return the model with the value of a shape, at each joint, that has the least residual.

    The linear friction parameters of the joint are solved for at each candidate. Joints without a
    free term of that shape stay. Variable projection: Golub and Pereyra, SIAM J. Numer. Anal. 10
    (1973), p. 413.
    """
    groups = {
        j: group
        for j in (range(model.n) if joints is None else joints)
        if (group := friction_columns(model, j, key))
    }
    if not groups:
        return model
    for _ in range(rounds):
        trial = thinned_problem(model, samples)
        base, _ = weighted(trial.total, trial.prior, 2)
        values = list(model.shape(key))
        for j, group in groups.items():
            values[j] = best_value(trial, samples, base, j, group, key)
        if tuple(values) == model.shape(key):
            break
        model = model.with_shape(key, values)
    return model


def friction_columns(model: Model, joint: int, key: str) -> dict[int, TermUse]:
    """Return the base columns of a joint's friction with their terms.

    Empty if no term has this shape.
    """
    inner = 10 * len(model.robot.tree.bodies)
    uses = {k: model.term(c) for k, c in enumerate(model.base.columns) if c >= inner}
    columns = {
        k: use for k, use in uses.items() if use.coordinates == (joint,) and not use.row.inertial
    }
    return columns if any(has_shape(use, key) for use in columns.values()) else {}


def has_shape(use: TermUse, key: str) -> bool:
    """Return whether the factor of a term depends on a shape.

    Every step can be smooth, but only some joints have stiction.
    """
    return key in use.row.shapes and (key == "width" or key in use.values)


def thinned(samples: tuple[Samples, ...]) -> tuple[Samples, ...]:
    """Return every k-th sample, about `shape_samples` in all.

    The shape of the residual over speed needs no more.
    """
    step = thinning(samples)
    return tuple(s.part(slice(None, None, step)) for s in samples)


def thinning(samples: tuple[Samples, ...]) -> int:
    """Return k so that every k-th sample is about `shape_samples` in all."""
    return max(1, sum(s.N for s in samples) // THRESHOLDS.shape_samples)


def thinned_problem(model: Model, samples: tuple[Samples, ...]) -> Problem:
    """Return the problem of `thinned` samples, with presliding states of all samples."""
    step = thinning(samples)
    memory = [model.memory(s) for s in samples]
    return Problem(
        model,
        thinned(samples),
        presliding=tuple(None if z is None else z[::step] for z in memory),
    )


def memory_at(distances: Sequence[float], samples: tuple[Samples, ...], joint: int) -> Array:
    """Return the presliding states (N, D) of a joint at `thinned` samples, by distance [rad|m]."""
    step, tried = thinning(samples), np.array(distances)
    return np.concatenate(
        [
            states_by_distance(tried, s.t, s.q[:, joint], s.qd[:, joint], np.arange(0, s.N, step))
            for s in samples
        ]
    )


def best_value(
    trial: Problem,
    samples: tuple[Samples, ...],
    base: Array,
    joint: int,
    group: dict[int, TermUse],
    key: str,
) -> float:
    """Return the best value for one joint.

    Its friction columns are refitted at each candidate, the other parameters stay. `trial` has
    `thinned` samples of `samples`.
    """
    rest, measured, keep = friction_rows(trial, base, joint, list(group))
    state = state_of_joint(trial, joint, group, keep)
    distance = trial.model.robot.tree.memory_distances[joint]
    if distance is not None:
        state = state._replace(memory=memory_at([distance], samples, joint)[keep, 0])
    states = (
        [state._replace(memory=z) for z in memory_at(CANDIDATES[key], samples, joint)[keep].T]
        if key == "distance"
        else [state] * len(CANDIDATES[key])
    )
    costs = [
        residual_squares_of(rest, reshaped(measured, group, key, value, each))
        for value, each in zip(CANDIDATES[key], states, strict=True)
    ]
    return best_of(CANDIDATES[key], costs)


def widths_at_rest(
    model: Model,
    samples: tuple[Samples, ...],
    moving: tuple[Samples, ...],
    smooth: Sequence[float],
) -> list[float]:
    """Return the width of each joint's Coulomb step that predicts its rows at rest better.

    The width of the model, or a smooth one; parameters are estimated from the moving rows.

    Parameters
    ----------
    model : with its widths
    samples, moving : with all rows, and without the rows of resting joints
    smooth : (n,) smooth widths [rad/s|m/s]
    """
    trial = thinned_problem(model, moving)
    base, _ = weighted(trial.total, trial.prior, 2)
    pairs = zip(samples, moving, strict=True)
    resting = thinned_problem(
        model,
        tuple(
            replace(s, keep=~m.keep if s.keep is None else s.keep & ~m.keep)
            for s, m in pairs
            if m.keep is not None
        ),
    )
    widths = list(model.shape("width"))
    for j, width in enumerate(smooth):
        group = friction_columns(model, j, "width")
        if width == widths[j] or not group:
            continue
        torque, columns, keep = friction_rows(resting, base, j, list(group))
        state = state_of_joint(resting, j, group, keep)
        steps = [reshaped(columns, group, "width", w, state) for w in (widths[j], width)]
        costs = [float(np.sum((torque - F @ base[list(group)]) ** 2)) for F in steps]
        widths[j] = width if costs[1] < costs[0] else widths[j]
    return widths


def state_of_joint(
    trial: Problem, joint: int, group: dict[int, TermUse], keep: NDArray[np.bool_]
) -> JointState:
    """Return what the friction of a joint depends on, at the samples (N,) in use."""
    q, qd, qdd = (
        np.concatenate([getattr(s, name) for s in trial.samples]) for name in ("q", "qd", "qdd")
    )
    there = trial.model.joint_states(list(group.values()), q, qd, qdd)[joint]
    position, rate, acceleration, load = (np.broadcast_to(x, keep.shape)[keep] for x in there[:4])
    return JointState(q=position, qd=rate, qdd=acceleration, load=load)


def friction_rows(
    trial: Problem, base: Array, joint: int, group: Sequence[int]
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return torque (M,) of a joint less all but friction, friction columns (M, k), used rows (N,).

    `group` are the base columns of its friction; the other base parameters (b,) stay.
    """
    others = base.copy()
    others[list(group)] = 0.0
    blocks, columns = list(trial.blocks()), trial.reach[joint]
    keep = np.concatenate(
        [np.ones(len(b.t), bool) if b.keep is None else b.keep[:, joint] for b in blocks]
    )
    rest = np.concatenate(
        [b.tau[:, joint] - b.rows.row(joint) @ others[list(columns)] for b in blocks]
    )
    measured = np.concatenate(
        [b.rows.row(joint)[:, [columns.index(k) for k in group]] for b in blocks]
    )
    return rest[keep], measured[keep], keep


def best_of(values: Sequence[float], costs: Sequence[float]) -> float:
    """Return the value of least cost, between candidates.

    0, for no shape, is one of them only if none wins enough over it.
    """
    k = int(np.argmin(costs))
    if values[0] > 0:
        return between(values, costs, k)
    return values[k if costs[k] < (1.0 - THRESHOLDS.least_shape_gain) * costs[0] else 0]


def between(values: Sequence[float], costs: Sequence[float], k: int) -> float:
    """Return the minimum of the parabola through three costs over the logarithm of the value."""
    if not 0 < k < len(values) - 1:
        return values[k]
    below, best, above = costs[k - 1 : k + 2]
    bend = below - 2 * best + above
    step = 0.5 * (below - above) / bend if bend > 0 else 0.0
    return float(values[k] * (values[k + 1] / values[k]) ** step)


def reshaped(
    columns: Array, group: dict[int, TermUse], key: str, value: float, state: JointState
) -> Array:
    """Return the friction columns (N, k) of a joint with another value of a shape."""
    F = columns.copy()
    for i, use in enumerate(group.values()):
        if has_shape(use, key):
            assert use.row.factor is not None
            F[:, i] = use.row.factor(use.values.changed({key: value or None}), state)
    return F


def residual_squares_of(r: Array, F: Array) -> float:
    """Return the squared residual of r (N,) after its best fit by the columns F (N, k)."""
    right = F.T @ r
    return float(r @ r - right @ np.linalg.pinv(F.T @ F, hermitian=True) @ right)
