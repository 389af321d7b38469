"""Delta and Stewart platform against their explicit inverse dynamics.

Virtual work on platform, arms and legs, in vectors.

Geometry and masses are written down here again. Tsai 1999, "Robot Analysis", sections 10.3 (virtual
work) and 10.4 (Stewart platform).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import steelyard as sy
from tests.loop_robots import robot
from tests.random_robots import close

GRAVITY = np.array([0.0, 0.0, -9.81])
Z = np.array([0.0, 0.0, 1.0])


def delta_torques(p: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, ...]:
    """Angles, rates, accelerations and torques of the arms for a motion of the platform."""
    angles, rates, accelerations = np.zeros((3, 3))
    rods, knees, parts = np.zeros((3, 3, 3)), np.zeros((3, 3)), []
    for k in range(3):
        out = np.array([np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3), 0.0])
        w = p + 0.05 * out - 0.2 * out
        A, B, s = w @ out, -w @ Z, (w @ w + 0.25**2 - 0.58**2) / 0.5
        angles[k] = t = np.arctan2(B, A) - np.arccos(s / np.hypot(A, B))
        arm, lead = np.cos(t) * out - np.sin(t) * Z, -np.sin(t) * out - np.cos(t) * Z
        rods[0, k], knees[k] = w - 0.25 * arm, 0.25 * lead
        rates[k] = rods[0, k] @ v / (rods[0, k] @ knees[k])
        rods[1, k] = v - knees[k] * rates[k]
        turning = -0.25 * arm * rates[k] ** 2
        accelerations[k] = (rods[0, k] @ (a - turning) + rods[1, k] @ rods[1, k]) / (
            rods[0, k] @ knees[k]
        )
        knee = knees[k] * accelerations[k] + turning
        rods[2, k] = a - knee
        parts.append(knee)
    J = np.linalg.solve(rods[0], np.diag(np.sum(rods[0] * knees, axis=1)))  # v = J rates
    arm_inertia = 0.006 + 0.9 * 0.11**2 + 0.02  # about the hip, with the rotor
    tau = (
        arm_inertia * accelerations
        - 0.9 * 9.81 * 0.11 * np.cos(angles)
        + 0.05 * rates
        + J.T @ (0.6 * (a - GRAVITY))
    )
    for k in range(3):
        u, _, udd = rods[:, k]
        lead = np.zeros((3, 3))
        lead[:, k] = knees[k]
        middle = parts[k] + 0.5 * udd
        tau += 0.4 * (0.5 * (J + lead)).T @ (middle - GRAVITY)
        tau += np.cross(u, (J - lead).T) @ (0.0112133 * np.cross(u, udd) / 0.58**2) / 0.58**2
    return angles, rates, accelerations, tau


def test_the_delta_obeys_its_explicit_inverse_dynamics() -> None:
    result, rng = robot("delta"), np.random.default_rng(8)
    names = list(result.joint_names)
    arms, centre = (
        [names.index(f"arm{k}") for k in (1, 2, 3)],
        [names.index(axis) for axis in "xyz"],
    )
    q, qd, qdd, tau = np.zeros((4, 6, result.n))
    for k in range(6):
        p, v, a = rng.uniform(-1, 1, (3, 3)) * [[0.1], [0.8], [5.0]]
        q[k, arms], qd[k, arms], qdd[k, arms], tau[k, arms] = delta_torques(
            p + [0.0, 0.0, -0.42], v, a
        )
        q[k, centre], qd[k, centre], qdd[k, centre] = p, v, a
    driven = [names[c] for c in arms]
    full = result.assemble(q, hold=[*driven, *"xyz"])
    rates = result.consistent_velocity(full, qd, hold=driven)
    accelerations = result.consistent_acceleration(full, rates, qdd, hold=driven)
    close(rates[:, centre], qd[:, centre], 1e-10)
    close(accelerations[:, centre], qdd[:, centre], 1e-10)
    close(result.constrained_inverse_dynamics(full, rates, accelerations).tau, tau, 1e-10)


def hexagons() -> tuple[np.ndarray, np.ndarray]:
    """Joints of the base, radius 0.6 m, and of the platform, 0.4 m, in pairs."""
    pairs = [(120 * (k // 2), 1 if k % 2 else -1) for k in range(6)]
    circle = [np.radians([point + side * half for point, side in pairs]) for half in (10, 50)]
    return tuple(
        r * np.stack([np.cos(t), np.sin(t), 0 * t], axis=1)
        for r, t in zip((0.6, 0.4), circle, strict=True)
    )  # type: ignore[return-value]


def cross_matrix(x: np.ndarray) -> np.ndarray:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def stewart_forces(
    R: np.ndarray, p: np.ndarray, v: np.ndarray, a: np.ndarray, w: np.ndarray, dw: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Lengths beyond those at zero, rates and forces of the six legs for a platform motion."""
    base, top = hexagons()
    zero = np.linalg.norm(top + 0.8 * Z - base, axis=1)
    inertia = R @ np.diag([0.3, 0.3, 0.55]) @ R.T
    lever = R @ [0.0, 0.0, 0.05]
    force = 8.0 * (a + np.cross(dw, lever) + np.cross(w, np.cross(w, lever)) - GRAVITY)
    work = np.concatenate([force, inertia @ dw + np.cross(w, inertia @ w) + np.cross(lever, force)])
    J, lengths = np.zeros((6, 6)), np.zeros(6)
    for k in range(6):
        r = R @ top[k]
        u, ud, udd = (
            p + r - base[k],
            v + np.cross(w, r),
            a + np.cross(dw, r) + np.cross(w, np.cross(w, r)),
        )
        L = lengths[k] = np.linalg.norm(u)
        s = u / L
        # velocity of the ball joint by the platform's twist
        point = np.hstack([np.eye(3), -cross_matrix(r)])
        J[k] = s @ point
        turn, turn_by = np.cross(u, ud) / L**2, cross_matrix(u) @ point / L**2
        rate, spin = s @ ud, np.cross(u, udd) / L**2 - 2 * (s @ ud) / L * np.cross(u, ud) / L**2
        faster = s @ udd + L * (turn @ turn)
        for mass, moment, far, grows in (
            (2.0, 0.04, 0.25, 0.0),
            (1.2, 0.02, L - zero[k] + 0.6, 1.0),
        ):
            across = np.cross(spin, s) + np.cross(turn, np.cross(turn, s))
            acceleration = grows * faster * s + 2 * grows * rate * np.cross(turn, s) + far * across
            by = grows * np.outer(s, J[k]) - far * cross_matrix(s) @ turn_by
            work += mass * by.T @ (acceleration - GRAVITY) + moment * turn_by.T @ spin
    return lengths - zero, J @ np.concatenate([v, w]), np.linalg.solve(J.T, work)


