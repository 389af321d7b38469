"""Thresholds of simulation that decide something."""

from __future__ import annotations

from types import SimpleNamespace as Stub

import numpy as np

import steelyard as sy
from steelyard.simulation import Sensors
from steelyard.simulation.control import checked_torque
from steelyard.simulation.drives import require_within
from steelyard.simulation.dry_friction import FrictionSides, apply_stop_impulses
from steelyard.simulation.energy_balance import EnergyBalance
from steelyard.simulation.measurement import record
from tests.loop_robots import robot as linkage
from tests.thresholds.threshold import Threshold, sides


def blamed(speed: float) -> bool:
    """Whether a controller that returns NaN at such a speed is at fault.

    The other run of the batch is sound.
    """
    failures: dict[int, str] = {}
    qd = np.array([[0.0], [speed]])
    checked_torque(0.0, np.array([[1.0], [np.nan]]), np.zeros((2, 1)), qd, failures)
    return bool(failures)


def beyond(distance: float) -> bool:
    """Whether a start that far beyond a stop is refused."""
    robot = sy.load("puma560")
    q = np.zeros(robot.n)
    q[0] = robot.tree.limits[0].upper + distance
    try:
        require_within(robot, q)
    except sy.CallError:
        return True
    return False


def measured_by_what_moved(share: float) -> bool:
    """Whether an error is relative to the exchanged energy, where that is such a share of all."""
    zero = np.zeros((1, 2))
    balance = EnergyBalance(
        energy=np.ones((1, 2)),
        kinetic=np.full((1, 2), share),
        work=zero,
        heat=np.array([[0.0, 1e-12]]),
    )
    return balance.drift(np.array([True])) > 1e-6


def rubs(speed: float) -> bool:
    """Whether a joint of that speed has friction in a recorded motion."""
    result = sy.load("planar_2r").with_gravity((0.0, 0.0, 0.0)).with_friction(0.0, 1.0, 0.0)
    moving = Stub(
        t=np.arange(3.0),
        motion=lambda t: (
            np.zeros((len(t), 2)),
            np.full((len(t), 2), speed),
            np.zeros((len(t), 2)),
        ),
    )
    torque = record._torque(result, moving, np.arange(3.0), Sensors())  # type: ignore[arg-type]
    return bool(np.abs(torque).max() > 0.5)


def bounces(speed: float) -> bool:
    """Whether a joint that strikes its stop at a speed leaves it again."""
    robot = sy.load("puma560")
    q, u = [robot.tree.limits[0].upper + 1e-3] + [0.0] * 5, [speed] + [0.0] * 5
    M = robot.mass_matrix(np.array(q)).tolist()
    sides = FrictionSides([None] * 6, [0.0] * 6)
    return apply_stop_impulses(robot.tree, M, q, u, sides, [0.5] * 6)[0][0] < 0.0


def said_to_open(gap: float) -> bool:
    """Whether the status of a run says that its loops opened, by so much."""
    result = linkage("four_bar")
    whole = sy.simulate(result, seconds=0.002)
    whole.__dict__["gap"] = gap
    return "the loops do not stay closed" in whole.status


MODULE = "simulation.simulation_thresholds"
SIMULATION = [
    Threshold(f"{MODULE}:diverged_state", sides(blamed, 1e50), (True, False)),
    Threshold(f"{MODULE}:stop_overshoot", sides(beyond, 0.05)),
    Threshold(f"{MODULE}:still_energy", sides(measured_by_what_moved, 1e-9)),
    Threshold(f"{MODULE}:still_velocity", sides(rubs, 1e-9)),
    Threshold(f"{MODULE}:rest_velocity", sides(bounces, 0.02)),
    Threshold(f"{MODULE}:open_gap", sides(said_to_open, 1e-9)),
]
