"""Drive models between the commanded torque and the joints, and stops at position limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algebra.scalar import Scalar, Scalars, dot, where
from ..arguments import per_joint, short_repr
from ..errors import CallError, mention
from ..robot import Robot
from .simulation_thresholds import THRESHOLDS

Array = NDArray[np.float64]


class Actuation(NamedTuple):
    """Joint torques [N m|N], rates of the drive's positions and velocities, work and heat [W]."""

    tau: list[Scalar]
    position_rates: list[Scalar]
    velocity_rates: list[Scalar]
    work: Scalar
    heat: Scalar


@runtime_checkable
class Drive(Protocol):
    """Drive model with a state: its positions (..., p n), then its velocities (..., v n)."""

    kinds: tuple[int, int]  # p and v

    def numbers(self, robot: Robot) -> Array:
        """Return the drive constants that the kernel takes (k,)."""

    def start(self, robot: Robot, q: Array, qd: Array) -> Array:
        """Return the initial state (..., (p + v) n)."""

    def link_side(self, robot: Robot) -> Robot:
        """Return the robot without the inertia that the drive models itself."""

    def actuation(
        self, command: Scalars, q: Scalars, qd: Scalars, x: Scalars, v: Scalars, numbers: Scalars
    ) -> Actuation:
        """Return joint torques and rates under a commanded torque, on scalars."""

    def energy(self, robot: Robot, q: Array, state: Array) -> Array:
        """Return the energy stored in the drives (...) [J]."""

    def signals(self, robot: Robot, state: Array) -> dict[str, Array]:
        """Return the signals that drives measure, by their names in a Log, (..., n) each."""


def actuated(
    drive: Drive | None,
    driven: Sequence[int],
    command: Scalars,
    q: Scalars,
    qd: Scalars,
    x: Scalars,
    v: Scalars,
    numbers: Scalars,
) -> Actuation:
    """Return the joint torques of a command; x and v are the state of the drives.

    Joints without a drive get the commanded torque.
    """
    if drive is None:
        return Actuation(list(command), [], [], 0.0, 0.0)
    n = len(q)
    actuation = drive.actuation(
        [a if c in driven else 0.0 for c, a in enumerate(command)], q, qd, x, v, numbers
    )
    passive = [c for c in range(n) if c not in driven]
    tau = [command[c] if c in passive else a for c, a in enumerate(actuation.tau)]
    positions, velocities = (
        [0.0 if k % n in passive else a for k, a in enumerate(part)]
        for part in (actuation.position_rates, actuation.velocity_rates)
    )
    work = (
        actuation.work + dot([command[c] for c in passive], [qd[c] for c in passive])
        if passive
        else actuation.work
    )
    return Actuation(tau, positions, velocities, work, actuation.heat)


