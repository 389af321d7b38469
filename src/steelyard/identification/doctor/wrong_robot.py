"""Wrong robot: a log that contradicts the description after every single correction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..model.linear_model import Model
from .doctor_thresholds import THRESHOLDS
from .fault_search.log_evidence import LogEvidence, Trial
from .fault_search.search import Step
from .finding import Finding

Array = NDArray[np.float64]
OF_THE_ROBOT = (
    "swapped joints",
    "position sign",
    "torque sign",
    "currents",
    "gear ratio or torque constant",
    "torque scale",
    "gravity taken out",
    "gravity direction",
    "position offset",
    "clock",
    "coupling",
)
OF_ALL_TORQUES = ("currents", "torque scale", "gravity taken out", "gravity direction")


def is_placeholder(model: Model) -> bool:
    """Return whether the description's inertias are placeholders.

    Points at the joints, or all bodies of one mass and size.
    """
    count = len(model.robot.tree.bodies)
    pi = model.start[: 10 * count].reshape(count, 10)
    mass = np.maximum(pi[:, 0], 1e-12)
    centre = np.linalg.norm(pi[:, 1:4], axis=1) / mass
    gyration = np.sqrt(np.maximum((pi[:, 4] + pi[:, 7] + pi[:, 9]) / 2 / mass - centre**2, 0.0))
    points = (gyration < THRESHOLDS.placeholder_radius) & (centre < THRESHOLDS.placeholder_radius)
    alike = (
        count > 2
        and np.allclose(pi[:, 0], pi[0, 0], rtol=1e-6)
        and np.allclose(gyration, gyration[0], rtol=1e-3, atol=1e-6)
    )
    return bool(np.mean(points) > THRESHOLDS.placeholder_share or alike)


def wrong_robot(
    model: Model,
    best: Trial,
    steps: Sequence[Step],
    band: float,
    cancellation: Array | float = 1.0,
) -> Finding | None:
    """Return a finding if the description contradicts the log after every correction, else None.

    This is so for several faults at once, faults that leave contradictions or errors, a clock and
    torques that are both scaled (a larger similar robot), most links far from the description, or
    torques that no links explain. `band` is the share of all frequencies at which model errors
    vary, `cancellation` (n,) the torque of each joint over the size of its terms.
    """
    faults = [
        step.hypothesis.fault
        for step in steps
        if step.hypothesis.fault in OF_THE_ROBOT and step.matters
    ]
    if "currents" in faults:  # which has the gain of each joint
        faults = [fault for fault in faults if fault != "gear ratio or torque constant"]
    if best.regression.n == 1:  # one joint has the same equation of motion in every robot
        return None
    weight = best.agreement.weight[informed_bodies(best)]
    against = weight < THRESHOLDS.contradicted_weight
    slow = "clock" in faults and abs(float(np.log(best.correction.clock))) < np.log(
        THRESHOLDS.similar_clock
    )
    similar = slow and ("torque scale" in faults or "currents" in faults)
    most = (
        len(weight) > 0
        and float(np.mean(weight < THRESHOLDS.low_weight)) >= THRESHOLDS.low_weight_share
    )
    has_error = systematic_error(best, band, cancellation) > (
        THRESHOLDS.wrong_robot_error_with_faults if faults else THRESHOLDS.wrong_robot_error
    )
    if not (
        len(faults) >= THRESHOLDS.most_faults
        or similar
        or two_torque_faults(faults)
        or (faults and np.any(against))
        or most
        or has_error
    ):
        return None
    apart = np.linalg.norm(best.agreement.mean[: best.regression.inner].reshape(-1, 10), axis=1) / 2
    worst = model.robot.tree.bodies[int(np.argmax(apart))].name
    tried = f" even with {', '.join(dict.fromkeys(faults))} corrected" if faults else ""
    sentence = (
        f"The log contradicts this robot's description{tried}: {worst} would differ from it by"
        f" {np.max(apart):.0%} of its size, and the torque errors are"
        f" {', '.join(f'{e:.0%}' for e in best.agreement.error)}. Is it the log of another robot?"
    )
    return Finding("wrong robot", (), sentence, 0.9, "the description of the logged robot")


def two_torque_faults(faults: Sequence[str]) -> bool:
    """Return whether what all torques mean is wrong in two ways, or in one and a joint besides.

    Less likely than another robot.
    """
    return any(fault in OF_ALL_TORQUES for fault in faults) and len(set(faults) - {"clock"}) > 1


def cancellation(log_evidence: LogEvidence, trial: Trial) -> Array:
    """Return the torque of each joint over the size of its terms, (n,), at most 1.

    Near a resonance torque is a small difference of inertial and gravity torques: an error of a
    few percent of these terms is a large part of the torque, and shows no other robot.
    """
    regression, u = trial.regression, trial.agreement.mean
    unknowns = log_evidence.unknowns
    q = trial.correction.states(log_evidence.thinned_log)[0]
    bodies = np.concatenate([u[: regression.inner], np.zeros(regression.K - regression.inner)])
    of_bodies = regression.predicted(bodies)
    friction = regression.predicted(u) - of_bodies
    pi = unknowns.origin + unknowns.to_pi @ bodies[: unknowns.p]
    keep = log_evidence.keep(trial.correction)
    gravity = keep * unknowns.model.gravity_torque(unknowns.model.base.values(pi), q)
    terms = sum(np.sum(x**2, axis=0) for x in (gravity, of_bodies - gravity, friction))
    return np.asarray(
        np.minimum(np.linalg.norm(trial.torque, axis=0) / np.sqrt(np.maximum(terms, 1e-300)), 1.0)
    )


def described_cancellation(log_evidence: LogEvidence, trial: Trial) -> Array:
    """Return the torque of each joint over the size of gravity and inertia as described, (n,)."""
    unknowns = log_evidence.unknowns
    q = trial.correction.states(log_evidence.thinned_log)[0]
    bodies = trial.regression.predicted(np.zeros(trial.regression.K))
    keep = log_evidence.keep(trial.correction)
    gravity = keep * unknowns.model.gravity_torque(unknowns.model.base.values(unknowns.origin), q)
    terms = np.sum(gravity**2, axis=0) + np.sum((bodies - gravity) ** 2, axis=0)
    return np.asarray(np.linalg.norm(trial.torque, axis=0) / np.sqrt(np.maximum(terms, 1e-300)))


def systematic_error(trial: Trial, band: float, cancellation: Array | float = 1.0) -> float:
    """Return the systematic error over the torque with the best links.

    It is the larger of the median over the used joints and the total. Noise, which varies faster
    than model errors, is excluded. Errors are over the size of the terms where these cancel.
    """
    agreement, used = trial.agreement, trial.regression.counts > 0
    if not np.any(used):
        return 0.0
    slow = np.sqrt(np.minimum(band / agreement.independent, 1.0))
    systematic = (agreement.error * slow * cancellation)[used]
    size = np.linalg.norm(trial.torque, axis=0)[used]
    return max(
        float(np.sort(systematic)[len(systematic) // 2]),
        float(np.linalg.norm(systematic * size) / np.linalg.norm(size)),
    )


def informed_bodies(trial: Trial) -> NDArray[np.bool_]:
    """Return which bodies the log shows at all, (bodies,)."""
    share = (
        trial.agreement.variance[: trial.regression.inner].reshape(-1, 10)
        * trial.agreement.weight[:, None]
    )
    return np.asarray(np.sum(1.0 - share, axis=1) > THRESHOLDS.informed_numbers)
