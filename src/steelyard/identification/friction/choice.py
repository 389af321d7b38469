"""Choice of friction terms by held-out errors and an information criterion, and of drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...drawing.numbers import percent
from ...robot import Robot
from ..estimators.least_squares import weighted
from ..estimators.prior_weight import PriorWeight
from ..model.joint_terms import LOSSES, RIPPLE, TERMS, USUAL, with_terms
from ..model.linear_model import Model
from ..model.problem import Problem
from ..nuisance.friction_shape import estimate_friction_shape, thinned_problem
from ..samples.samples import Samples
from .candidates import Columns, FrictionCandidate
from .friction_thresholds import THRESHOLDS
from .memory_choice import RowsOf, choose_memory
from .term_search import FrictionTermSearch, Gain, make_search

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FrictionChoice:
    """The model with the chosen terms, the drift torques (N, n) [N m|N], and a sentence.

    `drift` has one array per log, () without drift.

    `added` has the chosen terms, joint and word.
    """

    model: Model
    drift: tuple[Array, ...] = ()
    notes: tuple[str, ...] = ()
    added: tuple[tuple[str, str], ...] = ()

    @property
    def drift_rms(self) -> Array:
        """Root mean square of each joint's drift torque, (n,) [N m|N]; 0 where nothing drifts."""
        return (
            np.sqrt(np.mean(np.concatenate(self.drift) ** 2, axis=0))
            if self.drift
            else np.zeros(self.model.n)
        )

    def without_drift(self, samples: tuple[Samples, ...], gains: Array) -> tuple[Samples, ...]:
        """Return samples without the drift; their torques are not yet scaled by the gains (n,)."""
        return (
            tuple(
                replace(s, tau=s.tau - torque / gains)
                for s, torque in zip(samples, self.drift, strict=True)
            )
            if self.drift
            else samples
        )


def choose_friction(
    model: Model,
    samples: tuple[Samples, ...],
    factor: int,
    gears: Array,
    width: bool,
    drifting: bool = True,
    rows_of: RowsOf | None = None,
) -> FrictionChoice:
    """Choose friction terms that lower the held-out error by more than its noise.

    Friction with memory is chosen first, see `choose_memory`.

    Each candidate is a few columns of one joint. A joint gets it if the error of held-out parts
    falls by at least `least_gain` and in nearly all parts (signed ranks). The extended Bayesian
    information criterion with the number of independent rows must agree. In each round a joint gets
    its best candidate, and the friction shapes are estimated again, with the width of the Coulomb
    step if `width`. `gears` (n,) are gear ratios, 0 where unknown. Drift along the logs is a
    candidate if `drifting`. `rows_of` returns the samples with the rows that a model uses: friction
    with memory explains rows of resting joints, too; None stands for all rows. Roberts et al.,
    Ecography 40 (2017), p. 913; Chen and Chen, Biometrika 95 (2008), p. 759.
    """
    start = model.robot
    every = samples if rows_of is None else rows_of(None)
    model, chosen = choose_memory(model, every, factor, width, rows_of)
    samples = samples if rows_of is None else rows_of(model)
    prior_weight: PriorWeight | None = None
    drift: list[Array] = []
    for _ in range(THRESHOLDS.rounds):
        steady = without_torque(samples, drift)
        columns, search = make_trial(model, steady, factor, gears, prior_weight, drifting)
        gains, prior_weight = search.best(), search.chosen
        if not gains:
            break
        chosen += gains
        if any(not gain.candidate.keys for gain in gains):
            more = drift_torque(gains, columns, samples)
            drift = [a + b for a, b in zip(drift, more, strict=True)] if drift else more
        grown = model.with_robot(robot_with_terms(model.robot, gains, gears))
        joints = [gain.candidate.joint for gain in gains if gain.candidate.keys]
        model = estimate_friction_shape(grown, steady, width, joints) if joints else model
    if any(gain.candidate.keys == LOSSES for gain in chosen):
        steady = without_torque(samples, drift)
        columns, search = make_trial(model, steady, factor, gears, prior_weight, drifting)
        equal = [c for c in columns.equal_losses() if not search.gain_over(c).passes]
        chosen = [with_equal_losses(gain, equal) for gain in chosen]
        model = model.with_robot(
            robot_with_terms(model.robot, [g for g in chosen if g.candidate in equal], gears)
        )
    chosen = with_last_terms(chosen)
    names = model.robot.joint_names
    added = dict.fromkeys((names[g.candidate.joint], g.candidate.word) for g in chosen)
    return FrictionChoice(model, tuple(drift), (describe_choice(start, chosen),), tuple(added))


