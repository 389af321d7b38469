"""The calls of a soak test: each takes a random generator and a folder, and returns its result.

The same generator gives the same call. Where a law of mechanics can be had for little, it is asked
of the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import steelyard as sy
from benchmarks.fuzz.case import answer, write_case
from benchmarks.fuzz.good_files import GoodFile, good_files
from steelyard.simulation import PD
from tests import zoo
from tests.motions import recorded, rubbing
from tests.random_mechanisms import random_mechanism

Random = np.random.Generator
BUILT_IN = ("planar_2r", "planar_rp", "spatial_3r", "elbow_6r", "puma560")
SMALL = ("planar_2r", "planar_rp", "spatial_3r")
# whose twelve joints compile for longer than all others
ZOO = tuple(name for name in zoo.ZOO if name != "twins")
ESTIMATORS = (
    "sdp",
    "ols",
    "wls",
    "irls",
    "ridge",
    "lasso",
    "elastic_net",
    "tls",
    "sequential",
    "momentum",
    "energy",
    "auto",
    "iv",
)
VARIANTS = 12  # robots of each kind: they differ by gravity
BATCHES = (1, 5, 64, 3000)


def robot_of(random: Random, *names: str) -> sy.Robot:
    """Return a variant of a robot: of the built-in ones, of the zoo, or one drawn at random."""
    name = str(random.choice(names or (*BUILT_IN, *ZOO, "random")))
    variant = int(random.integers(VARIANTS))
    drawn = np.random.default_rng(variant)
    if name == "random":
        return sy.Robot(random_mechanism(drawn, 5))
    plain = zoo.robot(name) if name in ZOO else sy.load(name)
    return plain.with_gravity(tuple(drawn.normal(size=3) * 5))


def states(random: Random, robot: sy.Robot) -> np.ndarray:
    """Return q, qd, qdd: (3, B, n)."""
    return random.uniform(0.3, 1.2, (3, int(random.choice(BATCHES)), robot.n))


def log_of(random: Random, robot: sy.Robot, seconds: float = 4.0) -> sy.Log:
    """Return a log of the robot with friction and rotors, and with noise."""
    return recorded(rubbing(robot), seconds, noise=0.01, seed=int(random.integers(3)), base=0.5)


def kinematics(random: Random, _: Path) -> Any:
    robot = robot_of(random)
    q, qd, _qdd = states(random, robot)
    frame = str(random.choice(robot.body_names))
    return [
        robot.forward_kinematics(q, frame),
        robot.jacobian(q, frame),
        robot.jacobian_rate(q, qd, frame),
        robot.center_of_mass(q),
    ]


def dynamics(random: Random, _: Path) -> Any:
    robot = robot_of(random)
    q, qd, qdd = states(random, robot)
    with sy.threads(int(random.integers(1, 3))):
        tau = robot.inverse_dynamics(q, qd, qdd)
        again = robot.forward_dynamics(q, qd, tau)
        results = [
            tau,
            again,
            robot.mass_matrix(q),
            robot.coriolis_matrix(q, qd),
            robot.gravity_torque(q),
            robot.friction_torque(qd, q),
        ]
    assert np.allclose(again, qdd, rtol=1e-5, atol=1e-5), (
        "forward dynamics do not undo inverse dynamics"
    )
    return results


def derivatives(random: Random, _: Path) -> Any:
    robot = robot_of(random, *SMALL, "pendulum", "crusher")
    q, qd, qdd = states(random, robot)
    return [
        robot.inverse_dynamics_derivatives(q, qd, qdd),
        robot.forward_dynamics_derivatives(q, qd, qdd),
    ]


def regressors(random: Random, _: Path) -> Any:
    robot = robot_of(random, *BUILT_IN, *ZOO)
    q, qd, qdd = states(random, robot)
    Y, tau = robot.regressor(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd)
    assert np.allclose(Y @ robot.parameters, tau, rtol=1e-9, atol=1e-9), (
        "regressor and parameters do not give the torque"
    )
    return [
        Y,
        robot.momentum_regressor(q, qd),
        robot.energy_regressor(q, qd),
        sy.base_parameters(robot).names,
    ]


def inverse_kinematics(random: Random, _: Path) -> Any:
    robot = robot_of(random, "elbow_6r", "puma560", "spatial_3r")
    q = random.uniform(0.3, 1.2, (int(random.choice((1, 20))), robot.n))
    pose = robot.forward_kinematics(q)
    solved = sy.inverse_kinematics(robot, pose)
    return [solved.q, solved.valid]


def loops(random: Random, _: Path) -> Any:
    robot = sy.load(str(random.choice(("four_bar", "five_bar", "planar_3rrr"))))
    q, qd, qdd = robot.closed_states(int(random.choice((1, 30))), int(random.integers(4)))
    result = robot.constrained_inverse_dynamics(q, qd, qdd)
    again, _multipliers = robot.constrained_forward_dynamics(q, qd, result.tau)
    assert np.allclose(again, qdd, rtol=1e-5, atol=1e-5), (
        "constrained forward dynamics do not undo the inverse"
    )
    return [result.tau, result.multipliers, robot.closure(q)]


def simulate(random: Random, _: Path) -> Any:
    robot = robot_of(random, *SMALL)
    controller: Any = PD(np.ones(robot.n), 50.0, 5.0) if random.random() < 0.5 else None
    method = str(random.choice(("rk4", "euler")))
    run = sy.simulate(
        robot, controller, q0=np.full(robot.n, 0.5), seconds=0.3, step=2e-3, method=method
    )
    return [run.t, run.q, run.qd, run.tau, run.energy]


def identify(random: Random, _: Path) -> Any:
    robot = robot_of(random, *SMALL)
    log = log_of(random, robot)
    fit = sy.identify(
        robot, log, str(random.choice(ESTIMATORS)), diagnose=bool(random.random() < 0.3)
    )
    return [fit.parameters, fit.covariance, fit.base_values, fit.summary(), str(fit.verdict)]


def doctor(random: Random, _: Path) -> Any:
    robot = robot_of(random, *SMALL)
    log = log_of(random, robot)
    faulty = replace(log, tau=np.asarray(log.tau) * random.choice((1.0, -1.0, 2.0), robot.n))
    return str(sy.doctor(robot, faulty))


def validate(random: Random, _: Path) -> Any:
    robot = robot_of(random, *SMALL)
    fit = sy.identify(robot, log_of(random, robot), "wls", diagnose=False)
    validation = fit.validate(log_of(random, robot))
    q, qd, qdd = states(random, robot)
    return [
        validation.rms,
        validation.r2,
        validation.total_relative_error,
        fit.predict(q, qd, qdd).std,
    ]


def reports(random: Random, folder: Path) -> Any:
    robot = robot_of(random, *SMALL)
    log = log_of(random, robot)
    fit = sy.identify(robot, log, "ols", diagnose=False)
    return sy.report(fit, folder / "report.html", fit.validate(log)).read_bytes()


def online(random: Random, _: Path) -> Any:
    robot = robot_of(random, *SMALL)
    log: Any = log_of(random, robot)
    identifier = sy.OnlineIdentifier(robot)
    identifier.update(log.q, log.qd, log.qdd, log.tau)
    return [identifier.base_values, identifier.covariance]


def excite(random: Random, _: Path) -> Any:
    motion = sy.excite(
        robot_of(random, "planar_2r", "planar_rp"),
        seconds=6,
        base_frequency=1 / 6,
        starts=1,
        seed=int(random.integers(2)),
    )
    return [motion.t, motion.q, motion.qd, motion.qdd]


@cache
def files() -> list[GoodFile]:
    """Return the good files of all formats."""
    return good_files()


def good_file(random: Random, folder: Path) -> Any:
    file = files()[random.integers(len(files()))]
    path = folder / file.name
    path.write_bytes(file.content)
    return _read(file, path)


def damaged_file(random: Random, folder: Path) -> Any:
    good, path = write_case(int(random.integers(2000)), 1, files(), folder)
    return _read(good, path)


def _read(file: GoodFile, path: Path) -> Any:
    if file.kind == "robot":
        robot = sy.load(path)
        return [
            robot.fingerprint,
            robot.parameters,
            [remark.replace(str(path), path.name) for remark in robot.remarks],
        ]
    if file.kind == "log":
        log = sy.read_log(path, effort="torque")
        return [log.t, log.q, log.tau]
    answer(file, path, 1)
    return file.name


def written(random: Random, folder: Path) -> Any:
    robot = robot_of(random)
    robot.to_toml(folder / "robot.toml")
    robot.to_urdf(folder / "robot.urdf")
    again = sy.load(folder / "robot.toml")
    assert again.fingerprint == robot.fingerprint, "a robot that was written is read as another"
    return [(folder / "robot.toml").read_bytes(), (folder / "robot.urdf").read_bytes()]


def c_code(random: Random, folder: Path) -> Any:
    robot = robot_of(random, *SMALL, "crane")
    robot.to_c(folder / "c")
    return [[path.name, path.read_bytes()] for path in sorted((folder / "c").iterdir())]


def closed_form(random: Random, _: Path) -> Any:
    result = robot_of(random, "planar_2r", "planar_rp").symbolic()
    return [str(result.M), str(result.g), str(result.tau)]


CALLS: dict[str, tuple[Callable[[Random, Path], Any], int]] = {
    "kinematics": (kinematics, 8),
    "dynamics": (dynamics, 8),
    "derivatives": (derivatives, 3),
    "regressors": (regressors, 4),
    "inverse kinematics": (inverse_kinematics, 4),
    "loops": (loops, 3),
    "simulate": (simulate, 3),
    "identify": (identify, 6),
    "doctor": (doctor, 2),
    "validate": (validate, 2),
    "reports": (reports, 1),
    "online": (online, 2),
    "excite": (excite, 1),
    "good files": (good_file, 8),
    "damaged files": (damaged_file, 8),
    "written and read": (written, 4),
    "C": (c_code, 2),
    "closed form": (closed_form, 2),
}
"""Calls by name, and how often each is made beside the others."""