def test_the_stewart_platform_obeys_its_explicit_inverse_dynamics() -> None:
    result, rng = robot("stewart"), np.random.default_rng(9)
    names = list(result.joint_names)
    pistons, platform = (
        [names.index(f"piston{k}") for k in range(1, 7)],
        [names.index(x) for x in ("x", "y", "z", "yaw", "pitch", "roll")],
    )
    q, qd, qdd, tau = np.zeros((4, 4, result.n))
    for k in range(4):
        p, v, a, angles, rates, faster = (
            rng.uniform(-1, 1, (6, 3)) * np.array([0.1, 0.5, 2.0, 0.2, 0.5, 2.0])[:, None]
        )
        R, w, dw = turned(angles, rates, faster)
        q[k, pistons], qd[k, pistons], tau[k, pistons] = stewart_forces(R, p + 0.8 * Z, v, a, w, dw)
        for row, linear, angular in ((q, p, angles), (qd, v, rates), (qdd, a, faster)):
            row[k, platform] = [*linear, *angular]
    fixed = [names[c] for c in platform]
    full = result.assemble(q, hold=fixed)
    close(full[:, pistons], q[:, pistons], 1e-10)
    velocities = result.consistent_velocity(full, qd, hold=fixed)
    close(velocities[:, pistons], qd[:, pistons], 1e-10)
    accelerations = result.consistent_acceleration(full, velocities, qdd, hold=fixed)
    close(result.constrained_inverse_dynamics(full, velocities, accelerations).tau, tau, 1e-9)


