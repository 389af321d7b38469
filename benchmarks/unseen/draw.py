"""A draw: from a seed to a robot's description, a training log, a held-out log and the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.unseen.faults import FAULTS, Fault, causal_low_pass
from benchmarks.unseen.motions import KINDS, Region, random_region, reference
from benchmarks.unseen.plant import (
    Cascade,
    Diverged,
    Drives,
    Friction,
    Run,
    cascade,
    simulate,
)
from benchmarks.unseen.robots import (
    KNOWN,
    Chain,
    known_chain,
    perturbed,
    random_chain,
    rounded,
)

Array = NDArray[np.float64]
Rng = np.random.Generator
LONGEST_STEP = 5e-4  # [s]
WRIST = 0.02  # least size of a wrist's drive, of the largest: rotor inertia and torque
CLASSES = (
    "rigid",
    "lugre",
    "elastic",
    "backlash",
    "thermal",
    "ripple",
    "load friction",
    "low rate",
    "high rate",
    "point to point",
    "single sweeps",
    "everything",
)
"""What a plant has beyond rigid links and viscous and Coulomb friction, or how its log is made."""
RIGID = ("rigid", "low rate", "high rate")
"""Classes whose friction is in the estimator's own model: its parameters are known, too."""
SECONDS = {"high rate": (10, 13), "point to point": (20, 30), "single sweeps": (20, 30)}
WALL, CEILING = np.array([-9.81, 0.0, 0.0]), np.array([0.0, 0.0, 9.81])


@dataclass(frozen=True, eq=False, kw_only=True)
class Sensors:
    """How a log is made: rate [Hz], scatter of stamps as a share of the interval, resolutions."""

    rate: float
    scatter: float
    encoder: float  # [rad]
    noise: Array  # [N m] standard deviation of the torque
    quantum: Array  # [N m] resolution of the torque
    velocity: float | None  # [Hz] cut-off of the driver's velocity filter; None: no velocity


@dataclass(frozen=True, eq=False, kw_only=True)
class Draw:
    """A robot and its logs.

    `description` is given to the estimator, `training` and `held_out` are its logs. `truth` is the
    noiseless run of the held-out motion in the joint coordinates of a healthy log; `parameters`
    are true values by steelyard's parameter names; friction has some only in
    RIGID classes without a fault.
    """

    seed: int
    kind: str
    fault: str
    joint: int
    size: float
    robot: str
    n: int
    motion: tuple[str, str]
    sensors: Sensors
    description: sy.Robot
    training: sy.Log
    held_out: sy.Log
    truth: Run
    parameters: dict[str, float]

    @property
    def id(self) -> str:
        where = f" at joint {self.joint + 1}, {self.size:.3g}" if self.fault else ""
        return (
            f"{self.seed} {self.robot} {self.kind}{f' / {self.fault}{where}' if self.fault else ''}"
        )


