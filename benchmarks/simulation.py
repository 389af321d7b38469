"""python -m benchmarks.simulation: steps a second of a simulated UR5 against MuJoCo and Pinocchio in one run, and what is claimed.

All on one thread. MuJoCo runs its own batch (`mujoco.rollout`) on the same bodies, without contacts; Pinocchio a loop in Python.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial

import mujoco
import mujoco.rollout
import numpy as np
import pinocchio as pin

import steelyard as sy
from benchmarks.machine import this_machine
from benchmarks.mujoco_model import model_of
from benchmarks.targets import urdf
from steelyard.checks.pinocchio import PinocchioModel
from steelyard.simulation import ComputedTorque

RUNS, STEPS, ROUNDS, STEP = 4096, 50, 7, 1e-3
# (what, peer): at least this many times faster
CLAIMED = {("rk4", "mujoco rk4"): 120.0, ("euler", "mujoco euler"): 75.0}


def steps_per_second(run: Callable[[], object], steps: int) -> float:
    """The best of some rounds."""
    best = np.inf
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return steps / best


def ours(robot: sy.Robot, method: str, q0: np.ndarray, controller: object = None, runs: int = RUNS) -> Callable[[], object]:
    """Final states only."""
    options = {"seconds": STEPS * STEP, "step": STEP, "every": STEPS}
    return lambda: sy.simulate(robot, controller, q0[:runs], method=method, **options)  # type: ignore[arg-type]


def by_mujoco(robot: sy.Robot, integrator: int, q0: np.ndarray) -> Callable[[], object]:
    model = model_of(robot.tree)
    model.opt.integrator, model.opt.timestep = integrator, STEP
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    state = np.zeros((len(q0), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    state[:, 1 : 1 + model.nq] = q0
    return lambda: mujoco.rollout.rollout(model, data, state, nstep=STEPS)


def by_pinocchio(robot: sy.Robot, q0: np.ndarray, control: bool) -> Callable[[], object]:
    """Semi-implicit Euler; with control, PD and gravity in Python."""
    made = PinocchioModel(robot)
    model, data, zero = made.model, made.data, np.zeros(robot.n)

    def run() -> None:
        q, qd = q0[0].copy(), zero.copy()
        for _ in range(STEPS * 20):
            tau = pin.computeGeneralizedGravity(model, data, q) - 40 * q - 8 * qd if control else zero
            qd = qd + STEP * pin.aba(model, data, q, qd, tau)
            q = q + STEP * qd

    return run


def one_with_python(robot: sy.Robot, q0: np.ndarray) -> Callable[[], object]:
    def law(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return robot.gravity_torque(q) - 40 * q - 8 * qd

    return lambda: sy.simulate(robot, law, q0[0], method="euler", seconds=STEPS * 20 * STEP, step=STEP, every=STEPS * 20)


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
        "rk4, computed torque": (ours(robot, "rk4", q0, ComputedTorque(np.zeros(robot.n), 100.0, 20.0)), RUNS * STEPS),
        "rk4, dry friction": (ours(robot.with_friction(1.0, 2.0, 0.0), "rk4", q0), RUNS * STEPS),
        "mujoco rk4": (by_mujoco(robot, rk4, q0[:256]), 256 * STEPS),
        "mujoco euler": (by_mujoco(robot, euler, q0[:256]), 256 * STEPS),
        "one run, Python controller": (one_with_python(robot, q0), STEPS * 20),
        "pinocchio loop, Python controller": (by_pinocchio(robot, q0, control=True), STEPS * 20),
        "pinocchio loop": (by_pinocchio(robot, q0, control=False), STEPS * 20),
    }
    print(this_machine())
    speed = {}
    with sy.threads(1):
        for name, (run, steps) in rows.items():
            run()
            speed[name] = steps_per_second(partial(run), steps)
            print(f"{name:36} {speed[name] / 1e6:9.3f} M steps/s", flush=True)
    met = True
    for (a, b), wanted in CLAIMED.items():
        print(f"{a} / {b}: {speed[a] / speed[b]:.0f} times ({wanted:g} claimed)")
        met &= speed[a] >= wanted * speed[b]
    print(f"computed torque costs {speed['rk4'] / speed['rk4, computed torque']:.2f} times the bare step (2.2 allowed)")
    alone = speed["one run, Python controller"] / speed["pinocchio loop, Python controller"]
    print(f"one run with a Python controller / Pinocchio's loop: {alone:.2f} times (1 claimed)")
    return 0 if met and alone >= 1 and speed["rk4"] <= 2.2 * speed["rk4, computed torque"] else 1


if __name__ == "__main__":
    sys.exit(main())