@dataclass(frozen=True, eq=False)
class Elastic:
    """Elastic joints: tau = stiffness (theta - q) + damping (theta' - qd).

    inertia theta'' = command - tau, where theta [rad|m] is the motor position at the joint side;
    the state is (theta, theta'). stiffness [N m/rad|N/m], damping [N m s/rad|N s/m] and inertia of
    the rotor at the joint side [kg m2|kg], by default the robot's: one for all joints, one each, or
    by name. Springs are relaxed at the start. Spong 1987, eq. (10)-(11).
    """

    stiffness: Any
    damping: Any = 0.0
    inertia: Any = None
    kinds = (1, 1)
    kernel_inputs: ClassVar[tuple[str, ...]] = ("stiffness", "damping", "inertia")

    def numbers(self, robot: Robot) -> Array:
        """Return stiffness, damping, 1 / inertia (3 n,)."""
        driven = _driven(robot)
        stiffness = driven * _positive("Elastic: stiffness", self.stiffness, robot)
        damping = driven * per_joint("Elastic: damping", self.damping, robot.joint_names, 0.0)
        return np.concatenate([stiffness, damping, driven / (self.rotors(robot) + (1.0 - driven))])

    def rotors(self, robot: Robot) -> Array:
        """Return the inertia of each motor (n,), zero where there is none."""
        driven = _driven(robot)
        if self.inertia is not None:
            return driven * _positive("Elastic: inertia", self.inertia, robot)
        armature = driven * [float(terms.get("armature", 0.0)) for terms in robot.tree.terms]
        lacking = ", ".join(
            name
            for name, x, has in zip(robot.joint_names, armature, driven, strict=True)
            if has and x <= 0
        )
        if lacking:
            raise CallError(
                f"Elastic: {lacking} has no rotor inertia in the description; give inertia= [kg"
                " m2|kg] as seen at the joint"
            )
        return armature

    def start(self, robot: Robot, q: Array, qd: Array) -> Array:
        return np.concatenate([q, qd * _driven(robot)], axis=-1)

    def link_side(self, robot: Robot) -> Robot:
        """Return the robot with rotors of its passive joints only."""
        joints = zip(robot.joint_names, robot.tree.terms, _driven(robot), strict=True)
        passive = {
            name: terms["armature"]
            for name, terms, driven in joints
            if not driven and terms.get("armature")
        }
        return robot.without_rotors().with_rotors(passive) if passive else robot.without_rotors()

    def actuation(
        self, command: Scalars, q: Scalars, qd: Scalars, x: Scalars, v: Scalars, numbers: Scalars
    ) -> Actuation:
        n = len(q)
        rates = [b - a for a, b in zip(qd, v, strict=True)]
        damping = [d * r for d, r in zip(numbers[n:], rates, strict=False)]
        tau = [k * (b - a) + d for k, a, b, d in zip(numbers, q, x, damping, strict=False)]
        spin = [(u - t) * m for u, t, m in zip(command, tau, numbers[2 * n :], strict=True)]
        return Actuation(tau, list(v), spin, dot(command, v), dot(damping, rates))

    def signals(self, robot: Robot, state: Array) -> dict[str, Array]:
        return {"motor_position": state[..., : robot.n]}

    def energy(self, robot: Robot, q: Array, state: Array) -> Array:
        n = robot.n
        stretch, speed, stiffness = state[..., :n] - q, state[..., n:], self.numbers(robot)[:n]
        return np.asarray(
            0.5 * np.sum(stiffness * stretch**2 + self.rotors(robot) * speed**2, axis=-1)
        )


@dataclass(frozen=True, eq=False)
class Motor:
    """Electric motors: inductance i' = u - resistance i - constant qd, tau = constant i.

    A current loop of `bandwidth` [rad/s] sets the voltage u within `voltage` [V], which limits
    torque at high speed. constant [N m/A|N/A] at the joint side, ratio times the motor's;
    resistance [ohm], inductance [H]: one for all joints, one each, or by name. The state is the
    current [A]. Siciliano et al. 2009, section 5.2.1 (electric drives).
    """

    constant: Any
    resistance: Any
    inductance: Any
    bandwidth: Any = 2000.0
    voltage: Any = float("inf")
    kinds = (1, 0)
    kernel_inputs: ClassVar[tuple[str, ...]] = (
        "constant",
        "resistance",
        "inductance",
        "bandwidth",
        "voltage",
    )

    def numbers(self, robot: Robot) -> Array:
        """Return constant, resistance, inductance, bandwidth, voltage (5 n,)."""
        limit = (
            np.full(robot.n, np.inf)
            if self.voltage == float("inf")
            else _positive("Motor: voltage", self.voltage, robot)
        )
        names = ("constant", "resistance", "inductance", "bandwidth")
        return np.concatenate(
            [*(_positive(f"Motor: {name}", getattr(self, name), robot) for name in names), limit]
        )

    def start(self, robot: Robot, q: Array, qd: Array) -> Array:
        return np.zeros_like(q)

    def link_side(self, robot: Robot) -> Robot:
        return robot

    def actuation(
        self, command: Scalars, q: Scalars, qd: Scalars, x: Scalars, v: Scalars, numbers: Scalars
    ) -> Actuation:
        n = len(q)
        constants, resistances, inductances, loops, limits = (
            numbers[k * n : (k + 1) * n] for k in range(5)
        )
        rates = []
        for c, w, i, k, r, L, loop, most in zip(
            command, qd, x, constants, resistances, inductances, loops, limits, strict=True
        ):
            back = r * i + k * w
            u = back + L * loop * (c / k - i)
            rates.append((where(u > most, most, where(u < -most, -most, u)) - back) / L)
        tau = [k * i for k, i in zip(constants, x, strict=True)]
        return Actuation(tau, rates, [], dot(tau, qd), 0.0)

    def signals(self, robot: Robot, state: Array) -> dict[str, Array]:
        return {"current": state}

    def energy(self, robot: Robot, q: Array, state: Array) -> Array:
        """Return zero: the energy balance counts mechanical work only, not the energy of coils."""
        return np.zeros(state.shape[:-1])


