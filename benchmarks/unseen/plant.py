"""A driven arm: rigid links by Pinocchio, drives with friction, elasticity and play, a cascade.

Link side:   M(q) qdd + c(q, qd) = tau_s
Motor side:  B thetadd = u + ripple(theta) - f(theta, thetad, z) - tau_s
Transmission: tau_s = K play(theta - q) + D (thetad - qd); rigid joints have theta = q.

Friction is LuGre (Canudas de Wit et al., IEEE TAC 40, 1995), dz/dt = v - s0 |v| z / g(v) and
f = s0 z + s1 dz/dt + viscous v, or tanh. Velocities live at half steps (leapfrog); friction and its
bristles are implicit at the middle of a step, so that the scheme is of second order and stable.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from benchmarks.unseen.motions import Reference

Array = NDArray[np.float64]
DRIVE_ENCODER = 2e-6  # [rad] resolution of the encoder that the controller reads
VELOCITY_FILTER = 100.0  # [Hz] of the controller's velocity
SPRING_RADIUS, SPRING_REST = 0.35, 0.6  # of the distance between axis and anchor
DIVERGED = 1.5  # [rad] from the reference


class Diverged(Exception):
    """The loop is unstable with these gains."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Friction:
    """Friction of all joints, arrays (n,).

    level = coulomb (1 + asymmetry sign v) (1 + by_position sin(waves q + phase))
    (1 + by_load |tau_s| / rated), and the whole friction times 1 + cold exp(-t / warming).
    `static` and `stribeck` [rad/s] give g(v) = level (1 + (static - 1) exp(-(v / stribeck)^2)).
    """

    viscous: Array
    coulomb: Array
    width: float = 0.005  # [rad/s] of the tanh, without bristles
    bristles: bool = False
    static: Array = field(default_factory=lambda: np.ones(1))
    stribeck: Array = field(default_factory=lambda: np.ones(1))
    stiffness: Array = field(default_factory=lambda: np.ones(1))
    damping: Array = field(default_factory=lambda: np.zeros(1))
    asymmetry: Array = field(default_factory=lambda: np.zeros(1))
    by_position: Array = field(default_factory=lambda: np.zeros(1))
    waves: Array = field(default_factory=lambda: np.ones(1))
    phase: Array = field(default_factory=lambda: np.zeros(1))
    by_load: Array = field(default_factory=lambda: np.zeros(1))
    rated: Array = field(default_factory=lambda: np.ones(1))
    cold: Array = field(default_factory=lambda: np.zeros(1))
    warming: float = 60.0  # [s]

    @property
    def plain_level(self) -> bool:
        """Whether the level neither depends on position, direction nor load."""
        return not (self.asymmetry.any() or self.by_position.any() or self.by_load.any())

    def level(self, q: Array, v: Array, load: Array) -> Array:
        """Return the Coulomb level (n,) [N m]."""
        if self.plain_level:
            return self.coulomb
        return np.asarray(
            self.coulomb
            * (1 + self.asymmetry * np.tanh(v / self.width))
            * (1 + self.by_position * np.sin(self.waves * q + self.phase))
            * (1 + self.by_load * np.abs(load) / self.rated)
        )

    def limit(self, level: Array, v: Array) -> Array:
        """Return g(v), the steady sliding friction without its viscous part (n,) [N m]."""
        return np.asarray(level * (1 + (self.static - 1) * np.exp(-((v / self.stribeck) ** 2))))

    def evaluate(
        self, level: Array, v: Array, z: Array, step: float, warm: Array
    ) -> tuple[Array, Array, Array]:
        """Return friction, its derivative by v, and the new bristle deflection.

        The friction is evaluated at the middle of a step over which v is constant.
        """
        if not self.bristles:
            s = np.tanh(v / self.width)
            dry = level / self.width * (1 - s * s)
            return warm * (level * s + self.viscous * v), warm * (dry + self.viscous), z
        limit = self.limit(level, v)
        slip = 1 + step * self.stiffness * np.abs(v) / limit
        new = (z + step * v) / slip
        rate = (new - z) / step
        f = self.stiffness * 0.5 * (z + new) + self.damping * rate + self.viscous * v
        derivative = (0.5 * step * self.stiffness + self.damping) / slip + self.viscous
        return warm * f, warm * derivative, new


@dataclass(frozen=True, eq=False, kw_only=True)
class Drives:
    """Drives of all joints, arrays (n,): rotor inertia at the joint [kg m2], friction, ripple.

    `stiffness` [N m/rad] and `damping` [N m s/rad] of the transmission and its `play` [rad], the
    half of the backlash; stiffness is None for rigid joints. `offset` is a constant torque [N m].
    """

    rotor: Array
    friction: Friction
    offset: Array
    stiffness: Array | None = None
    damping: Array = field(default_factory=lambda: np.zeros(1))
    play: Array = field(default_factory=lambda: np.zeros(1))
    ripple: Array = field(default_factory=lambda: np.zeros(1))
    ripple_waves: Array = field(default_factory=lambda: np.ones(1))
    ripple_phase: Array = field(default_factory=lambda: np.zeros(1))
    spring: Array = field(default_factory=lambda: np.zeros(1))
    spring_zero: Array = field(default_factory=lambda: np.zeros(1))

    def counterbalance(self, q: Array) -> Array:
        """Return the torque of a spring between points beside each axis (n,) [N m].

        spring sin(d) (1 - rest / L), with d = q - spring_zero and L^2 = 1 + r^2 - 2 r cos(d):
        no combination of link masses has it.
        """
        d = q - self.spring_zero
        length = np.sqrt(1 + SPRING_RADIUS**2 - 2 * SPRING_RADIUS * np.cos(d))
        return np.asarray(self.spring * np.sin(d) * (1 - SPRING_REST / length))