def with_last_terms(chosen: Sequence[Gain]) -> list[Gain]:
    """Return gains of terms that a later term replaced as gains of that term."""
    results = []
    for i, gain in enumerate(chosen):
        keys = gain.candidate.keys
        later = [
            each.candidate
            for each in chosen[i + 1 :]
            if each.candidate.joint == gain.candidate.joint
            and keys
            and set(keys) <= set(each.candidate.replaces)
        ]
        results.append(replace(gain, candidate=later[-1]) if later else gain)
    return results


def without_torque(samples: tuple[Samples, ...], torques: Sequence[Array]) -> tuple[Samples, ...]:
    """Return samples without a torque (N, n) [N m|N] of each log, () for none."""
    if not torques:
        return samples
    pairs = zip(samples, torques, strict=True)
    return tuple(replace(s, tau=s.tau - torque) for s, torque in pairs)


def with_equal_losses(gain: Gain, equal: Sequence[FrictionCandidate]) -> Gain:
    """Return the gain of gear losses as one of friction of the load, for joints in `equal`."""
    for candidate in equal:
        if gain.candidate.keys == LOSSES and gain.candidate.joint == candidate.joint:
            return replace(gain, candidate=candidate)
    return gain


def make_trial(
    model: Model,
    samples: tuple[Samples, ...],
    factor: int,
    gears: Array,
    prior_weight: PriorWeight | None,
    drifting: bool = True,
) -> tuple[Columns, FrictionTermSearch]:
    """Return the columns of all candidates and the search over them."""
    trial = thinned_problem(model, samples)
    base, _ = weighted(trial.total, trial.prior, 2)
    columns = Columns.of(model, base, gears, samples, drifting)
    return columns, make_search(Problem(model, samples, factor, columns), columns, prior_weight)


def robot_with_terms(robot: Robot, gains: Sequence[Gain], gears: Array) -> Robot:
    """Return the robot with the joint terms of candidates, and without those they replace."""
    keys = {robot.joint_names[gain.candidate.joint]: gain.candidate.keys for gain in gains}
    replaced = {robot.joint_names[gain.candidate.joint]: gain.candidate.replaces for gain in gains}
    joints = (
        replace(j, terms=j.terms.changed(dict.fromkeys(replaced.get(j.name, ()))))
        for j in robot.mechanism.joints
    )
    return with_terms(
        type(robot)(replace(robot.mechanism, joints=tuple(joints))), keys, gears.tolist()
    )


def drift_torque(
    gains: Sequence[Gain], columns: Columns, samples: Sequence[Samples]
) -> list[Array]:
    """Return the torque (N, n) [N m|N] of those candidates that drift along each log."""
    torques = [np.zeros_like(s.q) for s in samples]
    for c, values in ((gain.candidate, gain.values) for gain in gains if not gain.candidate.keys):
        for log, s in enumerate(samples):
            torques[log][:, c.joint] += columns(s, log)[:, c.joint, list(c.columns)] @ np.array(
                values
            )
    return torques


def describe_first_terms(robot: Robot) -> str:
    """Return the friction from which a choice starts: the usual terms, and those described."""
    described = {
        "ripple" if key in RIPPLE else "losses" if key in LOSSES else key
        for terms in robot.tree.terms
        for key in terms
        if key in (*TERMS, *LOSSES) and key not in USUAL
    }
    usual = "Friction: viscous, Coulomb and offset"
    return f"{usual}, and {', '.join(sorted(described))} as described" if described else usual


def describe_choice(start: Robot, chosen: Sequence[Gain]) -> str:
    """Return a sentence on the chosen terms, with the fall of their joints' held-out errors.

    `start` is the robot before the choice.
    """
    names, usual = start.joint_names, describe_first_terms(start)
    if not chosen:
        return (
            f"{usual}; no further term lowers the held-out error of a joint by more than its noise."
        )
    remaining: dict[str, dict[str, float]] = {}
    for gain in chosen:
        by_joint, name = remaining.setdefault(gain.candidate.word, {}), names[gain.candidate.joint]
        by_joint[name] = by_joint.get(name, 1.0) * (1.0 - gain.share)
    terms = "; ".join(
        f"{word} ({', '.join(f'{name} by {percent(1 - x)} %' for name, x in by_joint.items())})"
        for word, by_joint in remaining.items()
    )
    drifts = any(not gain.candidate.keys for gain in chosen)
    ending = (
        ". Drift was subtracted from the torques and is not part of the robot" if drifts else ""
    )
    return f"{usual}; further terms, with the fall of the held-out error: {terms}{ending}."
