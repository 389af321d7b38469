"""Choice of friction with memory, joint by joint, by held-out torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...mechanism.joint_terms import JointState
from ...mechanism.tree import TermUse
from ...signals.filters import decimated_index
from ...signals.segments import split
from ..estimators.least_squares import weighted
from ..model.friction_memory import presliding_states, states_by_distance
from ..model.joint_terms import with_terms
from ..model.linear_model import Model
from ..model.model_thresholds import THRESHOLDS as MODEL_THRESHOLDS
from ..model.problem import Problem
from ..nuisance.friction_shape import (
    CANDIDATES,
    between,
    friction_columns,
    friction_rows,
    reshaped,
    thinned_problem,
    thinning,
)
from ..nuisance.presliding_distance import refine_distances
from ..samples.decimation import decimated
from ..samples.samples import Samples
from .candidates import FrictionCandidate
from .friction_thresholds import THRESHOLDS
from .term_search import FrictionTermSearch, Gain, make_search, signed_ranks

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


def choose_memory(
    model: Model, samples: tuple[Samples, ...], factor: int, width: bool
) -> tuple[Model, list[Gain]]:
    """Give friction with memory to the joints whose held-out torque gains by it.

    A joint's friction is fitted to parts of the samples, with and without memory, and predicts the
    others; presliding distance and, if `width`, the width of the Coulomb step are those of least
    residual on the parts that are fitted. Memory is kept where the error near reversals and the
    whole error both fall by enough, in nearly all parts. Rows at rest count: only memory gives
    their friction a definite value.

    Parameters
    ----------
    model, samples : the model without memory, and its samples
    factor : one in `factor` samples is kept behind the low-pass
    width : whether the width of the Coulomb step is free

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
    for place, (j, group) in enumerate(joints.items()):
        grid = filtered_grid(model, samples, factor, j, group, [r[:, place] for r in rests], width)
        if (choice := grid.choose()).is_promising:
            choices[j] = choice
    if not choices:
        return model, []
    columns = MemoryColumns.of(model, samples, {j: joints[j] for j in choices}, choices)
    search = make_search(Problem(model, samples, factor, columns), columns)
    gains = [search.gain(c) for c in search.candidates if is_accepted(search, c)]
    if not gains:
        return model, []
    accepted = {gain.candidate.joint: choices[gain.candidate.joint] for gain in gains}
    found = with_memory(model, accepted)
    return refine_distances(found, samples, factor, list(accepted)), gains


def is_accepted(search: FrictionTermSearch, candidate: FrictionCandidate) -> bool:
    """Return whether memory lowers a joint's held-out error, with all parameters estimated again.

    By enough, in most parts, and not at the expense of the other joints.
    """
    if search.solve(candidate)[-1] <= 0.0:
        return False
    before, after = search.errors, search.held_out(candidate)
    falls = (before - after)[:, candidate.joint]
    share = 1.0 - np.sqrt(after[:, candidate.joint].sum() / before[:, candidate.joint].sum())
    most = min(float(np.mean(falls > 0.0)), signed_ranks(falls))
    return bool(
        share >= THRESHOLDS.least_memory_gain
        and most >= THRESHOLDS.least_memory_parts
        and np.sum(search.weights**2 * (before - after)) > 0.0
    )


@dataclass(frozen=True, eq=False)
class MemoryColumns:
    """Columns of joints with memory: friction with a step of another width, and presliding states.

    `groups` has the base columns of each joint's friction, `states` the times (N,) and presliding
    states (N, joints) of each log. Every row counts, also of joints at rest.
    """

    model: Model
    groups: dict[int, dict[int, TermUse]]
    choices: dict[int, MemoryChoice]
    states: tuple[tuple[Array, Array], ...]

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
        )

    @property
    def count(self) -> int:
        """How many columns a joint has: those of its friction terms, and presliding states."""
        return 1 + max(len(group) for group in self.groups.values())

    def __call__(self, samples: Samples, log: int) -> Array:
        columns = np.zeros((*samples.q.shape, self.count + 1))
        columns[:, :, -1] = 1.0
        times, states = self.states[log]
        first = int(np.searchsorted(times, samples.t[0]))
        for place, (j, group) in enumerate(self.groups.items()):
            uses = list(group.values())
            state = states_of(self.model, uses, samples, j)
            terms = dict(enumerate(uses))
            sharp = np.stack([factors(use, state) for use in uses], axis=1)
            width = self.choices[j].width
            columns[:, j, : len(uses)] = reshaped(sharp, terms, "width", width, state)
            columns[:, j, len(uses)] = states[first : first + samples.N, place]
        return columns

    def candidates(self) -> tuple[FrictionCandidate, ...]:
        """Return one candidate for each joint; it replaces the friction with a step."""
        found = []
        for j, group in self.groups.items():
            stepped = [i for i, use in enumerate(group.values()) if "width" in use.row.shapes]
            found.append(
                FrictionCandidate(
                    joint=j,
                    word="presliding",
                    keys=("presliding",),
                    columns=(*stepped, len(group)),
                    unknowns=2,
                    without=tuple(list(group)[i] for i in stepped),
                )
            )
        return tuple(found)


