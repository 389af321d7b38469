"""python -m benchmarks.simulation.

Steps a second of a simulated UR5 against MuJoCo and Pinocchio in one run, and what is claimed.

Then how well energy and momentum are kept, and how exact sensitivities are. All on one thread, in
turns and by CPU time, so that what else runs on the machine counts little. MuJoCo runs its own
batch (`mujoco.rollout`) on the same bodies, without contacts; Pinocchio a loop in Python.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import pinocchio as pin

import steelyard as sy
from benchmarks.machine import this_machine
from benchmarks.mujoco_model import model_of
from benchmarks.targets import urdf
from steelyard.algebra.spatial import Inertia
from steelyard.algebra.vector import Symmetric
from steelyard.checks.pinocchio import PinocchioModel
from steelyard.mechanism.model import Link
from steelyard.simulation import ComputedTorque, Elastic, FeedForward, sensitivities

RUNS, STEPS, ROUNDS, STEP = 4096, 50, 15, 1e-3
TWIST = np.array([0.1, 0.0, 0.0, 0.2, 0.1, -0.3])
# (what, peer): at least this many times faster
CLAIMED = {("rk4", "mujoco rk4"): 120.0, ("euler", "mujoco euler"): 75.0}


def steps_per_second(rows: dict[str, tuple[Callable[[], object], int]]) -> dict[str, float]:
    """The best of some rounds of each."""
    best = dict.fromkeys(rows, np.inf)
    for run, _ in rows.values():
        run()
    for _ in range(ROUNDS):
        for name, (run, _) in rows.items():
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    return {name: steps / best[name] for name, (_, steps) in rows.items()}


def ours(
    robot: sy.Robot, method: str, q0: np.ndarray, controller: Any = None, **more: object
) -> Callable[[], object]:
    """Final states only."""
    options = {"seconds": STEPS * STEP, "step": STEP, "every": STEPS, **more}
    keywords: dict[str, Any] = {"method": method, **options}
    return lambda: sy.simulate(robot, controller, q0, **keywords)


def floating(robot: sy.Robot) -> sy.Robot:
    """The robot without weight on a body of 40 kg that nothing holds."""
    mechanism = robot.with_gravity((0.0, 0.0, 0.0)).mechanism
    body = Inertia(40.0, (0.0, 0.0, 0.0), Symmetric(3.0, 0.0, 0.0, 3.0, 0.0, 3.0))
    return sy.Robot(
        replace(
            mechanism,
            links=tuple(
                Link(link.name, body) if link.name == mechanism.root else link
                for link in mechanism.links
            ),
        )
    )


def by_mujoco(
    robot: sy.Robot, integrator: int, q0: np.ndarray, free: bool = False
) -> Callable[[], object]:
    model = model_of(robot.tree, free)
    model.opt.integrator, model.opt.timestep = integrator, STEP
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    state = np.zeros((len(q0), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    state[:, 1 + model.nq - q0.shape[1] : 1 + model.nq] = q0
    if free:
        state[:, 4] = 1.0  # the quaternion's w
    return lambda: mujoco.rollout.rollout(model, data, state, nstep=STEPS)


def by_pinocchio(robot: sy.Robot, q0: np.ndarray, control: bool) -> Callable[[], object]:
    """Semi-implicit Euler; with control, PD and gravity in Python."""
    result = PinocchioModel(robot)
    model, data, zero = result.model, result.data, np.zeros(robot.n)

    def run() -> None:
        q, qd = q0[0].copy(), zero.copy()
        for _ in range(STEPS * 20):
            tau = (
                pin.computeGeneralizedGravity(model, data, q) - 40 * q - 8 * qd if control else zero
            )
            qd = qd + STEP * pin.aba(model, data, q, qd, tau)
            q = q + STEP * qd

    return run


def one_with_python(robot: sy.Robot, q0: np.ndarray) -> Callable[[], object]:
    def law(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return robot.gravity_torque(q) - 40 * q - 8 * qd

    return lambda: sy.simulate(
        robot, law, q0[0], method="euler", seconds=STEPS * 20 * STEP, step=STEP, every=STEPS * 20
    )


def main() -> int:
    """Print the table; the exit code says whether every claim was met."""
    warnings.simplefilter("ignore")
    robot = sy.load(urdf("ur5")).without_friction()
    q0 = np.random.default_rng(0).uniform(-1.5, 1.5, (RUNS, robot.n))
    rk4, euler = int(mujoco.mjtIntegrator.mjINT_RK4), int(mujoco.mjtIntegrator.mjINT_EULER)
    rows: dict[str, tuple[Callable[[], object], int]] = {
        "rk4": (ours(robot, "rk4", q0), RUNS * STEPS),
        "euler": (ours(robot, "euler", q0), RUNS * STEPS),
        "rk8": (ours(robot, "rk8", q0), RUNS * STEPS),
        "rk4, computed torque": (
            ours(robot, "rk4", q0, ComputedTorque(np.zeros(robot.n), 100.0, 20.0)),
            RUNS * STEPS,
        ),
        "rk4, dry friction": (ours(robot.with_friction(1.0, 2.0, 0.0), "rk4", q0), RUNS * STEPS),
        "rk4, free base": (ours(floating(robot), "rk4", q0, base_twist0=TWIST), RUNS * STEPS),
        "rk4, elastic joints": (
            ours(robot, "rk4", q0, drive=Elastic(1e4, 10.0, 0.5)),
            RUNS * STEPS,
        ),
        "mujoco rk4, free base": (
            by_mujoco(floating(robot), rk4, q0[:256], free=True),
            256 * STEPS,
        ),
        "mujoco rk4": (by_mujoco(robot, rk4, q0[:256]), 256 * STEPS),
        "mujoco euler": (by_mujoco(robot, euler, q0[:256]), 256 * STEPS),
        "one run, Python controller": (one_with_python(robot, q0), STEPS * 20),
        "pinocchio loop, Python controller": (by_pinocchio(robot, q0, control=True), STEPS * 20),
        "pinocchio loop": (by_pinocchio(robot, q0, control=False), STEPS * 20),
    }
    print(this_machine())
    with sy.threads(1):
        speed = steps_per_second(rows)
    for name, value in speed.items():
        print(f"{name:36} {value / 1e6:9.3f} M steps/s", flush=True)
    met = True
    for (a, b), expected in CLAIMED.items():
        print(f"{a} / {b}: {speed[a] / speed[b]:.0f} times ({expected:g} claimed)")
        met &= speed[a] >= expected * speed[b]
    print(
        f"computed torque costs {speed['rk4'] / speed['rk4, computed torque']:.2f} times the bare"
        " step (2.2 allowed)"
    )
    alone = speed["one run, Python controller"] / speed["pinocchio loop, Python controller"]
    print(f"one run with a Python controller / Pinocchio's loop: {alone:.2f} times (1 claimed)")
    met &= exact(robot)
    return 0 if met and alone >= 1 and speed["rk4"] <= 2.2 * speed["rk4, computed torque"] else 1


def exact(robot: sy.Robot) -> bool:
    """Print how well energy, momentum and derivatives are kept; whether all claims are met."""
    q0 = np.array([0.3, -0.7, 1.1, 0.4, -0.9, 0.2])
    pendulum = sy.load("planar_2r").without_friction().with_gravity((0.0, -9.81, 0.0))
    double = sy.simulate(
        pendulum, q0=[1.2 - np.pi / 2, -0.8], seconds=10, step=2e-3, method="rk8", every=50
    )
    aside: Any = FeedForward([-1.2, 0.3])
    stuck = sy.simulate(
        pendulum.with_friction(0.5, 2.0, 0.0),
        aside,
        [0.2, 0.1],
        seconds=3,
        step=2e-3,
        method="adaptive",
    )
    swung = sy.simulate(robot, q0=q0, seconds=10, step=2e-3, method="rk8", every=50)
    law: Any = FeedForward(q0)
    with_friction = sy.simulate(
        robot.with_friction(1.0, 0.0, 0.0),
        law,
        1.1 * q0,
        seconds=10,
        step=2e-3,
        method="rk8",
        every=50,
    )

    def drives(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return 2 * np.sin(3 * t + np.arange(6)) - 0.5 * qd

    flown = sy.simulate(floating(robot), drives, q0, seconds=10, every=50, base_twist0=TWIST)
    result, e = sensitivities(robot, None, q0, seconds=0.2, every=200), 1e-6
    ends = [
        sy.simulate(robot, q0=q0 + method * e * np.eye(6), seconds=0.2, every=200).q[:, -1]
        for method in (-1, 1)
    ]
    difference = (ends[1] - ends[0]).T / (2 * e)
    figures = (
        ("energy of an undriven UR5, order 8 at 2 ms, 10 s", swung.drift, 1e-12),
        ("energy of an undriven double pendulum, order 8 at 2 ms, 10 s", double.drift, 1e-12),
        ("work minus energy and heat, with joints that stick, adaptive", stuck.drift, 1e-8),
        ("work minus energy and heat, with friction and a controller", with_friction.drift, 1e-8),
        (
            "momentum of a floating UR5 that moves about, 10 s [kg m/s]",
            float(np.abs(flown.momentum - flown.momentum[0]).max()),
            1e-10,
        ),
        (
            "sensitivities against differences of runs",
            float(np.abs(result.state[-1, :6, :6] - difference).max() / np.abs(difference).max()),
            1e-7,
        ),
    )
    for what, value, bar in figures:
        print(f"{what}: {value:.1e} ({bar:g} claimed)")
    return all(value <= bar for _, value, bar in figures)


if __name__ == "__main__":
    sys.exit(main())