def draw(seed: int, faulty: bool = False, kind: str = "") -> Draw:
    """Return the draw of a seed: its class cycles with the seed, its fault as well.

    Parameters
    ----------
    seed : 0 to 499 and 2000 to 2099 for development, others for judging
    faulty : whether one fault is planted
    kind : a class of CLASSES instead of the seed's own
    """
    rng = np.random.default_rng([seed, int(faulty)])
    fault = list(FAULTS)[seed % len(FAULTS)] if faulty else ""
    kind = kind or (str(rng.choice(CLASSES)) if faulty else CLASSES[seed % len(CLASSES)])
    planted = FAULTS.get(fault, Fault(()))
    chain = random_robot(rng, planted.least_joints)
    joint = int(rng.integers(chain.n))
    if planted.on_description:  # the longest link: elsewhere it has no practical size
        joint = 1 + int(np.argmax([np.linalg.norm(xyz) for xyz, _ in chain.places[1:]]))
    size = planted.draw(rng)
    described = (
        rounded(chain) if rng.uniform() < 0.2 else perturbed(chain, rng, rng.uniform(0.0, 0.4))
    )
    true = planted.on_truth(chain, joint, size) if planted.on_truth else chain
    if planted.on_description:
        described = planted.on_description(described, joint, size)
    gravity = (WALL if rng.uniform() < 0.5 else CEILING) if planted.tilts else None
    region = random_region(rng, chain.n)
    if kind == "low rate":
        region = replace(region, speed=0.6 * region.speed, acceleration=0.4 * region.acceleration)
    motion = motion_kinds(rng, kind)
    if "point to point" in motion:  # moves of about a second
        region = replace(region, speed=1.6 * region.speed)
    model = true.model(gravity)
    seconds = float(rng.uniform(*SECONDS.get(kind, (12, 24))))
    rate = log_rate(rng, kind)
    step = 1 / (rate * np.ceil(1 / (rate * LONGEST_STEP)))
    scales = Scales.of(model, region, rng)
    drives = random_drives(rng, kind, scales)
    if planted.springs:
        spring = np.zeros(chain.n)
        spring[joint] = size * scales.torque[joint]
        drives = replace(drives, spring=spring, spring_zero=region.centre - rng.uniform(0, 2))
    sensors = random_sensors(rng, rate, scales)
    bandwidth = rng.uniform(3.0, 8.0)
    share = float(rng.choice([0.0, 0.7, 1.0]))
    runs = []
    for k in range(2):
        generator = np.random.default_rng([seed, int(faulty), 7, k])
        used = region if k == 0 else slower(region)
        planned = reference(motion[k], used, np.arange(0, seconds, step), generator)
        start = float(generator.uniform(0, 60) if k == 0 else generator.uniform(20, 200))
        forward = share * feed_forward(described.model(gravity), planned.q, planned.qd, planned.qdd)
        runs.append(stable(model, drives, scales, bandwidth, forward, planned, step, start))
    description = loaded(described, 3 * scales.torque)
    logs = [
        measured(run, sensors, description.joint_names, np.random.default_rng([seed, 9, k]))
        for k, run in enumerate(runs)
    ]
    if planted.on_log:
        logs = [planted.on_log(log, joint, size) for log in logs]
    modelled = kind in RIGID and (planted.harmless or not fault)
    return Draw(
        seed=seed,
        kind=kind,
        fault=fault,
        joint=joint,
        size=size,
        robot=chain.name,
        n=chain.n,
        motion=motion,
        sensors=sensors,
        description=description,
        training=logs[0],
        held_out=logs[1],
        truth=runs[1],
        parameters=true_parameters(true, drives, modelled),
    )


def loaded(chain: Chain, effort: Array | None = None) -> sy.Robot:
    """Return steelyard's robot of a chain, through a URDF file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{chain.name}.urdf"
        path.write_text(chain.urdf(effort), encoding="utf-8")
        return sy.load(path)


def random_robot(rng: Rng, least: int) -> Chain:
    """Return a known arm, or a random chain of 1 to 7 joints."""
    if rng.uniform() < 0.35:
        return known_chain(str(rng.choice(list(KNOWN))))
    return random_chain(rng, int(rng.integers(least, 8)))


def motion_kinds(rng: Rng, kind: str) -> tuple[str, str]:
    """Return the kinds of the training and of the held-out motion."""
    if kind in ("point to point", "single sweeps"):
        return kind, "fourier" if kind == "single sweeps" else kind
    first = str(rng.choice(KINDS[:3], p=[0.55, 0.25, 0.2]))
    return first, first if rng.uniform() < 0.7 else str(rng.choice(KINDS[:3]))


def slower(region: Region) -> Region:
    """Return a region slightly smaller, so that held-out motions stay inside the training's."""
    return replace(
        region,
        half=0.95 * region.half,
        speed=0.95 * region.speed,
        acceleration=0.95 * region.acceleration,
    )


def log_rate(rng: Rng, kind: str) -> float:
    """Return a sampling rate [Hz]."""
    if kind == "low rate":
        return float(rng.choice([20.0, 25.0, 40.0, 50.0]))
    if kind == "high rate":
        return float(rng.choice([4000.0, 5000.0, 8000.0]))
    return float(rng.choice([100.0, 125.0, 200.0, 250.0, 500.0, 1000.0, 2000.0]))