@dataclass(frozen=True, eq=False)
class Stops:
    """Stops at the joints' position limits.

    A joint that hits a stop with velocity v leaves with -restitution v; slow joints stay.
    restitution from 0 (plastic, the default) to 1 (elastic): one for all joints, one each, or by
    name. The position is evaluated at the end of the step. Featherstone 2008, section 11.8
    (impulsive dynamics).
    """

    restitution: Any = 0.0

    def numbers(self, robot: Robot) -> Array:
        """Return the restitution of every joint (n,)."""
        restitution = per_joint("Stops: restitution", self.restitution, robot.joint_names, 0.0)
        if np.any(restitution > 1):
            raise CallError(
                f"Stops: restitution of {robot.joint_names[int(np.argmax(restitution))]!r}"
                f" must be from 0 to 1, not {restitution.max():g}"
            )
        return restitution


def require_stops(stops: object) -> Stops | None:
    """Return the stops of a `stops` argument; raise CallError for other values."""
    if stops is None or stops is False:
        return None
    if stops is True:
        return Stops()
    if not isinstance(stops, Stops):
        raise CallError(
            f"simulate: stops must be True, False or Stops(...), not {short_repr(stops)}",
            argument="stops",
        )
    return stops


def require_within(robot: Robot, q: Array) -> None:
    """Raise CallError where positions (..., n) overshoot their stops by over `stop_overshoot`."""
    for c, (name, limit) in enumerate(zip(robot.joint_names, robot.tree.limits, strict=True)):
        for end, beyond in (
            (limit.lower, limit.lower - q[..., c]),
            (limit.upper, q[..., c] - limit.upper),
        ):
            if np.any(beyond > THRESHOLDS.stop_overshoot):
                position = float(q[..., c].flat[int(np.nanargmax(beyond))])
                raise CallError(
                    f"simulate: q0 of joint {name!r} is {position:g}, beyond its stop at {end:g}; "
                    f"start within the limits, or pass {mention('stops', False)}"
                )


def require_drive(drive: object) -> None:
    """Raise CallError for an object that is not a drive."""
    if drive is not None and (isinstance(drive, type) or not isinstance(drive, Drive)):
        raise CallError(
            f"simulate: drive must be None, Elastic(...) or Motor(...), not {short_repr(drive)}"
        )


def _positive(what: str, value: ArrayLike, robot: Robot) -> Array:
    """Return positive values (n,) of the joints with a drive; one for the others."""
    values = np.where(_driven(robot) > 0, per_joint(what, value, robot.joint_names, 0.0), 1.0)
    if np.any(values <= 0):
        raise CallError(
            f"{what} of {robot.joint_names[int(np.argmin(values))]!r} must be above zero, not"
            f" {values.min():g}"
        )
    return values


def _driven(robot: Robot) -> Array:
    """Return one for joints with a drive, zero for others (n,)."""
    return np.array([float(c in robot.tree.driven) for c in range(robot.n)])
