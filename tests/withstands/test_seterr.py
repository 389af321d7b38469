"""Results do not depend on the caller's np.seterr: underflow is no error of the package."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import steelyard as sy
from steelyard.motion import point_to_point, time_optimal


class Experiment(NamedTuple):
    """A robot with logs without and with a load, and their fit."""

    robot: sy.Robot
    motion: sy.Trajectory
    log: sy.Log
    loaded: sy.Log
    fit: sy.Fit


@cache
def experiment() -> Experiment:
    robot = sy.load("planar_2r").with_friction(viscous=0.5, coulomb=0.3)
    motion = sy.excite(robot, seconds=4, starts=1)
    log = sy.record(robot, motion, rate=200, seed=1)
    loaded = sy.record(robot.with_payload(1.0, com=(0.1, 0, 0)), motion, rate=200, seed=2)
    return Experiment(robot, motion, log, loaded, sy.identify(robot, log))


def online(x: Experiment) -> Any:
    monitor = sy.OnlineIdentifier(x.robot)
    for q, qd, qdd in zip(x.motion.q[:100], x.motion.qd, x.motion.qdd, strict=False):
        monitor.update(q, qd, qdd, x.robot.inverse_dynamics(q, qd, qdd))
    return monitor.base_values


def collision(x: Experiment) -> Any:
    observer = sy.CollisionObserver(x.fit)
    observer.update(x.log.q, np.gradient(x.log.q, x.log.t, axis=0), x.log.tau, x.log.t)
    return observer.threshold


def inverse(method: str) -> Callable[[Experiment], Any]:
    puma, q = sy.load("puma560"), np.random.default_rng(0).uniform(-1.0, 1.0, (20, 6))
    q[0] *= 1e-200
    return lambda x: sy.inverse_kinematics(puma, puma.forward_kinematics(q), method=method).best


CALLS: dict[str, Callable[[Experiment], Any]] = {
    "identify": lambda x: sy.identify(x.robot, x.log).base_values,
    "doctor": lambda x: str(sy.doctor(x.robot, x.log)),
    "excite": lambda x: sy.excite(x.robot, seconds=2, starts=1).q,
    "simulate": lambda x: sy.simulate(x.robot, q0=[1e-200, 1e-310], seconds=0.1).q,
    "payload": lambda x: sy.payload(x.robot, x.loaded, empty=x.log).mass,
    "validate": lambda x: x.fit.validate(x.loaded).rms,
    "predict": lambda x: x.fit.predict(x.motion.q, 1e-200 * x.motion.qd, x.motion.qdd).torque,
    "summary": lambda x: str(x.fit.summary()),
    "check": lambda x: str(sy.check(x.robot)),
    "record": lambda x: sy.record(x.robot, x.motion, rate=100).tau,
    "inverse kinematics": lambda x: inverse("auto")(x),
    "inverse kinematics, numerical": lambda x: inverse("numerical")(x),
    "batches of states": lambda x: x.robot.mass_matrix(1e-300 * x.motion.q),
    "few states": lambda x: x.robot.inverse_dynamics(
        1e-200 * x.motion.q[:3], 1e-200 * x.motion.qd[:3], x.motion.qdd[:3]
    ),
    "one state": lambda x: x.robot.regressor(
        1e-200 * x.motion.q[1], 1e-200 * x.motion.qd[1], x.motion.qdd[1]
    ),
    "online": online,
    "collision": collision,
    "point to point": (
        lambda x: (
            point_to_point([0.0, 1e-200], [1.0, 0.5], velocity=1.0, acceleration=2.0, jerk=9.0).q
        )
    ),
    "time optimal": (
        lambda x: (
            time_optimal(
                x.robot, [[0.0, 0.0], [0.4, 0.2], [0.5, 0.9]], 600.0, 2.0, 4.0, points=50
            ).q
        )
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_do_not_depend_on_seterr(name: str) -> None:
    x = experiment()
    plain = CALLS[name](x)
    with np.errstate(all="raise"):
        strict = CALLS[name](x)
    if isinstance(plain, str):
        assert strict == plain
    else:
        np.testing.assert_array_equal(strict, plain)


def test_reports_do_not_depend_on_seterr(tmp_path: Path) -> None:
    fit = experiment().fit
    with np.errstate(all="raise"):
        sy.report(fit, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000
