"""Wrong robot: a log that no single fault brings to agree with the description."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..model.linear_model import Model
from .finding import Finding
from .mechanics.search import Step
from .mechanics.witness import Trial

Array = NDArray[np.float64]
CONTRADICTED = 0.25  # weight below which the description of a body contradicts the log
LITTLE = 6.0  # weight below which it says little about the log
MOST = 0.7  # of the bodies that the log shows
LARGER = 1.8  # factor of the clock up to which a robot of the same kind may be meant: three times as large
UNEXPLAINED = 0.2  # error over torque, without what varies faster than errors of a model
LEFT = 0.15  # the same, that is left with faults put right
MANY = 3  # faults at once are less likely than another robot
POINTS = 0.5  # of the bodies that are points, from which a description is a placeholder
SHOWN = 0.5  # of the ten numbers of a body that the log must tell to show it
THIN = 0.005  # [m] radius of gyration below which an inertia is a placeholder
OF_THE_ROBOT = ("swapped joints", "position sign", "torque sign", "currents", "gear ratio or torque constant", "torque scale",
                "gravity taken out", "gravity direction", "position offset", "clock", "coupling")  # fmt: skip
OF_ALL_TORQUES = ("currents", "torque scale", "gravity taken out", "gravity direction")


def is_placeholder(model: Model) -> bool:
    """Return whether the description's inertias are no measure: points at the joints, or all bodies of one mass and size."""
    count = len(model.robot.tree.bodies)
    pi = model.start[: 10 * count].reshape(count, 10)
    mass = np.maximum(pi[:, 0], 1e-12)
    centre = np.linalg.norm(pi[:, 1:4], axis=1) / mass
    gyration = np.sqrt(np.maximum((pi[:, 4] + pi[:, 7] + pi[:, 9]) / 2 / mass - centre**2, 0.0))
    points = (gyration < THIN) & (centre < THIN)
    alike = count > 2 and np.allclose(pi[:, 0], pi[0, 0], rtol=1e-6) and np.allclose(gyration, gyration[0], rtol=1e-3, atol=1e-6)
    return bool(np.mean(points) > POINTS or alike)


def wrong_robot(model: Model, best: Trial, steps: Sequence[Step], band: float) -> Finding | None:
    """Return the finding of a description that contradicts the log whatever is corrected; None if it does not.

    Several faults at once, or such that leave contradictions or errors, a clock and torques that are both scaled, as with a larger robot
    of the same kind, links that differ from the description by far, most of them, or torques that follow from no links at all.
    `band` is the part of all frequencies at which errors of a model vary.
    """
    faults = [step.found.fault for step in steps if step.found.fault in OF_THE_ROBOT and step.matters]
    if "currents" in faults:  # which has the gain of each joint
        faults = [fault for fault in faults if fault != "gear ratio or torque constant"]
    weight = best.agreement.weight[informed(best)]
    against = weight < CONTRADICTED
    slow = "clock" in faults and abs(float(np.log(best.hypothesis.clock))) < np.log(LARGER)
    similar = slow and ("torque scale" in faults or "currents" in faults)
    most = len(weight) > 0 and float(np.mean(weight < LITTLE)) >= MOST
    left = unexplained(best, band) > (LEFT if faults else UNEXPLAINED)
    if not (len(faults) >= MANY or similar or two_of_all(faults) or (faults and np.any(against)) or most or left):
        return None
    apart = np.linalg.norm(best.agreement.mean[: best.design.inner].reshape(-1, 10), axis=1) / 2
    worst = model.robot.tree.bodies[int(np.argmax(apart))].name
    tried = f" even with {', '.join(dict.fromkeys(faults))} put right" if faults else ""
    sentence = (
        f"The log does not agree with this robot's description{tried}: {worst} would have to differ from it by {np.max(apart):.0%} of its"
        f" own size, and the errors are {', '.join(f'{e:.0%}' for e in best.agreement.error)} of the torques. Is it another robot?"
    )
    return Finding("wrong robot", (), sentence, 0.9, "the description of the robot that was logged")


def two_of_all(faults: Sequence[str]) -> bool:
    """Return whether what all torques mean is wrong in two ways, or in one and a joint besides: less likely than another robot."""
    return any(fault in OF_ALL_TORQUES for fault in faults) and len(set(faults) - {"clock"}) > 1


def unexplained(trial: Trial, band: float) -> float:
    """Return the systematic error over the torque that the best links leave: that of the middle joint in use, or of all joints together.

    Noise, which varies faster than errors of a model, is left out.
    """
    found, used = trial.agreement, trial.design.counts > 0
    if not np.any(used):
        return 0.0
    systematic = (found.error * np.sqrt(np.minimum(band / found.independent, 1.0)))[used]
    size = np.linalg.norm(trial.torque, axis=0)[used]
    return max(float(np.sort(systematic)[len(systematic) // 2]), float(np.linalg.norm(systematic * size) / np.linalg.norm(size)))


def informed(trial: Trial) -> NDArray[np.bool_]:
    """Return which bodies the log shows at all, (bodies,)."""
    left = trial.agreement.variance[: trial.design.inner].reshape(-1, 10) * trial.agreement.weight[:, None]
    return np.asarray(np.sum(1.0 - left, axis=1) > SHOWN)
