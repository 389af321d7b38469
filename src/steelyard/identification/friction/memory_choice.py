"""Choice of friction with memory, joint by joint, by held-out torque."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...mechanism.joint_terms import JointState
from ...mechanism.tree import TermUse
from ...signals.filters import decimated_index
from ...signals.segments import split
from ..estimators.least_squares import weighted
from ..model.friction_memory import presliding_states, states_by_distance
from ..model.joint_gram import JointGram
from ..model.joint_terms import with_terms
from ..model.linear_model import Model
from ..model.model_thresholds import THRESHOLDS as MODEL_THRESHOLDS
from ..model.problem import Problem
from ..nuisance.friction_shape import (
    CANDIDATES,
    friction_columns,
    friction_rows,
    reshaped,
    thinned_problem,
    thinning,
)
from ..nuisance.presliding_distance import refine_distances
from ..samples.decimation import decimated
from ..samples.samples import Samples
from ..selection.held_out_torque import WLS, plain_bases
from .candidates import FrictionCandidate
from .friction_thresholds import THRESHOLDS
from .shape_grid import MemoryChoice, ShapeGrid, Shapes
from .term_search import FrictionTermSearch, Gain, make_search, signed_ranks

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
RowsOf = Callable[[Model | None], tuple[Samples, ...]]


def choose_memory(
    model: Model,
    samples: tuple[Samples, ...],
    factor: int,
    width: bool,
    rows_of: RowsOf | None = None,
) -> tuple[Model, list[Gain]]:
    """Give friction with memory to the joints whose held-out torque gains by it.

    A joint's friction is fitted to parts of the samples, with and without memory, and predicts the
    others; presliding distance and, if `width`, the width of the Coulomb step have the least
    residual on the parts that are fitted. Memory is kept where the error near reversals and the
    whole error both fall by enough, in nearly all parts. Rows at rest count in the whole error:
    only memory gives their friction a definite value. Rows near reversals are of moving joints, as
    in other logs. Where rows at rest would otherwise be left out, memory must also predict the
    moving rows as well as a fit to these alone.

    Parameters
    ----------
    model, samples : the model without memory, and its samples with all rows
    factor : one in `factor` samples is kept behind the low-pass
    width : whether the width of the Coulomb step is free
    rows_of : samples with the rows that a model uses, None if every model uses all

    Returns
    -------
    model : with the terms, their distances and widths
    gains : of the joints that have one
    """
    names, free = model.robot.joint_names, {model.names[i] for i in model.free}
    joints = {
        j: group
        for j, (name, terms) in enumerate(zip(names, model.robot.tree.terms, strict=True))
        if f"{name}.Fc" in free
        and "presliding" not in terms
        and (group := friction_columns(model, j, "width"))
    }
    if not joints:
        return model, []
    trial = thinned_problem(model, samples)
    base, _ = weighted(trial.total, trial.prior, 2)
    joints = {
        j: group
        for j, group in joints.items()
        if thinned_grid(trial, samples, base, j, group, width).choose().is_worth_a_look
    }
    rests = [friction_torques(model, s, base, joints) for s in samples] if joints else []
    choices = {}
    for column, (j, group) in enumerate(joints.items()):
        grid = filtered_grid(model, samples, factor, j, group, [r[:, column] for r in rests], width)
        if (choice := grid.choose()).is_promising:
            choices[j] = choice
    if not choices:
        return model, []
    columns = MemoryColumns.of(model, samples, {j: joints[j] for j in choices}, choices)
    search = make_search(Problem(model, samples, factor, columns), columns)
    turns = replace(columns, only_reversals=True)
    near = make_search(Problem(model, samples, factor, turns), turns, search.chosen).parts
    gains = [search.gain(c) for c in search.candidates if is_accepted(search, c, near)]
    if not gains:
        return model, []
    changed = with_distances(model, samples, factor, gains, choices)
    dropped = sharp_joints(changed)
    dropped += [] if rows_of is None else worse_while_moving(model, changed, rows_of, factor)
    remaining = [gain for gain in gains if gain.candidate.joint not in dropped]
    if not remaining:
        return model, []
    if dropped:
        changed = with_distances(model, samples, factor, remaining, choices)
    return changed, remaining


def with_distances(
    model: Model,
    samples: tuple[Samples, ...],
    factor: int,
    gains: Sequence[Gain],
    choices: dict[int, MemoryChoice],
) -> Model:
    """Return the model with friction with memory at the joints that gain, its distances refined."""
    joints = [gain.candidate.joint for gain in gains]
    changed = with_memory(model, {j: choices[j] for j in joints})
    return refine_distances(changed, samples, factor, joints)


def sharp_joints(model: Model) -> list[int]:
    """Return the joints whose presliding distance is the smallest that is tried: a sharp step."""
    least = THRESHOLDS.sharp_distance * CANDIDATES["distance"][0]
    distances = model.robot.tree.memory_distances
    return [j for j, distance in enumerate(distances) if distance is not None and distance <= least]


def worse_while_moving(before: Model, after: Model, rows_of: RowsOf, factor: int) -> list[int]:
    """Return the joints whose moving rows memory predicts worse than a fit to these rows alone.

    Both models are fitted to parts of the rows that they use, and predict the moving rows of the
    others. Only joints that have rows at rest can be worse.

    Parameters
    ----------
    before, after : the model without and with memory
    rows_of : samples with the rows that a model uses
    factor : one in `factor` samples is kept behind the low-pass
    """
    moving, fitted = rows_of(before), rows_of(after)
    if all(s.keep is None for s in moving):
        return []
    errors = []
    for model, rows in ((before, moving), (after, fitted)):
        judged = Problem(model, moving, factor).folds
        prior = model.base.values(model.start)
        bases = plain_bases(Problem(model, rows, factor).folds, prior, WLS)
        if bases is None:
            return []
        pairs = zip(judged, bases, strict=True)
        errors.append(np.sum([fold.residual_squares(base) for fold, base in pairs], axis=0))
    rested = np.any([~np.all(s.keep, axis=0) for s in moving if s.keep is not None], axis=0)
    remembers = [distance is not None for distance in after.robot.tree.memory_distances]
    return list(map(int, np.flatnonzero(rested & remembers & raises_error(*errors))))


def raises_error(before: Array, after: Array) -> Bools:
    """Return whether squared errors (n,) of moving rows are larger than tolerated with memory."""
    return np.asarray(after > (1.0 + THRESHOLDS.largest_moving_loss) ** 2 * before)


def is_accepted(
    search: FrictionTermSearch, candidate: FrictionCandidate, near: Sequence[JointGram]
) -> bool:
    """Return whether memory lowers a joint's held-out error, with all parameters estimated again.

    By enough, in most parts, and not at the expense of the other joints; and near reversals, whose
    rows `near` has part by part, by enough in nearly all parts.
    """
    if search.solve(candidate)[-1] <= 0.0:
        return False
    before, after = search.errors, search.held_out(candidate)
    if np.sum(search.weights**2 * (before - after)) <= 0.0:
        return False
    j = candidate.joint
    turns = search.held_out(None, near)[:, j], search.held_out(candidate, near)[:, j]
    pair = before[:, j], after[:, j]
    return is_improvement(*pair, THRESHOLDS.least_memory_parts) and is_improvement(
        *turns, THRESHOLDS.least_consistency
    )


def is_improvement(before: Array, after: Array, consistency: float) -> bool:
    """Return whether the squared errors (F,) of a joint's parts fall by enough, in most parts.

    `consistency` is the least share of the signed ranks; parts without rows do not count.
    """
    before, after = before[before > 0.0], after[before > 0.0]
    if not len(before):
        return False
    share, falls = 1.0 - np.sqrt(after.sum() / before.sum()), before - after
    return bool(
        share >= THRESHOLDS.least_memory_gain
        and np.mean(falls > 0.0) >= THRESHOLDS.least_memory_parts
        and signed_ranks(falls) >= consistency
    )


@dataclass(frozen=True, eq=False)
class MemoryColumns:
    """Columns of joints with memory: friction with a step of another width, and presliding states.

    `groups` has the base columns of each joint's friction, `states` the times (N,) and presliding
    states (N, joints) of each log. Every row counts, also of joints at rest, or
    `only_reversals`: rows of moving joints near a change of sign of their velocity.
    """

    model: Model
    groups: dict[int, dict[int, TermUse]]
    choices: dict[int, MemoryChoice]
    states: tuple[tuple[Array, Array], ...]
    near: tuple[Bools, ...]
    only_reversals: bool = False

    @classmethod
    def of(
        cls,
        model: Model,
        samples: tuple[Samples, ...],
        groups: dict[int, dict[int, TermUse]],
        choices: dict[int, MemoryChoice],
    ) -> MemoryColumns:
        """Return the columns of joints that have a choice."""
        distances = [choices[j].distance for j in groups]
        joints = list(groups)
        states = [
            presliding_states(distances, s.t, s.q[:, joints], s.qd[:, joints]) for s in samples
        ]
        return cls(
            model=model,
            groups=groups,
            choices=choices,
            states=tuple((s.t, z) for s, z in zip(samples, states, strict=True) if z is not None),
            near=tuple(
                np.stack([near_reversals(s.t, qd) for qd in s.qd.T], axis=1) for s in samples
            ),
        )

    @property
    def count(self) -> int:
        """How many columns a joint has: its friction terms, and presliding states."""
        return 1 + max(len(group) for group in self.groups.values())

    def __call__(self, samples: Samples, log: int) -> Array:
        columns = np.zeros((*samples.q.shape, self.count + 1))
        times, states = self.states[log]
        first = int(np.searchsorted(times, samples.t[0]))
        near = self.near[log][first : first + samples.N]
        columns[:, :, -1] = near * samples.qd if self.only_reversals else 1.0
        for column, (j, group) in enumerate(self.groups.items()):
            uses = list(group.values())
            state = states_of(self.model, uses, samples, j)
            terms = dict(enumerate(uses))
            described = np.stack([factors(use, state) for use in uses], axis=1)
            width = self.choices[j].width
            columns[:, j, : len(uses)] = reshaped(described, terms, "width", width, state)
            columns[:, j, len(uses)] = states[first : first + samples.N, column]
        return columns

    def candidates(self) -> tuple[FrictionCandidate, ...]:
        """Return one candidate for each joint; it replaces the friction with a step."""
        candidates = []
        for j, group in self.groups.items():
            stepped = [i for i, use in enumerate(group.values()) if "width" in use.row.shapes]
            candidates.append(
                FrictionCandidate(
                    joint=j,
                    word="presliding",
                    keys=("presliding",),
                    columns=(*stepped, len(group)),
                    unknowns=2,
                    without=tuple(list(group)[i] for i in stepped),
                )
            )
        return tuple(candidates)


def states_of(model: Model, uses: Sequence[TermUse], samples: Samples, joint: int) -> JointState:
    """Return what the friction of a joint depends on, each (N,)."""
    states = model.joint_states(uses, samples.q, samples.qd, samples.qdd)[joint]
    q, qd, qdd, load = (np.broadcast_to(x, samples.t.shape) for x in states[:4])
    return JointState(q, qd, qdd, load)


def friction_torques(
    model: Model, samples: Samples, base: Array, groups: dict[int, dict[int, TermUse]]
) -> Array:
    """Return the torque of some joints without all but their friction, (N, joints) [N m|N].

    `groups` has the base columns of each joint's friction, base (b,) the other parameters.
    """
    step, parts = MODEL_THRESHOLDS.block_samples, []
    for start in range(0, samples.N, step):
        s = samples.part(slice(start, start + step))
        rows, torques = model.rows_in_reach(*s.states), []
        known = model.known_torque(*s.states)
        for j, group in groups.items():
            others = base.copy()
            others[list(group)] = 0.0
            rest = s.tau[:, j] - known[:, j] - rows.row(j) @ others[rows.reach.columns[j]]
            torques.append(rest if s.payload_torque is None else rest - s.payload_torque[:, j])
        parts.append(np.stack(torques, axis=1))
    return np.concatenate(parts)


def thinned_grid(
    trial: Problem,
    samples: tuple[Samples, ...],
    base: Array,
    joint: int,
    group: dict[int, TermUse],
    width: bool,
) -> ShapeGrid:
    """Return the Gram matrices of one joint's friction at some samples, without a low-pass.

    A few widths and distances show whether memory is worth a closer look. `trial` has the
    `thinned` samples and base parameters (b,).
    """
    shapes = Shapes.of(trial.model, joint, width, THRESHOLDS.first_memory_step)
    torque, _, used = friction_rows(trial, base, joint, list(group))
    index = [np.arange(0, s.N, thinning(samples)) for s in samples]
    pairs = list(zip(samples, index, strict=True))
    columns = [signal_columns(trial.model, s, i, joint, group, shapes) for s, i in pairs]
    near = [near_reversals(s.t[i], s.qd[i, joint]) for s, i in pairs]
    signals = np.zeros((len(used), 1 + columns[0].shape[1]))
    signals[used, 0] = torque
    signals[:, 1:] = np.concatenate(columns)
    return ShapeGrid.of(signals, np.concatenate(near), used, group, shapes)


def filtered_grid(
    model: Model,
    samples: tuple[Samples, ...],
    factor: int,
    joint: int,
    group: dict[int, TermUse],
    torques: Sequence[Array],
    width: bool,
) -> ShapeGrid:
    """Return the Gram matrices of one joint's friction at the kept samples, behind the low-pass.

    `torques` (N,) of each log are without all but the joint's friction. Columns are computed at
    one in `step` samples, which the low-pass does not distinguish from all.
    """
    shapes = Shapes.of(model, joint, width, THRESHOLDS.memory_step)
    step = max(
        k
        for k in range(1, factor + 1)
        if factor % k == 0 and (THRESHOLDS.samples_per_kept * k <= factor or k == 1)
    )
    rows, near, keep = [], [], []
    for s, torque in zip(samples, torques, strict=True):
        for part in split(s.t):
            index = np.arange(part.start, part.stop, step)
            count = -(-(part.stop - part.start) // factor)
            columns = signal_columns(model, s, index, joint, group, shapes)
            rows.append(
                np.column_stack(
                    [
                        decimated(torque[part], factor, 0, count),
                        decimated(columns, factor // step, 0, count),
                    ]
                )
            )
        index = decimated_index(s.t, factor)
        near.append(near_reversals(s.t[index], s.qd[index, joint]))
        keep.append(np.ones(len(index), bool) if s.keep is None else s.keep[index, joint])
    close, used = np.concatenate(near), np.concatenate(keep)
    return ShapeGrid.of(np.concatenate(rows), close, used, group, shapes)


def signal_columns(
    model: Model,
    samples: Samples,
    index: NDArray[np.intp],
    joint: int,
    group: dict[int, TermUse],
    shapes: Shapes,
) -> Array:
    """Return friction without a step, steps of each width, and presliding states, (M, K).

    At the samples `index` (M,) of a log.
    """
    uses, part = list(group.values()), samples.part(index)
    stepped = [i for i, use in enumerate(uses) if "width" in use.row.shapes]
    others = [i for i in range(len(uses)) if i not in stepped]
    state = states_of(model, uses, part, joint)
    described = np.stack([factors(use, state) for use in uses], axis=1)
    terms = {k: uses[i] for k, i in enumerate(stepped)}
    steps = [reshaped(described[:, stepped], terms, "width", w, state) for w in shapes.widths]
    z = states_by_distance(
        np.array(shapes.distances), samples.t, samples.q[:, joint], samples.qd[:, joint], index
    )
    return np.column_stack([described[:, others], *steps, z])


def factors(use: TermUse, state: JointState) -> Array:
    """Return the column (N,) of a term at the states of its joint."""
    assert use.row.factor is not None
    return np.broadcast_to(use.row.factor(use.values, state), state.qd.shape)


def near_reversals(t: Array, qd: Array) -> Bools:
    """Return which samples (N,) are within `reversal_seconds` of a change of sign of qd (N,)."""
    turns = t[:-1][np.sign(qd[1:]) * np.sign(qd[:-1]) < 0]
    if not len(turns):
        return np.zeros(t.shape, bool)
    after = np.clip(np.searchsorted(turns, t), 0, len(turns) - 1)
    gaps = [np.abs(t - turns[k]) for k in (after, np.maximum(after - 1, 0))]
    return np.asarray(np.minimum(*gaps) <= THRESHOLDS.reversal_seconds)


def with_memory(model: Model, choices: dict[int, MemoryChoice]) -> Model:
    """Return the model with friction with memory at the joints that have a choice."""
    names = model.robot.joint_names
    terms = {names[j]: ("presliding",) for j in choices}
    robot = with_terms(model.robot, terms, [0.0] * len(names))
    changed = model.with_robot(robot)
    for key in ("distance", "width"):
        values = list(changed.shape(key))
        for j, choice in choices.items():
            values[j] = getattr(choice, key)
        changed = changed.with_shape(key, values)
    return changed
