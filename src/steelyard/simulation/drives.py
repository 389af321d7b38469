"""What stands between a controller's torque and a joint: elastic gears, electric motors; and the stops at the ends of its range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algebra.scalar import Scalar, Scalars, dot, where
from ..arguments import brief, per_joint
from ..errors import CallError
from ..robot import Robot

Array = NDArray[np.float64]
BEYOND = 0.05  # rad or m: as far as a step may lead beyond the stop that it strikes


class Actuation(NamedTuple):
    """Torques at the joints [N m|N], rates of the drive's own positions and velocities, work of the drive and its heat [W]."""

    tau: list[Scalar]
    position_rates: list[Scalar]
    velocity_rates: list[Scalar]
    work: Scalar
    heat: Scalar


@runtime_checkable
class Drive(Protocol):
    """A drive with a state of its own: first its positions (..., p n), then its velocities (..., v n)."""

    kinds: tuple[int, int]  # p and v

    def numbers(self, robot: Robot) -> Array:
        """What the kernel takes, (k,)."""

    def start(self, robot: Robot, q: Array, qd: Array) -> Array:
        """The state at the start, (..., (p + v) n)."""

    def link_side(self, robot: Robot) -> Robot:
        """The robot without what the drive carries itself."""

    def actuation(self, command: Scalars, q: Scalars, qd: Scalars, x: Scalars, v: Scalars, numbers: Scalars) -> Actuation:
        """What happens under a commanded torque, on scalars."""

    def energy(self, robot: Robot, q: Array, state: Array) -> Array:
        """What the drives store [J], (...)."""

    def signals(self, robot: Robot, state: Array) -> dict[str, Array]:
        """What drives measure of themselves, by the names of a Log, each (..., n)."""


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
    """What reaches the joints of a commanded torque; x and v are positions and velocities of the drives.

    Joints without a drive get the torque as it is.
    """
    if drive is None:
        return Actuation(list(command), [], [], 0.0, 0.0)
    n = len(q)
    made = drive.actuation([a if c in driven else 0.0 for c, a in enumerate(command)], q, qd, x, v, numbers)
    passive = [c for c in range(n) if c not in driven]
    tau = [command[c] if c in passive else a for c, a in enumerate(made.tau)]
    positions, velocities = (
        [0.0 if k % n in passive else a for k, a in enumerate(part)] for part in (made.position_rates, made.velocity_rates)
    )
    work = made.work + dot([command[c] for c in passive], [qd[c] for c in passive]) if passive else made.work
    return Actuation(tau, positions, velocities, work, made.heat)


@dataclass(frozen=True, eq=False)
class Elastic:
    """Joints behind springs: tau = stiffness (theta - q) + damping (theta' - qd), inertia theta'' = command - tau.

    theta [rad|m] is the motor's position, seen at the joint; its state is (theta, theta'). stiffness [N m/rad|N/m], damping
    [N m s/rad|N s/m], inertia [kg m2|kg], that of the rotor as seen at the joint, by default the robot's own: one for all joints, one
    each, or by name. Motors begin where they hold no torque. Spong 1987, eq. (10)-(11).
    """

    stiffness: Any
    damping: Any = 0.0
    inertia: Any = None
    kinds = (1, 1)
    kernel_inputs: ClassVar[tuple[str, ...]] = ("stiffness", "damping", "inertia")

    def numbers(self, robot: Robot) -> Array:
        """stiffness, damping, 1 / inertia, (3 n,)."""
        driven = _driven(robot)
        stiffness = driven * _positive("Elastic: stiffness", self.stiffness, robot)
        damping = driven * per_joint("Elastic: damping", self.damping, robot.joint_names, 0.0)
        return np.concatenate([stiffness, damping, driven / (self.rotors(robot) + (1.0 - driven))])

    def rotors(self, robot: Robot) -> Array:
        """The inertia of each motor, (n,), zero where there is none."""
        driven = _driven(robot)
        if self.inertia is not None:
            return driven * _positive("Elastic: inertia", self.inertia, robot)
        own = driven * [float(terms.get("armature", 0.0)) for terms in robot.tree.terms]
        lacking = ", ".join(name for name, x, has in zip(robot.joint_names, own, driven, strict=True) if has and x <= 0)
        if lacking:
            raise CallError(f"Elastic: {lacking} has no rotor inertia in the description; give inertia= [kg m2|kg] as seen at the joint")
        return own

    def start(self, robot: Robot, q: Array, qd: Array) -> Array:
        return np.concatenate([q, qd * _driven(robot)], axis=-1)

    def link_side(self, robot: Robot) -> Robot:
        own = zip(robot.joint_names, robot.tree.terms, _driven(robot), strict=True)
        kept = {name: terms["armature"] for name, terms, driven in own if not driven and terms.get("armature")}
        return robot.without_rotors().with_rotors(kept) if kept else robot.without_rotors()

    def actuation(self, command: Scalars, q: Scalars, qd: Scalars, x: Scalars, v: Scalars, numbers: Scalars) -> Actuation:
        n = len(q)
        rates = [b - a for a, b in zip(qd, v, strict=True)]
        rubbed = [d * r for d, r in zip(numbers[n:], rates, strict=False)]
        tau = [k * (b - a) + d for k, a, b, d in zip(numbers, q, x, rubbed, strict=False)]
        spin = [(u - t) * m for u, t, m in zip(command, tau, numbers[2 * n :], strict=True)]
        return Actuation(tau, list(v), spin, dot(command, v), dot(rubbed, rates))

    def signals(self, robot: Robot, state: Array) -> dict[str, Array]:
        return {"motor_position": state[..., : robot.n]}

    def energy(self, robot: Robot, q: Array, state: Array) -> Array:
        n = robot.n
        stretched, speed, stiffness = state[..., :n] - q, state[..., n:], self.numbers(robot)[:n]
        return np.asarray(0.5 * np.sum(stiffness * stretched**2 + self.rotors(robot) * speed**2, axis=-1))


