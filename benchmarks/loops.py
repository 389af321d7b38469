"""python -m benchmarks.loops.

Linkages and a Delta against Pinocchio's constraint dynamics and MuJoCo's equalities, in one run.

Steps a second on one thread, the gap of the loops and the drift of energy over 10 s at 1 ms, and
inverse dynamics with multipliers. Pinocchio: classical Runge-Kutta in a loop of Python with
Baumgarte's stabilisation (kp, kd below). MuJoCo: `mujoco.rollout` with RK4. Without friction and
rotors, from rest.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import pinocchio as pin

import steelyard as sy
from benchmarks.machine import this_machine
from benchmarks.mujoco_model import add_bodies
from steelyard.simulation import perturbed

RUNS, STEPS, ROUNDS, STEP, SECONDS = 2048, 50, 5, 1e-3, 10.0
KP, KD = 1e4, 200.0  # of Baumgarte's stabilisation [1/s2], [1/s]


def best_time(run: Callable[[], object]) -> float:
    """The best of some rounds [s]."""
    run()
    best = np.inf
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


class Pinocchio:
    """Return the robot as Pinocchio reads it from our URDF, with three-row rigid constraints."""

    def __init__(self, robot: sy.Robot) -> None:
        with tempfile.TemporaryDirectory() as folder:
            robot.to_urdf(Path(folder) / "robot.urdf")
            self.model = pin.buildModelFromUrdf(str(Path(folder) / "robot.urdf"))
        self.robot, self.model.gravity.linear = robot, np.array(robot.gravity)
        self.order = [
            self.model.joints[self.model.getJointId(name)].idx_v for name in robot.joint_names
        ]
        self.closures, self.found = (
            pin.StdVec_RigidConstraintModel(),
            pin.StdVec_RigidConstraintData(),
        )
        for loop in robot.mechanism.loops:
            self.closures.append(self._closure(loop))
            self.found.append(self.closures[len(self.closures) - 1].createData())
        self.data, self.settings = self.model.createData(), pin.ProximalSettings(1e-12, 1e-10, 20)
        pin.initConstraintDynamics(self.model, self.data, self.closures, self.found)

    def _closure(self, loop: Any) -> pin.RigidConstraintModel:
        frames = [self.model.frames[self.model.getFrameId(link)] for link in (loop.a, loop.b)]
        point = [
            frame.placement * pin.SE3(np.eye(3), np.array(pose.p))
            for frame, pose in zip(frames, (loop.at_a, loop.at_b), strict=True)
        ]
        result = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D,
            self.model,
            frames[0].parentJoint,
            point[0],
            frames[1].parentJoint,
            point[1],
        )
        result.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(KP, KD))
        return result

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return pin.constraintDynamics(
            self.model,
            self.data,
            q,
            v,
            np.zeros(self.model.nv),
            self.closures,
            self.found,
            self.settings,
        )

    def step(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Classical Runge-Kutta."""
        move, h = pin.integrate, STEP
        a1 = self.rate(q, v)
        v2 = v + h / 2 * a1
        a2 = self.rate(move(self.model, q, h / 2 * v), v2)
        v3 = v + h / 2 * a2
        a3 = self.rate(move(self.model, q, h / 2 * v2), v3)
        v4 = v + h * a3
        a4 = self.rate(move(self.model, q, h * v3), v4)
        return move(self.model, q, h / 6 * (v + 2 * v2 + 2 * v3 + v4)), v + h / 6 * (
            a1 + 2 * a2 + 2 * a3 + a4
        )

    def run(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities of our joints every tenth step, from zero at rest.

        Angles are summed up from the velocities' turns.
        """
        q, v, selected = pin.neutral(self.model), np.zeros(self.model.nv), []
        for k in range(steps + 1):
            if k % 10 == 0:
                selected.append(
                    (
                        pin.difference(self.model, pin.neutral(self.model), q)[self.order],
                        v[self.order],
                    )
                )
            q, v = self.step(q, v)
        positions, velocities = zip(*selected, strict=True)
        return np.array(positions), np.array(velocities)


def in_mujoco(robot: sy.Robot) -> mujoco.MjModel:
    """Return the robot in MuJoCo with `connect` equalities, as stiff as the step allows."""
    spec = mujoco.MjSpec()
    add_bodies(spec, robot.tree)
    for loop in robot.mechanism.loops:
        equality = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_CONNECT,
            objtype=mujoco.mjtObj.mjOBJ_BODY,
            name1=loop.a,
            name2=loop.b,
        )
        equality.data[:3], equality.data[3:6] = loop.at_a.p, loop.at_b.p
        equality.solref[:2], equality.solimp[:3] = (2 * STEP, 1.0), (0.9999, 0.9999, 0.001)
    model = spec.compile()
    model.opt.integrator, model.opt.timestep = int(mujoco.mjtIntegrator.mjINT_RK4), STEP
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.opt.tolerance, model.opt.iterations = 1e-12, 50
    return model


def rollout(model: mujoco.MjModel, q0: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities after every step, (runs, steps, n)."""
    state = np.zeros((len(q0), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    state[:, 1 : 1 + model.nq] = q0
    result = mujoco.rollout.rollout(model, mujoco.MjData(model), state, nstep=steps)[0]
    return result[..., 1 : 1 + model.nq], result[..., 1 + model.nq : 1 + model.nq + model.nv]


def errors(robot: sy.Robot, q: np.ndarray, qd: np.ndarray) -> tuple[float, float]:
    """The largest gap [m] and the drift of energy over the largest kinetic energy."""
    kinetic = robot.kinetic_energy(q, qd)
    energy = kinetic + robot.potential_energy(q)
    return float(np.abs(robot.closure(q)).max()), float(
        np.abs(energy - energy[0]).max() / kinetic.max()
    )


def compare(robot: sy.Robot) -> dict[str, tuple[float, float, float]]:
    """Steps a second, gap and drift by method."""
    steps, rows = round(SECONDS / STEP), {}
    q0 = robot.assemble(0.03 * np.random.default_rng(0).normal(size=(RUNS, robot.n)))
    for method in ("rk4", "rk8", "euler"):
        final_states = partial(
            sy.simulate,
            robot,
            q0=q0,
            seconds=STEPS * STEP,
            step=STEP,
            every=STEPS,
            method=method,
        )
        speed = RUNS * STEPS / best_time(final_states)
        run = sy.simulate(
            robot, q0=np.zeros(robot.n), seconds=SECONDS, step=STEP, method=method, every=10
        )
        rows[f"steelyard {method}"] = (speed, *errors(robot, run.q, run.qd))
    if all(body.inertia.m for body in robot.tree.bodies):  # MuJoCo has no massless links
        model, zero = in_mujoco(robot), np.zeros((1, robot.n))
        speed = 128 * STEPS / best_time(lambda: rollout(model, q0[:128], STEPS))
        rows["MuJoCo RK4"] = (speed, *errors(robot, *(x[0] for x in rollout(model, zero, steps))))
    peer = Pinocchio(robot)
    speed = 200 / best_time(lambda: peer.run(200))
    rows["Pinocchio RK4, Baumgarte"] = (speed, *errors(robot, *peer.run(steps)))
    return rows


def inverse_time(robot: sy.Robot) -> float:
    """Inverse dynamics with multipliers, a sample [s], in a batch of 10 000."""
    q = robot.assemble(0.03 * np.random.default_rng(0).normal(size=(10_000, robot.n)))
    qd = robot.consistent_velocity(q, np.ones_like(q))
    qdd = robot.consistent_acceleration(q, qd, np.ones_like(q))
    return best_time(lambda: robot.constrained_inverse_dynamics(q, qd, qdd)) / len(q)


def agreement(robot: sy.Robot, q0: np.ndarray) -> float:
    """Return the largest relative difference from Pinocchio's constraint dynamics."""
    peer, rng = Pinocchio(robot), np.random.default_rng(1)
    q = robot.assemble(q0[:20])
    qd = robot.consistent_velocity(q, rng.normal(size=q.shape))
    ours, theirs = robot.constrained_forward_dynamics(q, qd, np.zeros_like(q))[0], np.empty_like(q)
    turn, speed = np.empty(peer.model.nv), np.empty(peer.model.nv)
    for k in range(len(q)):
        turn[peer.order], speed[peer.order] = q[k], qd[k]
        theirs[k] = peer.rate(pin.integrate(peer.model, pin.neutral(peer.model), turn), speed)[
            peer.order
        ]
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def redundant() -> tuple[float, float]:
    """Return the relative residual of four drives' torques, and their excess."""
    robot = sy.load("planar_3rrr")
    q = robot.assemble(0.1 * np.random.default_rng(2).normal(size=(200, robot.n)))
    qd = robot.consistent_velocity(q, np.ones_like(q))
    qdd = robot.consistent_acceleration(q, qd, np.ones_like(q))
    a, force = robot.constrained_inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd)
    remaining = force - a.tau - np.einsum("bij,bi->bj", robot.closure_jacobian(q), a.multipliers)
    driven, N = list(robot.tree.driven), robot.freedom_basis(q)
    least = np.einsum(
        "bij,bj->bi",
        np.linalg.pinv(np.swapaxes(N[:, driven], -1, -2)),
        np.einsum("bij,bi->bj", N, force),
    )
    return float(np.abs(remaining).max() / np.abs(force).max()), float(
        np.abs(a.tau[:, driven] - least).max() / np.abs(least).max()
    )


def identified() -> tuple[float, float]:
    """Return relative errors of a Delta's drive torques on held-out motion, before and after."""
    described = sy.load("delta")
    true = perturbed(described, seed=3)
    fit = sy.identify(described, _drive_log(true, 0, 0.005))
    validation = fit.validate(_drive_log(true, 5, 0.0))
    assert validation.before is not None
    return validation.before.total_relative_error, validation.total_relative_error


def _drive_log(robot: sy.Robot, seed: int, noise: float) -> sy.Log:
    """Drives on five harmonics for 4 s; what they measure, with noise."""
    rng, k, t = np.random.default_rng(seed), np.arange(1, 6), np.arange(0.0, 4.0, 0.01)
    names, driven, w = robot.driven_joints, list(robot.tree.driven), 2 * np.pi / 4.0
    a, b = rng.normal(size=(2, 5, len(driven))) * 0.15
    s, c = np.sin(w * np.outer(t, k)), np.cos(w * np.outer(t, k))
    q, qd, qdd = np.zeros((3, len(t), robot.n))
    q[:, driven], qd[:, driven] = (s / k) @ a + ((c - 1) / k) @ b, w * (c @ a - s @ b)
    qdd[:, driven] = -w * w * ((s * k) @ a + (c * k) @ b)
    q = robot.assemble(q, hold=names)
    qd = robot.consistent_velocity(q, qd, hold=names)
    tau = robot.constrained_inverse_dynamics(
        q, qd, robot.consistent_acceleration(q, qd, qdd, hold=names)
    ).tau[:, driven]
    return sy.Log(
        t=t,
        q=q[:, driven],
        tau=tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape),
        joint_names=names,
    )


def main() -> int:
    """Print the tables; the exit code says whether every claim was met."""
    warnings.simplefilter("ignore")
    print(this_machine())
    met = True
    with sy.threads(1):
        for name in ("four_bar", "five_bar", "delta"):
            robot = sy.load(name).without_friction().without_rotors()
            rows, inverse = compare(robot), inverse_time(robot)
            print(
                f"\n| {name} | steps/s | gap over {SECONDS:g} s [m] | drift of energy |\n| --- |"
                " --- | --- | --- |"
            )
            for row, (speed, gap, drift) in rows.items():
                print(f"| {row} | {speed:,.0f} | {gap:.1e} | {drift:.1e} |", flush=True)
            print(f"\ninverse dynamics with multipliers: {inverse * 1e9:.0f} ns a sample")
            apart = agreement(robot, 0.03 * np.random.default_rng(0).normal(size=(20, robot.n)))
            print(
                f"largest difference from Pinocchio's constraint dynamics: {apart:.1e} of the"
                " largest acceleration"
            )
            met &= apart <= 1e-6
            if name == "four_bar":
                speed, gap, _ = rows["steelyard rk4"]
                met &= (
                    speed >= 1e6
                    and gap <= 1e-12
                    and rows["steelyard rk8"][2] <= 1e-9
                    and inverse <= 200e-9
                )
        remaining, more = redundant()
        print(
            f"\nfour drives of a planar 3-RRR: residual of the equations {remaining:.1e},"
            f" {more:.1e} from"
            " the smallest torques (1e-10 claimed)"
        )
        before, after = identified()
        print(
            f"Delta from its drives, error on another motion: {100 * before:.1f} % before,"
            f" {100 * after:.2f} % after"
        )
        met &= remaining <= 1e-10 and more <= 1e-8 and after <= 0.02
    print("every claim is met" if met else "a claim is NOT met")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
