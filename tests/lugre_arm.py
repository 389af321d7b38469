"""A planar arm with LuGre friction in the vertical plane, written from its equations.

The plant shares no code with the package.

Canudas de Wit, Olsson, Astrom and Lischinsky, "A new model for control of systems with friction",
IEEE Trans. Automatic Control 40 (1995), eq. (1) to (3).
"""

from __future__ import annotations

from math import cos, exp, pi, sin

import numpy as np

import steelyard as sy
from steelyard.mechanism.formats.urdf.read_urdf import read_urdf

G = 9.81
STEP, EVERY = 5e-4, 4  # [s]; steps between samples, which come at 500 Hz
L1, C1, C2 = 0.5, 0.26, 0.18  # [m]
M1, M2, I1, I2 = 4.3, 2.2, 0.11, 0.035
STIFFNESS, DAMPING = (3000.0, 2000.0), (20.0, 12.0)  # of the bristles [N m/rad], [N m s/rad]
COULOMB, STATIC, STRIBECK, VISCOUS = (1.6, 0.9), (2.3, 1.4), (0.06, 0.08), (0.9, 0.4)
DESCRIPTION = f"""<robot name="lugre_arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.25 0 0"/><mass value="4.0"/>
    <inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0.2 0 0"/><mass value="2.5"/>
    <inertia ixx="0.005" iyy="0.04" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
  <axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" velocity="4" effort="150"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/>
  <origin xyz="{L1} 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" velocity="4" effort="60"/></joint>
</robot>
"""


def described() -> sy.Robot:
    """The arm as described: other masses than those of the plant, without friction."""
    return sy.Robot(read_urdf(DESCRIPTION))


def reference(seed: int) -> list[list[tuple[float, float, float]]]:
    """Frequencies [rad/s], amplitudes [rad] and phases [rad] of the commanded motion of each
    joint.
    """
    rng = np.random.default_rng(seed)
    size = (0.6, 0.8)
    return [
        [
            (2 * pi * 0.11 * k * rng.uniform(0.9, 1.1), size[j] / k, rng.uniform(0, 2 * pi))
            for k in range(1, 5)
        ]
        for j in range(2)
    ]


def simulate(
    seconds: float, seed: int, push: tuple[float, int, float] | None = None
) -> tuple[np.ndarray, ...]:
    """Return t (N,), q, qd and tau (N, 2) at 500 Hz under PD control.

    `push` is time [s], joint and external torque [N m].
    """
    waves, (q1, q2, v1, v2) = reference(seed), (0.0, 0.0, 0.0, 0.0)
    z, rows = [0.0, 0.0], []
    q1, q2 = (sum(a * sin(p) for _, a, p in wave) for wave in waves)
    for k in range(round(seconds / STEP)):
        t = k * STEP
        want = [sum(a * sin(w * t + p) for w, a, p in wave) for wave in waves]
        rate = [sum(a * w * cos(w * t + p) for w, a, p in wave) for wave in waves]
        u1, u2 = (
            900.0 * (want[0] - q1) + 60.0 * (rate[0] - v1),
            400.0 * (want[1] - q2) + 20.0 * (rate[1] - v2),
        )
        external = [0.0, 0.0]
        if push is not None and t >= push[0]:
            external[push[1]] = push[2]
        if k % EVERY == 0:
            rows.append((t, q1, q2, v1, v2, u1, u2))
        friction = []
        for j, v in enumerate((v1, v2)):
            level = COULOMB[j] + (STATIC[j] - COULOMB[j]) * exp(-((v / STRIBECK[j]) ** 2))
            decay, steady = (
                STIFFNESS[j] * abs(v) / level,
                level / STIFFNESS[j] * (1.0 if v > 0 else -1.0),
            )
            new = steady + (z[j] - steady) * exp(-decay * STEP) if v else z[j]
            friction.append(
                STIFFNESS[j] * new
                + DAMPING[j] * (new - z[j]) / STEP * exp(-abs(v) / 0.1)
                + VISCOUS[j] * v
            )
            z[j] = new
        m12 = I2 + M2 * (C2 * C2 + L1 * C2 * cos(q2))
        m22 = I2 + M2 * C2 * C2
        m11 = I1 + M1 * C1 * C1 + M2 * L1 * L1 + M2 * L1 * C2 * cos(q2) + m12
        h = M2 * L1 * C2 * sin(q2)
        g2 = -G * M2 * C2 * cos(q1 + q2)
        b1 = (
            u1
            + external[0]
            - friction[0]
            + h * (2 * v1 * v2 + v2 * v2)
            + G * (M1 * C1 + M2 * L1) * cos(q1)
            - g2
        )
        b2 = u2 + external[1] - friction[1] - h * v1 * v1 - g2
        det = m11 * m22 - m12 * m12
        v1, v2 = v1 + STEP * (m22 * b1 - m12 * b2) / det, v2 + STEP * (m11 * b2 - m12 * b1) / det
        q1, q2 = q1 + STEP * v1, q2 + STEP * v2
    data, rng = np.array(rows), np.random.default_rng(seed + 1)
    noise = [rng.normal(size=(len(data), 2)) * size for size in (1e-6, 1e-4, 0.05)]
    return data[:, 0], data[:, 1:3] + noise[0], data[:, 3:5] + noise[1], data[:, 5:7] + noise[2]
