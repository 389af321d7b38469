"""Serial arms of 1 to 7 joints as URDF: random chains, and arms of example-robot-data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rng = np.random.Generator

KNOWN = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", 6),
    "ur10": ("ur_description/urdf/ur10_robot.urdf", 6),
    "panda": ("panda_description/urdf/panda.urdf", 7),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", 7),
}
"""Arms of example-robot-data: file, and the number of joints from the base that move."""


@dataclass(frozen=True, eq=False)
class Body:
    """Mass [kg], centre of mass (3,) [m] and inertia (3, 3) [kg m2] about it, in the link frame."""

    mass: float
    com: Array
    inertia: Array


@dataclass(frozen=True, eq=False)
class Chain:
    """A serial arm: for each joint its place in the parent link, its axis and the link it moves."""

    name: str
    places: tuple[tuple[Array, Array], ...]
    axes: tuple[Array, ...]
    bodies: tuple[Body, ...]

    @property
    def n(self) -> int:
        return len(self.axes)

    def urdf(self, effort: Array | None = None, limit: float = 3.1) -> str:
        """Return the arm as URDF; `effort` (n,) [N m] are effort limits."""
        lines = [f'<robot name="{self.name}">', '<link name="base"/>']
        for k, (body, (xyz, rpy), axis) in enumerate(
            zip(self.bodies, self.places, self.axes, strict=True), 1
        ):
            parent = "base" if k == 1 else f"link{k - 1}"
            most = 1000.0 if effort is None else float(effort[k - 1])
            xx, xy, xz, yy, yz, zz = (float(x) for x in body.inertia[np.triu_indices(3)])
            lines += [
                f'<link name="link{k}"><inertial><origin xyz="{text(body.com)}"/>',
                f'<mass value="{float(body.mass)!r}"/><inertia ixx="{xx!r}" ixy="{xy!r}"',
                f' ixz="{xz!r}" iyy="{yy!r}" iyz="{yz!r}" izz="{zz!r}"/>',
                "</inertial></link>",
                f'<joint name="joint{k}" type="revolute"><parent link="{parent}"/>',
                f'<child link="link{k}"/><origin xyz="{text(xyz)}" rpy="{text(rpy)}"/>',
                f'<axis xyz="{text(axis)}"/>',
                f'<limit lower="{-limit}" upper="{limit}" velocity="6" effort="{most:.4g}"/>',
                "</joint>",
            ]
        return "\n".join([*lines, "</robot>"])

    def model(self, gravity: Array | None = None) -> pin.Model:
        """Return Pinocchio's model of the arm."""
        model = pin.buildModelFromXML(self.urdf())
        if gravity is not None:
            model.gravity.linear = gravity
        return model


def text(vector: Array) -> str:
    """Return the numbers of a vector, in full."""
    return " ".join(repr(float(x)) for x in vector)


def skew(v: Array) -> Array:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def combined(parts: list[Body]) -> Body:
    """Return several bodies fixed to each other as one."""
    mass = sum(part.mass for part in parts)
    com = sum(part.mass * part.com for part in parts) / mass
    inertia = sum(
        (
            part.inertia + part.mass * skew(part.com - com) @ skew(part.com - com).T
            for part in parts
        ),
        np.zeros((3, 3)),
    )
    return Body(float(mass), np.asarray(com), inertia)


def cylinder(mass: float, ends: tuple[Array, Array], radius: float) -> Body:
    """Return a solid cylinder between two points."""
    a, b = ends
    length = max(float(np.linalg.norm(b - a)), 1e-3)
    u = (b - a) / length
    across = mass * (3 * radius**2 + length**2) / 12
    along = mass * radius**2 / 2
    inertia = across * np.eye(3) + (along - across) * np.outer(u, u)
    return Body(mass, (a + b) / 2, inertia)