def states_of(model: Model, uses: Sequence[TermUse], samples: Samples, joint: int) -> JointState:
    """Return what the friction of a joint depends on, each (N,)."""
    states = model.joint_states(uses, samples.q, samples.qd, samples.qdd)[joint]
    q, qd, qdd, load = (np.broadcast_to(x, samples.t.shape) for x in states[:4])
    return JointState(q, qd, qdd, load)


@dataclass(frozen=True)
class MemoryChoice:
    """Friction with memory of one joint, and what it gains.

    `distance` [rad|m] and `width` [rad/s|m/s], 0 for a sharp step, are of least residual; `share`
    and `reversal_share` are the falls of the held-out error of all rows and of rows near
    reversals; `value` [N m|N] is the friction with memory.
    """

    distance: float
    width: float
    value: float
    share: float
    reversal_share: float

    @property
    def has_memory(self) -> bool:
        """Whether it differs from a sharp Coulomb step: the least distance is one, too."""
        return self.value > 0.0 and (self.width > 0.0 or self.distance > CANDIDATES["distance"][0])

    @property
    def is_worth_a_look(self) -> bool:
        """Whether memory gains anything near reversals, beside unfiltered noise of the torque."""
        return self.has_memory and self.reversal_share >= THRESHOLDS.first_reversal_gain

    @property
    def is_promising(self) -> bool:
        """Whether memory gains enough with the other parameters as they are."""
        return (
            self.has_memory
            and self.share >= THRESHOLDS.least_gain
            and self.reversal_share >= THRESHOLDS.least_reversal_gain
        )


