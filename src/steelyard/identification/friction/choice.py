"""The choice of friction terms by evidence: the model with what the samples show, and what drifts along the logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...drawing.numbers import percent
from ...robot import Robot
from ..estimators.least_squares import weighted
from ..estimators.prior_weight import PriorWeight
from ..estimators.shape import estimate_friction_shape, thinned
from ..model.joint_terms import with_terms
from ..model.linear_model import Model
from ..model.problem import Problem
from ..samples.samples import Samples
from .candidates import Columns
from .term_search import Gain, Search, make_search

Array = NDArray[np.float64]
ROUNDS = 6


@dataclass(frozen=True, eq=False)
class FrictionChoice:
    """The model with the chosen terms, the drift torque (N, n) [N m|N] of each log, () if nothing drifts, and a sentence about both.

    `added` has the chosen terms, joint and word.
    """

    model: Model
    drift: tuple[Array, ...] = ()
    notes: tuple[str, ...] = ()
    added: tuple[tuple[str, str], ...] = ()

    @property
    def drift_rms(self) -> Array:
        """Root mean square of each joint's drift torque, (n,) [N m|N]; 0 where nothing drifts."""
        return np.sqrt(np.mean(np.concatenate(self.drift) ** 2, axis=0)) if self.drift else np.zeros(self.model.n)

    def without_drift(self, samples: tuple[Samples, ...], gains: Array) -> tuple[Samples, ...]:
        """Return samples, in which torques are still too small by the drive gains (n,), without the drift."""
        return (
            tuple(replace(s, tau=s.tau - torque / gains) for s, torque in zip(samples, self.drift, strict=True)) if self.drift else samples
        )


def choose_friction(
    model: Model, samples: tuple[Samples, ...], factor: int, gears: Array, width: bool, drifting: bool = True
) -> FrictionChoice:
    """Return the friction terms beyond those of the model that lower the held-out error by more than its own noise.

    Each candidate is a few columns of one joint. A joint gets it if the error of parts that are predicted from all others falls by at
    least LEAST_GAIN of the joint's error and in nearly all parts (signed ranks), and if the extended Bayesian information criterion with
    the number of independent rows agrees. In each round a joint gets its best one, and the shapes are found
    again, the width of the Coulomb step if asked for. Gear ratios (n,), 0 where unknown. What drifts along the logs
    is chosen if `drifting`.
    Roberts et al., Ecography 40 (2017), p. 913; Chen and Chen, Biometrika 95 (2008), p. 759.
    """
    chosen: list[Gain] = []
    prior_weight: PriorWeight | None = None
    drift: list[Array] = []
    for _ in range(ROUNDS):
        left = tuple(replace(s, tau=s.tau - torque) for s, torque in zip(samples, drift, strict=True)) if drift else samples
        columns, search = make_trial(model, left, factor, gears, prior_weight, drifting)
        gains, prior_weight = search.best(), search.chosen
        if not gains:
            break
        chosen += gains
        if any(not gain.candidate.keys for gain in gains):
            more = drift_torque(gains, columns, samples)
            drift = [a + b for a, b in zip(drift, more, strict=True)] if drift else more
        grown = model.with_robot(grown_robot(model.robot, gains, gears))
        joints = [gain.candidate.joint for gain in gains if gain.candidate.keys]
        model = estimate_friction_shape(grown, left, width, joints) if joints else model
    added = tuple((model.robot.joint_names[gain.candidate.joint], gain.candidate.word) for gain in chosen)
    return FrictionChoice(model, tuple(drift), (sentence(model.robot.joint_names, chosen),), added)


def make_trial(
    model: Model, samples: tuple[Samples, ...], factor: int, gears: Array, prior_weight: PriorWeight | None, drifting: bool = True
) -> tuple[Columns, Search]:
    """Return the columns of all candidates and the search over them."""
    trial = Problem(model, thinned(samples))
    base, _ = weighted(trial.total, trial.prior, 2)
    columns = Columns.of(model, base, gears, samples, drifting)
    return columns, make_search(Problem(model, samples, factor, columns), columns, prior_weight)


def grown_robot(robot: Robot, gains: Sequence[Gain], gears: Array) -> Robot:
    """Return the robot with the joint terms of candidates, and without the offset that one takes the place of."""
    wanted = {robot.joint_names[gain.candidate.joint]: gain.candidate.keys for gain in gains}
    replaced = [robot.joint_names[gain.candidate.joint] for gain in gains if gain.candidate.without is not None]
    joints = (replace(j, terms=j.terms.changed({"offset": None})) if j.name in replaced else j for j in robot.mechanism.joints)
    return with_terms(type(robot)(replace(robot.mechanism, joints=tuple(joints))), wanted, gears.tolist())


def drift_torque(gains: Sequence[Gain], columns: Columns, samples: Sequence[Samples]) -> list[Array]:
    """Return the torque (N, n) [N m|N] of those candidates that drift along each log."""
    made = [np.zeros_like(s.q) for s in samples]
    for c, values in ((gain.candidate, gain.values) for gain in gains if not gain.candidate.keys):
        for log, s in enumerate(samples):
            made[log][:, c.joint] += columns(s, log)[:, c.joint, list(c.columns)] @ np.array(values)
    return made


def sentence(names: Sequence[str], chosen: Sequence[Gain]) -> str:
    """Return what was chosen, with what it takes away of the held-out error of its joint."""
    usual = "Friction: viscous, Coulomb and offset"
    if not chosen:
        return f"{usual}; no further term lowers the held-out error of a joint by more than its noise."
    left: dict[str, dict[str, float]] = {}
    for gain in chosen:
        own, name = left.setdefault(gain.candidate.word, {}), names[gain.candidate.joint]
        own[name] = own.get(name, 1.0) * (1.0 - gain.share)
    told = "; ".join(f"{word} ({', '.join(f'{name} by {percent(1 - x)} %' for name, x in own.items())})" for word, own in left.items())
    drifts = any(not gain.candidate.keys for gain in chosen)
    ending = ". What drifts was taken out of the torques and is no part of the robot" if drifts else ""
    return f"{usual}, and as they lower the held-out error: {told}{ending}."