@dataclass(frozen=True, eq=False)
class Cascade:
    """Position P, velocity PI with feed-forward; arrays (n,) and the feed-forward (N, n) [N m]."""

    position: Array
    velocity: Array
    integral: Array
    feed_forward: Array


@dataclass(frozen=True, eq=False)
class Run:
    """True motion of the motors and torque of the drives: t (N,), q, qd, qdd, tau (N, n).

    All are in joint coordinates and refer to the same instants. `link` is the position of links.
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    link: Array


def cascade(inertia: Array, bandwidth: float, feed_forward: Array) -> Cascade:
    """Return gains for a bandwidth [Hz] of the velocity loop over the inertia of each joint."""
    omega = 2 * np.pi * bandwidth
    velocity = omega * inertia
    return Cascade(np.full(len(inertia), omega / 4), velocity, velocity * omega / 6, feed_forward)


def simulate(
    model: pin.Model,
    drives: Drives,
    controller: Cascade,
    motion: Reference,
    step: float,
    start: float = 0.0,
) -> Run:
    """Integrate the driven arm along a reference, from rest.

    Parameters
    ----------
    model : Pinocchio's model of the links, without armature
    drives, controller : of all joints
    motion : reference at multiples of `step` [s]
    start : time since the drives were cold [s]
    """
    elastic = drives.stiffness is not None
    steps, n = motion.q.shape
    model = pin.Model(model)
    model.armature = np.zeros(n) if elastic else drives.rotor
    data = model.createData()
    friction = drives.friction
    hold = np.asarray(pin.computeGeneralizedGravity(model, data, motion.q[0])) + drives.offset
    hold = hold - drives.counterbalance(motion.q[0])
    theta, w = motion.q[0].copy(), np.zeros(n)
    link, v = link_at_rest(model, data, drives, theta), np.zeros(n)
    z, a, am, tau_s = np.zeros(n), np.zeros(n), np.zeros(n), hold.copy()
    integral = hold - controller.feed_forward[0]
    previous, speed = theta.copy(), np.zeros(n)
    smoothing = 1 - np.exp(-2 * np.pi * VELOCITY_FILTER * step)
    times = np.asarray(start + step * np.arange(steps), float)
    run = Run(times, *(np.empty((steps, n)) for _ in range(5)))
    half, diagonal = 0.5 * step, np.arange(n)
    for k in range(steps):
        encoder = DRIVE_ENCODER * np.round(theta / DRIVE_ENCODER)
        speed += smoothing * ((encoder - previous) / step - speed)
        previous = encoder
        error = controller.position * (motion.q[k] - encoder) + motion.qd[k] - speed
        integral += step * controller.integral * error
        u = controller.velocity * error + integral + controller.feed_forward[k]
        middle = w + half * am
        warm = 1 + friction.cold * np.exp(-run.t[k] / friction.warming)
        level = friction.level(theta, middle, tau_s)
        f, by_speed, z = friction.evaluate(level, middle, z, step, warm)
        force = u - drives.offset - f - by_speed * (w - middle)
        if drives.spring.any():
            force += drives.counterbalance(theta)
        if drives.ripple.any():
            force += drives.ripple * np.sin(drives.ripple_waves * theta + drives.ripple_phase)
        if elastic:
            tau_s = transmitted(drives, theta - link, middle - v - half * a)
            am = (force - tau_s) / (drives.rotor + half * by_speed)
            c = pin.nonLinearEffects(model, data, link, v + half * a)
            a = dposv(pin.crba(model, data, link), tau_s - c)[1]
        else:
            c = pin.nonLinearEffects(model, data, theta, middle)
            M = pin.crba(model, data, theta).copy()
            M[diagonal, diagonal] += half * by_speed
            am = dposv(M, force - c)[1]
            tau_s = u - f
        new = w + step * am
        run.q[k], run.qd[k], run.qdd[k] = theta, 0.5 * (w + new), am
        run.tau[k], run.link[k] = u, link if elastic else theta
        w = new
        theta = theta + step * w
        if elastic:
            v = v + step * a
            link = link + step * v
        if k % 500 == 0 and not np.max(np.abs(theta - motion.q[k])) < DIVERGED:
            raise Diverged
    return run


def link_at_rest(model: pin.Model, data: pin.Data, drives: Drives, theta: Array) -> Array:
    """Return link positions that hang in the springs of resting motors."""
    link = theta.copy()
    if drives.stiffness is not None:
        for _ in range(5):
            g = np.asarray(pin.computeGeneralizedGravity(model, data, link))
            link = theta - g / drives.stiffness - np.sign(g) * drives.play
    return link


def transmitted(drives: Drives, deflection: Array, rate: Array) -> Array:
    """Return the torque of springs with play (n,) [N m]; damping acts in contact only."""
    assert drives.stiffness is not None
    if not drives.play.any():
        return np.asarray(drives.stiffness * deflection + drives.damping * rate)
    pressed = deflection - np.clip(deflection, -drives.play, drives.play)
    contact = np.abs(deflection) > drives.play
    return np.asarray(drives.stiffness * pressed + drives.damping * rate * contact)
