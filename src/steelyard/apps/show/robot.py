"""A robot on the terminal: its card, the list of built-in ones, a state with its torques, a motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...drawing.numbers import fixed, percent, short
from ...robot.tables import body_table, facts, joint_table
from .terminal import remarks, table, terminal_table

if TYPE_CHECKING:
    from ...motion import Trajectory
    from ...robot import Robot
    from ...simulation import Run

Array = NDArray[np.float64]


def card(robot: Robot) -> RenderableType:
    """Name and size, joints, moving bodies, remarks."""
    loops = [_loops(robot)] if robot.tree.loops else []
    return Group(head(robot), *map(terminal_table, (joint_table(robot), body_table(robot))), *loops, remarks(robot.remarks))


def _loops(robot: Robot) -> Table:
    """Loops, what they leave free, and whether the drives suffice."""
    made = table("Loops", ("loop", "closes", "between"), str(robot.loop_structure))
    for loop in robot.mechanism.loops:
        made.add_row(loop.name, loop.kind, f"{loop.a} and {loop.b}" if loop.a else ", ".join(loop.joints))
    return made


def head(robot: Robot) -> Text:
    """Name, size and origin."""
    mechanism = robot.mechanism
    source = mechanism.source
    where = {"builtin": "built in"}.get(source.format, source.path or source.format) if source else "made in Python"
    text = Text(mechanism.name, style="bold cyan")
    text.append(f"\n{facts(robot)}", style="not bold default")
    text.append(f"\n{where}; fingerprint {robot.fingerprint[:16]}", style="not bold dim default")
    return text


def robots_table(robots: Sequence[tuple[str, Robot]]) -> Table:
    """One row per built-in robot."""
    made = table("Built-in robots", ["name", ">joints", "kinds", ">moving mass [kg]", ">parameters"])
    for name, robot in robots:
        kinds = "".join(robot.mechanism.joint(joint).kind[0].upper() for joint in robot.joint_names)
        made.add_row(name, str(robot.n), kinds, short(sum(body.inertia.m for body in robot.tree.bodies), 4), str(len(robot.parameters)))
    return made


def torque_table(robot: Robot, state: Sequence[Array], tau: Array) -> Table:
    """One state and its torques, joint by joint."""
    made = table("Torques", ["joint", ">q", ">qd", ">qdd", ">tau", "unit"], "q in rad or m, rates per s and s²")
    for name, q, qd, qdd, effort, unit in zip(robot.joint_names, *state, tau, robot.torque_units, strict=True):
        made.add_row(name, *(short(float(x), 6) for x in (q, qd, qdd)), short(float(effort), 7), unit)
    return made


def motion_table(title: str, robot: Robot, motion: Trajectory, tau: Array) -> Table:
    """Range of each joint's motion and of a torque (N, n) along it."""
    made = table(title, ["joint", ">q", ">|qd|", ">|qdd|", ">min tau", ">max tau", ">rms tau", "unit"])
    for i, (name, unit) in enumerate(zip(robot.joint_names, robot.torque_units, strict=True)):
        q, effort = motion.q[:, i], tau[:, i]
        rates = (short(float(np.abs(x[:, i]).max())) for x in (motion.qd, motion.qdd))
        efforts = (short(float(x), 4) for x in (effort.min(), effort.max(), np.sqrt(np.mean(effort**2))))
        made.add_row(name, f"{fixed(q.min(), 2)} … {fixed(q.max(), 2)}", *rates, *efforts, unit)
    return made


def excitation_table(robot: Robot, motion: Trajectory) -> Table:
    """A motion worth recording: each joint's path as a picture, its range, and what it uses of its limits at any instant."""
    found = motion.excitation
    assert found is not None
    assert found.certificate is not None
    told = f"log-det {found.log_det:.1f} of {found.base_parameters} parameters, condition {found.condition:.3g}"
    title = f"A motion of {motion.duration:g} s: {told}"
    names = ["joint", "q over time", ">from … to", ">position", ">speed", ">acceleration", ">jerk", ">torque"]
    made = table(title, names, "the last five in % of what may be used, at any instant; – not limited")
    used = found.certificate[:5]
    for i, name in enumerate(robot.joint_names):
        q = motion.q[:, i]
        shares = (percent(float(x[i])) if float(x[i]) > 0 else short(None) for x in used)
        made.add_row(name, sparkline(q), f"{fixed(q.min(), 2)} … {fixed(q.max(), 2)}", *shares)
    return made


def run_table(run: Run) -> Table:
    """A simulated motion: each joint's path as a picture, its start and end, the largest speed and the torque."""
    good = np.all(np.isfinite(run.q), axis=-1)
    made = table(run.status, ["joint", "q over time", ">from", ">to", ">|qd|", ">max |tau|", "unit"])
    for i, (name, unit) in enumerate(zip(run.robot.joint_names, run.robot.torque_units, strict=True)):
        q, ends = run.q[good, i], (fixed(x, 3) for x in run.q[good][[0, -1], i])
        largest = (short(float(np.abs(x[good, i]).max()), 4) for x in (run.qd, run.tau))
        made.add_row(name, sparkline(q), *ends, *largest, unit)
    return made


def sparkline(x: Array, width: int = 24) -> str:
    """A curve as a row of blocks of different height."""
    at = x[np.linspace(0, len(x) - 1, width).astype(int)]
    span = float(np.ptp(at))
    heights = np.zeros(width, int) if span < 1e-12 else np.rint(7 * (at - at.min()) / span).astype(int)
    return "".join("▁▂▃▄▅▆▇█"[h] for h in heights)