@dataclass(frozen=True, eq=False)
class Scales:
    """Typical inertia [kg m2] and torque [N m] of each joint within a region, (n,).

    `gravity` is the largest torque of gravity.
    """

    inertia: Array
    torque: Array
    gravity: Array

    @classmethod
    def of(cls, model: pin.Model, region: Region, rng: Rng) -> Scales:
        data = model.createData()
        inertia, torque, gravity = [], [], []
        for _ in range(60):
            u = rng.uniform(-1, 1, (3, model.nv))
            q = region.centre + region.half * u[0]
            inertia.append(np.diag(pin.crba(model, data, q)).copy())
            v, a = region.speed * u[1], region.acceleration * u[2]
            torque.append(np.array(pin.rnea(model, data, q, v, a)))
            gravity.append(np.array(pin.computeGeneralizedGravity(model, data, q)))
        middle = np.mean(inertia, axis=0)
        size = np.sqrt(np.mean(np.square(torque), axis=0))
        size = np.maximum(size, 0.3 * middle * region.acceleration)
        size = np.maximum(size, WRIST * size.max())
        return cls(middle, size, np.max(np.abs(gravity), axis=0))


def random_drives(rng: Rng, kind: str, scales: Scales) -> Drives:
    """Return drives of a class: friction of 5 to 30 % of the torque, and the class's effects."""
    n = len(scales.inertia)
    everything = kind == "everything"
    size = np.maximum(scales.inertia, WRIST * scales.inertia.max())
    rotor = size * rng.uniform(0.1, 1.0, n)
    torque = scales.torque
    coulomb = torque * rng.uniform(0.05, 0.3, n)
    options: dict[str, Any] = {
        "viscous": torque * rng.uniform(0.03, 0.25, n),
        "coulomb": coulomb,
    }
    if kind in ("lugre", "elastic", "backlash", "thermal", "ripple", "load friction") or (
        kind in ("point to point", "single sweeps", "everything")
    ):
        options |= random_bristles(rng, coulomb)
    if kind == "thermal" or everything:
        options |= {"cold": rng.uniform(0.1, 0.4, n), "warming": float(rng.uniform(30, 150))}
    if kind == "ripple" or (everything and rng.uniform() < 0.5):
        options |= {
            "by_position": rng.uniform(0.05, 0.3, n),
            "waves": rng.integers(1, 4, n).astype(float),
            "phase": rng.uniform(0, 2 * np.pi, n),
        }
    if kind == "load friction" or (everything and rng.uniform() < 0.5):
        options |= {
            "asymmetry": rng.uniform(-0.25, 0.25, n),
            "by_load": rng.uniform(0.1, 0.6, n),
            "rated": 2 * torque,
        }
    drive: dict[str, Any] = {}
    if kind == "ripple" or everything:
        drive |= {
            "ripple": torque * rng.uniform(0.005, 0.03, n),
            "ripple_waves": rng.integers(8, 60, n).astype(float),
            "ripple_phase": rng.uniform(0, 2 * np.pi, n),
        }
    if kind in ("elastic", "backlash") or everything:
        drive |= transmission(rng, rotor, scales, kind == "backlash")
    return Drives(
        rotor=rotor,
        friction=Friction(**options),
        offset=torque * rng.uniform(-0.04, 0.04, n),
        **drive,
    )


def random_bristles(rng: Rng, coulomb: Array) -> dict[str, Any]:
    """Return LuGre's constants: sliding begins after 0.2 to 3 mrad."""
    n = len(coulomb)
    stiffness = coulomb / (rng.uniform(2e-4, 3e-3) * rng.uniform(0.7, 1.3, n))
    return {
        "bristles": True,
        "static": rng.uniform(1.0, 1.6, n),
        "stribeck": rng.uniform(0.02, 0.15, n),
        "stiffness": stiffness,
        "damping": stiffness * rng.uniform(1e-3, 4e-3),
    }


