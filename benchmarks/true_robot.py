"""The robot that stands there.

Like its description, but not equal to it, and with drives that the description does not know.
"""

from __future__ import annotations

import numpy as np

import steelyard as sy
from steelyard.checks.states import swing
from steelyard.errors import CallError
from steelyard.simulation import perturbed

SPREAD = 0.1  # of the logarithm of mass, size and centre between description and robot
FARTHEST = 0.2  # that mass and torque of the description may be off


def true_robot(robot: sy.Robot, seed: int) -> sy.Robot:
    """The robot that stands there.

    Perturbed links within 20 % of the description, with friction and rotors.
    """
    rough = with_drives(robot)
    for attempt in range(1000):
        true = perturbed(rough, 1000 * seed + attempt, SPREAD)
        if deviation(robot, true) <= FARTHEST:
            return true
    raise CallError(f"no robot within {FARTHEST:.0%} of {robot.name} was drawn in 1000 attempts")


def deviation(robot: sy.Robot, true: sy.Robot) -> float:
    """Return the larger of the relative differences in mass of any link and in torque."""
    states = swing(robot, 200)
    bodies = 10 * len(robot.tree.bodies)
    mass, other = robot.parameters[:bodies:10], true.parameters[:bodies:10]
    expected, torque = (
        x.without_friction().without_rotors().inverse_dynamics(*states) for x in (robot, true)
    )
    return max(
        float(np.max(np.abs(other / mass - 1)[mass > 0])),
        float(np.linalg.norm(torque - expected) / np.linalg.norm(expected)),
    )


def with_drives(robot: sy.Robot) -> sy.Robot:
    """The robot with friction and rotors, where it has none.

    15 % of each joint's torque Coulomb, 10 % viscous, rotors of 30 % of the
    inertia.
    """
    if any(name.endswith(".Fc") for name in robot.parameter_names):
        return robot
    q, qd, _ = states = swing(robot, 500)
    rms = np.sqrt(np.mean(robot.inverse_dynamics(*states) ** 2, axis=0))
    speed = np.sqrt(np.mean(qd**2, axis=0))
    inertia = np.mean(np.diagonal(robot.mass_matrix(q), axis1=1, axis2=2), axis=0)
    rough = robot.with_friction(
        viscous=(0.1 * rms / speed).tolist(), coulomb=(0.15 * rms).tolist(), offset=[0.0] * robot.n
    )
    return rough.with_rotors((0.3 * inertia).tolist())