def turned(
    angles: np.ndarray, rates: np.ndarray, faster: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotation, angular velocity and acceleration of a body that yaws, then pitches, then rolls."""
    (cy, cp, cr), (sy_, sp, sr) = np.cos(angles), np.sin(angles)
    yaw = np.array([[cy, -sy_, 0], [sy_, cy, 0], [0, 0, 1]])
    pitch = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    roll = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    axes = [Z, yaw @ [0, 1, 0], yaw @ pitch @ [1, 0, 0]]
    before = [0 * Z, rates[0] * Z, rates[0] * Z + rates[1] * axes[1]]
    w = sum(rate * axis for rate, axis in zip(rates, axes, strict=True))
    dw = sum(
        f * axis + rate * np.cross(b, axis)
        for f, rate, axis, b in zip(faster, rates, axes, before, strict=True)
    )
    return yaw @ pitch @ roll, np.asarray(w), np.asarray(dw)


def test_inverse_kinematics_of_the_platforms_is_explicit() -> None:
    """Arms of the Delta and legs of the Stewart platform for poses of their platforms."""
    rng = np.random.default_rng(9)
    result, T = robot("delta"), np.tile(np.eye(4), (20, 1, 1))
    T[:, :3, 3] = rng.uniform(-0.06, 0.06, (20, 3)) + [0.0, 0.0, -0.42]
    solutions = sy.inverse_kinematics(result, T, "platform")
    arms = [result.joint_names.index(f"arm{k}") for k in (1, 2, 3)]
    explicit = np.array([delta_torques(pose[:3, 3], np.zeros(3), np.zeros(3))[0] for pose in T])
    assert solutions.solved.all()
    close(solutions.best[:, arms], explicit, 1e-10)
    close(result.closure(solutions.best), np.zeros((20, 9)), 1e-12)

    result, (base, top) = robot("stewart"), hexagons()
    legs = [result.joint_names.index(f"piston{k}") for k in range(1, 7)]
    for k in range(20):
        T[k, :3, :3] = Rotation.from_rotvec(rng.uniform(-0.3, 0.3, 3)).as_matrix()
    T[:, :3, 3] = rng.uniform(-0.1, 0.1, (20, 3)) + [0.0, 0.0, 0.8]
    solutions = sy.inverse_kinematics(result, T, "platform")
    lengths = np.linalg.norm(top @ T[:, :3, :3].swapaxes(1, 2) + T[:, None, :3, 3] - base, axis=-1)
    assert solutions.solved.all()
    close(solutions.best[:, legs], lengths - np.linalg.norm(top + 0.8 * Z - base, axis=1), 1e-10)


def test_a_pose_that_no_platform_has() -> None:
    """A Delta's platform does not turn, and does not go far.

    The nearest closed configuration is named.
    """
    result, turned = robot("delta"), np.eye(4)
    turned[:3, :3], turned[:3, 3] = (
        Rotation.from_rotvec([0.0, 0.0, 0.4]).as_matrix(),
        [
            0.02,
            0.0,
            -0.42,
        ],
    )
    solutions = sy.inverse_kinematics(
        result, np.stack([turned, np.eye(4) + np.eye(4, k=3) * 3.0]), "platform"
    )
    assert not solutions.solved.any()
    close(result.closure(solutions.nearest.q), np.zeros((2, 9)), 1e-10)
    close(solutions.nearest.angle, [0.4, 0.0], 1e-6)
    assert solutions.nearest.distance[0] < 1e-6
    assert 2.0 < solutions.nearest.distance[1] < 3.0
    assert "2 out of reach" in solutions.status
    with pytest.raises(sy.ProblemError, match="loops are closed numerically; method='numerical'"):
        sy.inverse_kinematics(result, turned, "platform", method="closed form")