@dataclass(frozen=True, eq=False)
class ShapeGrid:
    """Gram matrices of one joint's friction for every width and presliding distance.

    Columns are: torque without friction; friction without a step; the k terms with a step, width
    by width; presliding states, distance by distance. `near` and `far` (F, K, K) are the Gram
    matrices of rows near reversals and of the others, part by part. `plain` is the number of
    friction columns without a step.
    """

    near: Array
    far: Array
    plain: int
    steps: int
    widths: tuple[float, ...]
    distances: tuple[float, ...]

    @classmethod
    def of(
        cls, signals: Array, near: Bools, used: Bools, group: dict[int, TermUse], shapes: Shapes
    ) -> ShapeGrid:
        """Return the Gram matrices of columns (N, K), with rows (N,) near reversals and in use."""
        parts = np.array_split(np.arange(len(signals)), MODEL_THRESHOLDS.folds)

        def grams(selected: Bools) -> Array:
            chosen = [signals[part][selected[part]] for part in parts]
            return np.stack([x.T @ x for x in chosen])

        steps = sum("width" in use.row.shapes for use in group.values())
        return cls(
            near=grams(near & used),
            far=grams(~near & used),
            plain=len(group) - steps,
            steps=steps,
            widths=shapes.widths,
            distances=shapes.distances,
        )

    def columns(self, memory: bool) -> NDArray[np.intp]:
        """Return the columns of each combination of a width and a distance, (combinations, m)."""
        first = 1 + self.plain + self.steps * len(self.widths)
        fixed = list(range(1, 1 + self.plain))
        return np.array(
            [
                [*fixed, *(1 + self.plain + w * self.steps + np.arange(self.steps)), *state]
                for w in range(len(self.widths))
                for state in ([[first + d] for d in range(len(self.distances))] if memory else [[]])
            ],
            np.intp,
        )

    def fit(self, gram: Array, columns: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return the coefficients (C, m) and squared residuals (C,) of combinations.

        Steps and memory that come out negative are left out.
        """
        A = gram[columns[:, :, None], columns[:, None, :]]
        b = gram[columns, 0]
        scale = np.sqrt(np.maximum(np.diagonal(A, axis1=1, axis2=2), 1e-300))
        A = A / (scale[:, :, None] * scale[:, None, :]) + 1e-9 * np.eye(A.shape[1])
        right = b / scale
        signed = np.arange(A.shape[1]) >= self.plain
        used = np.ones(right.shape, bool)
        for _ in range(2):
            both = used[:, :, None] & used[:, None, :]
            system = np.where(both, A, np.eye(A.shape[1]))
            x = np.linalg.solve(system, np.where(used, right, 0.0)[:, :, None])[:, :, 0]
            used &= ~((x < 0.0) & signed)
        x = np.where(used, x, 0.0) / scale
        return x, residual_squares(gram, columns, x)

    def predict(self, fitted: Array, part: int, columns: NDArray[np.intp]) -> tuple[float, float]:
        """Return the squared errors of a part near reversals and elsewhere.

        The combination of least residual on the Gram matrix `fitted` predicts it.
        """
        x, squares = self.fit(fitted, columns)
        k = int(np.argmin(squares))
        best = columns[k : k + 1], x[k : k + 1]
        near, far = (float(residual_squares(g[part], *best)[0]) for g in (self.near, self.far))
        return near, far

    def choose(self) -> MemoryChoice:
        """Return the best friction with memory and its gain over friction without it."""
        whole = self.near + self.far
        total, rounding = whole.sum(axis=0), 1e-12 * float(whole[:, 0, 0].sum())
        without, with_z = self.columns(False), self.columns(True)
        errors = np.array(
            [
                [self.predict(total - whole[k], k, columns) for columns in (without, with_z)]
                for k in range(len(whole))
            ]
        )  # part, without or with memory, near or far
        near, every = errors[:, :, 0].sum(axis=0), errors.sum(axis=(0, 2))
        x, squares = self.fit(total, with_z)
        w, d = divmod(int(np.argmin(squares)), len(self.distances))
        costs = squares[w * len(self.distances) : (w + 1) * len(self.distances)]
        return MemoryChoice(
            distance=between(self.distances, costs.tolist(), d),
            width=self.widths[w],
            value=float(x[w * len(self.distances) + d, -1]),
            share=float(1.0 - np.sqrt((every[1] + rounding) / (every[0] + rounding))),
            reversal_share=float(1.0 - np.sqrt((near[1] + rounding) / (near[0] + rounding))),
        )


def residual_squares(gram: Array, columns: NDArray[np.intp], x: Array) -> Array:
    """Return the squared residuals (C,) of coefficients x (C, m) of some columns (C, m)."""
    A = gram[columns[:, :, None], columns[:, None, :]]
    fitted = np.einsum("ci,cij,cj->c", x, A, x)
    return np.maximum(gram[0, 0] - 2.0 * np.sum(x * gram[columns, 0], axis=1) + fitted, 0.0)


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
    step = max(k for k in range(1, factor + 1) if factor % k == 0 and (4 * k <= factor or k == 1))
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


class Shapes(NamedTuple):
    """Widths of the Coulomb step [rad/s|m/s], 0 for a sharp one, and presliding distances [rad|m]."""

    widths: tuple[float, ...]
    distances: tuple[float, ...]

    @classmethod
    def of(cls, model: Model, joint: int, width: bool, step: int) -> Shapes:
        """Return every `step`-th width, or the width of the model if it is given; and distances."""
        widths = CANDIDATES["width"][::step] if width else (model.shape("width")[joint],)
        return cls(tuple(widths), tuple(CANDIDATES["distance"][:: max(1, step // 3)]))


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
    sharp = np.stack([factors(use, state) for use in uses], axis=1)
    terms = {k: uses[i] for k, i in enumerate(stepped)}
    steps = [reshaped(sharp[:, stepped], terms, "width", w, state) for w in shapes.widths]
    z = states_by_distance(
        np.array(shapes.distances), samples.t, samples.q[:, joint], samples.qd[:, joint], index
    )
    return np.column_stack([sharp[:, others], *steps, z])


def factors(use: TermUse, state: JointState) -> Array:
    """Return the column (N,) of a term at the states of its joint."""
    assert use.row.factor is not None
    return np.broadcast_to(use.row.factor(use.values, state), state.qd.shape)


def near_reversals(t: Array, qd: Array) -> Bools:
    """Return which samples (N,) are within `reversal_seconds` of a change of the sign of qd (N,)."""
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