def transmission(rng: Rng, rotor: Array, scales: Scales, play: bool) -> dict[str, Any]:
    """Return springs of 8 to 30 Hz between rotors and links, or stiffer ones with play."""
    n = len(rotor)
    reduced = rotor * scales.inertia / (rotor + scales.inertia)
    omega = 2 * np.pi * (rng.uniform(25, 45, n) if play else rng.uniform(8, 30, n))
    return {
        "stiffness": reduced * omega**2,
        "damping": reduced * omega * 2 * rng.uniform(0.03, 0.1, n),
        "play": rng.uniform(2e-4, 1.5e-3, n) if play else np.zeros(n),
    }


def random_sensors(rng: Rng, rate: float, scales: Scales) -> Sensors:
    """Return sensors: half of the logs have scattered stamps, half a velocity channel."""
    n = len(scales.torque)
    scatter = float(rng.choice([0.0, rng.uniform(0.005, 0.12)]))
    return Sensors(
        rate=rate,
        scatter=scatter,
        encoder=float(10 ** rng.uniform(-5.3, -3.7)),
        noise=scales.torque * rng.uniform(0.003, 0.03) * rng.uniform(0.5, 1.5, n),
        quantum=scales.torque * 6 / 2.0 ** int(rng.integers(9, 14)),
        velocity=float(rng.uniform(25, 120)) if rng.uniform() < 0.5 else None,
    )


def feed_forward(model: pin.Model, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the torque of the description along a reference (N, n)."""
    data = model.createData()
    return np.array([pin.rnea(model, data, *state) for state in zip(q, qd, qdd, strict=True)])


def stable(
    model: pin.Model,
    drives: Drives,
    scales: Scales,
    bandwidth: float,
    forward: Array,
    planned: Any,
    step: float,
    start: float,
) -> Run:
    """Simulate with the widest of several bandwidths [Hz] at which the loop is stable."""
    for divisor in (1.0, 1.7, 3.0, 5.0):
        gains: Cascade = cascade(scales.inertia + drives.rotor, bandwidth / divisor, forward)
        try:
            return simulate(model, drives, gains, planned, step, start)
        except Diverged:
            continue
    raise RuntimeError("no bandwidth gives a stable loop")


def measured(run: Run, sensors: Sensors, names: tuple[str, ...], rng: Rng) -> sy.Log:
    """Return the log of a run: sampled at stamped times, quantised, with noise of the torque."""
    first, last = run.t[0], run.t[-1]
    count = int((last - first) * sensors.rate)
    t = first + (np.arange(count) + 0.5) / sensors.rate
    t += np.clip(rng.normal(0, sensors.scatter, count), -0.4, 0.4) / sensors.rate
    fine = 1 / (run.t[1] - run.t[0])
    q, tau = sampled(t, run.t, run.q), sampled(t, run.t, run.tau)
    q = sensors.encoder * np.round(q / sensors.encoder)
    tau = tau + sensors.noise * rng.normal(size=tau.shape)
    tau = sensors.quantum * np.round(tau / sensors.quantum)
    qd = None
    if sensors.velocity is not None:
        qd = sampled(t, run.t, causal_low_pass(run.qd, fine, sensors.velocity))
        qd = qd + 1e-3 * rng.normal(size=qd.shape)
    return sy.Log(t=t - first, q=q, qd=qd, tau=tau, joint_names=names)


def sampled(t: Array, times: Array, values: Array) -> Array:
    """Return signals (N, n) at other times, linearly interpolated between fine steps."""
    return np.stack([np.interp(t, times, column) for column in values.T], axis=1)


def true_parameters(chain: Chain, drives: Drives, friction: bool = True) -> dict[str, float]:
    """Return true values by steelyard's names: links through the true URDF, rotors, friction.

    Stiction without a Stribeck effect is as large as Coulomb friction.
    """
    robot = loaded(chain)
    values = dict(zip(robot.parameter_names, map(float, robot.parameters), strict=True))
    terms = {"Ia": drives.rotor}
    if friction:
        terms |= {
            "Fv": drives.friction.viscous,
            "Fc": drives.friction.coulomb,
            "Fs": drives.friction.coulomb,
            "F0": drives.offset,
        }
    for symbol, numbers in terms.items():
        for name, value in zip(robot.joint_names, numbers, strict=True):
            values[f"{name}.{symbol}"] = float(value)
    return values