@dataclass(frozen=True, eq=False)
class Motor:
    """Electric motors: inductance i' = u - resistance i - constant qd, tau = constant i; a current loop gives the voltage u.

    The loop follows the command's current at `bandwidth` [rad/s] as long as |u| stays within `voltage` [V]: beyond, speed costs torque.
    constant [N m/A|N/A] as seen at the joint, ratio times the motor's; resistance [ohm], inductance [H]: one for all joints, one each, or
    by name. Its state is the current [A]. Siciliano et al. 2009, section 5.2.1 (electric drives).
    """

    constant: Any
    resistance: Any
    inductance: Any
    bandwidth: Any = 2000.0
    voltage: Any = float("inf")
    kinds = (1, 0)
    kernel_inputs: ClassVar[tuple[str, ...]] = ("constant", "resistance", "inductance", "bandwidth", "voltage")

    def numbers(self, robot: Robot) -> Array:
        """constant, resistance, inductance, bandwidth, voltage, (5 n,)."""
        limit = np.full(robot.n, np.inf) if self.voltage == float("inf") else _positive("Motor: voltage", self.voltage, robot)
        names = ("constant", "resistance", "inductance", "bandwidth")
        return np.concatenate([*(_positive(f"Motor: {name}", getattr(self, name), robot) for name in names), limit])

    def start(self, robot: Robot, q: Array, qd: Array) -> Array:
        return np.zeros_like(q)

    def link_side(self, robot: Robot) -> Robot:
        return robot

    def actuation(self, command: Scalars, q: Scalars, qd: Scalars, x: Scalars, v: Scalars, numbers: Scalars) -> Actuation:
        n = len(q)
        constants, resistances, inductances, loops, limits = (numbers[k * n : (k + 1) * n] for k in range(5))
        rates = []
        for c, w, i, k, r, L, loop, most in zip(command, qd, x, constants, resistances, inductances, loops, limits, strict=True):
            back = r * i + k * w
            u = back + L * loop * (c / k - i)
            rates.append((where(u > most, most, where(u < -most, -most, u)) - back) / L)
        tau = [k * i for k, i in zip(constants, x, strict=True)]
        return Actuation(tau, rates, [], dot(tau, qd), 0.0)

    def signals(self, robot: Robot, state: Array) -> dict[str, Array]:
        return {"current": state}

    def energy(self, robot: Robot, q: Array, state: Array) -> Array:
        """None: that of the coils is the supply's, the books are of mechanical work."""
        return np.zeros(state.shape[:-1])


@dataclass(frozen=True, eq=False)
class Stops:
    """Stops at the joints' limits. A joint that strikes one with the velocity v leaves it with -restitution v, slow ones stay there.

    restitution, from 0 (all is lost, the default) to 1: one for all joints, one each, or by name. The joint stands where the step ended in
    which it struck. Featherstone 2008, section 11.8 (impulsive dynamics).
    """

    restitution: Any = 0.0

    def numbers(self, robot: Robot) -> Array:
        """The restitution of every joint, (n,)."""
        made = per_joint("Stops: restitution", self.restitution, robot.joint_names, 0.0)
        if np.any(made > 1):
            raise CallError(f"Stops: restitution of {robot.joint_names[int(np.argmax(made))]!r} must be from 0 to 1, not {made.max():g}")
        return made


def require_stops(stops: object) -> Stops | None:
    """What a `stops` argument is: True for those of the default; raises CallError for what is none."""
    if stops is None or stops is False:
        return None
    if stops is True:
        return Stops()
    if not isinstance(stops, Stops):
        raise CallError(f"simulate: stops must be True, False or Stops(...), not {brief(stops)}")
    return stops


def require_within(robot: Robot, q: Array) -> None:
    """Raise CallError where positions (..., n) are beyond stops, by more than a step leads beyond the stop that it strikes."""
    for c, (name, limit) in enumerate(zip(robot.joint_names, robot.tree.limits, strict=True)):
        for end, beyond in ((limit.lower, limit.lower - q[..., c]), (limit.upper, q[..., c] - limit.upper)):
            if np.any(beyond > BEYOND):
                at = float(q[..., c].flat[int(np.nanargmax(beyond))])
                raise CallError(
                    f"simulate: q0 of joint {name!r} is {at:g}, beyond its stop at {end:g}; start within the limits, or stops=False"
                )


def require_drive(drive: object) -> None:
    """Raise CallError for what is no drive."""
    if drive is not None and (isinstance(drive, type) or not isinstance(drive, Drive)):
        raise CallError(f"simulate: drive must be None, Elastic(...) or Motor(...), not {brief(drive)}")


def _positive(what: str, value: ArrayLike, robot: Robot) -> Array:
    """Numbers (n,) above zero of the joints with a drive; one for the others."""
    made = np.where(_driven(robot) > 0, per_joint(what, value, robot.joint_names, 0.0), 1.0)
    if np.any(made <= 0):
        raise CallError(f"{what} of {robot.joint_names[int(np.argmin(made))]!r} must be above zero, not {made.min():g}")
    return made


def _driven(robot: Robot) -> Array:
    """One for joints with a drive, zero for others, (n,)."""
    return np.array([float(c in robot.tree.driven) for c in range(robot.n)])