def random_chain(rng: Rng, n: int) -> Chain:
    """Return an arm with random axes and link sizes: each link a tube with a motor at its end."""
    size = rng.uniform(0.12, 0.55) / np.sqrt(max(n / 3, 1))
    mass = rng.uniform(1.5, 12.0)
    oblique = rng.uniform() < 0.3
    places, axes, bodies = [], [], []
    path, previous = np.array([0.0, 0.0, rng.uniform(0.05, 0.4)]), np.zeros(3)
    for _ in range(n):
        axis = random_axis(rng, previous, oblique)
        places.append((path, rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi], 3)))
        direction = rng.normal(size=3)
        if rng.uniform() < 0.7:  # a link across its axis, so that gravity and inertia are felt
            direction -= axis * (axis @ direction)
        end = direction / np.linalg.norm(direction) * size * rng.uniform(0.3, 1.6)
        tube = cylinder(mass * rng.uniform(0.4, 1.0), (np.zeros(3), end), rng.uniform(0.03, 0.07))
        motor = cylinder(
            mass * rng.uniform(0.1, 0.6), (end, end + 0.08 * axis), rng.uniform(0.03, 0.06)
        )
        ballast = Body(
            mass * rng.uniform(0.02, 0.2),
            end * rng.uniform() + rng.normal(0, 0.05, 3),
            1e-4 * np.eye(3),
        )
        axes.append(axis)
        bodies.append(combined([tube, motor, ballast]))
        path, previous = end, axis
        mass *= rng.uniform(0.5, 0.95)
    return Chain(f"chain{n}", tuple(places), tuple(axes), tuple(bodies))


def random_axis(rng: Rng, previous: Array, oblique: bool) -> Array:
    """Return a unit vector: along a coordinate axis, or anywhere; seldom the previous one."""
    while True:
        axis = (
            rng.normal(size=3) if oblique else np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        )
        axis /= np.linalg.norm(axis)
        if abs(axis @ previous) < 0.9 or rng.uniform() < 0.2:
            return np.asarray(axis)


def known_chain(name: str) -> Chain:
    """Return an arm of example-robot-data: kinematics and inertias of its moving joints."""
    path, n = KNOWN[name]
    try:
        folder = distribution("example-robot-data").locate_file(
            "cmeel.prefix/share/example-robot-data/robots"
        )
    except PackageNotFoundError as error:
        raise SystemExit("benchmarks.unseen needs the package example-robot-data") from error
    model = pin.buildModelFromUrdf(str(Path(str(folder)) / path))
    locked = list(range(n + 1, model.njoints))
    model = pin.buildReducedModel(model, locked, pin.neutral(model))
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    axes = [
        np.asarray(pin.getJointJacobian(model, data, k, pin.LOCAL)[3:, k - 1])
        for k in range(1, n + 1)
    ]
    places = [
        (np.array(M.translation), np.asarray(pin.rpy.matrixToRpy(M.rotation)))
        for M in model.jointPlacements[1:]
    ]
    bodies = [
        Body(body.mass, np.array(body.lever), np.array(body.inertia)) for body in model.inertias[1:]
    ]
    return Chain(name, tuple(places), tuple(axes), tuple(bodies))


def perturbed(chain: Chain, rng: Rng, share: float) -> Chain:
    """Return the arm with masses, centres of mass and sizes off by up to a share."""
    bodies = []
    for body in chain.bodies:
        mass = body.mass * (1 + share * rng.uniform(-1, 1))
        stretch = np.eye(3) + np.diag(0.5 * share * rng.uniform(-1, 1, 3))
        size = np.sqrt(np.trace(body.inertia) / (2 * body.mass))
        com = body.com + share * size * rng.uniform(-1, 1, 3)
        second = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
        second = stretch @ second @ stretch.T * mass / body.mass
        bodies.append(Body(mass, com, np.trace(second) * np.eye(3) - second))
    return replace(chain, bodies=tuple(bodies))


def rounded(chain: Chain) -> Chain:
    """Return the arm with round numbers: one digit of mass, 5 cm, and a ball of that size."""
    bodies = []
    for body in chain.bodies:
        mass = one_digit(body.mass)
        com = 0.05 * np.round(body.com / 0.05)
        inertia = one_digit(float(np.trace(body.inertia)) / 3) * np.eye(3)
        bodies.append(Body(mass, com, inertia))
    return replace(chain, bodies=tuple(bodies))


def one_digit(value: float) -> float:
    """Return a positive number rounded to one significant digit."""
    return float(f"{max(value, 1e-6):.0e}")
