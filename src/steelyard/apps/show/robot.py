"""A robot on the terminal: its card, the list of built-in ones, a state with its torques, a motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ...algebra.spatial import at_com
from ...drawing.numbers import fixed, percent, short
from ...mechanism.joint_terms import JOINT_TERMS
from ...reporting.tables import torque_units
from .terminal import remarks, table

if TYPE_CHECKING:
    from ...motion import Trajectory
    from ...robot import Robot
    from ...simulation import Run

Array = NDArray[np.float64]


def card(robot: Robot) -> RenderableType:
    """Name and size, joints, moving bodies, remarks."""
    loops = [_loops(robot)] if robot.tree.loops else []
    return Group(head(robot), _joints(robot), _bodies(robot), *loops, remarks(robot.remarks))


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
    gravity = ", ".join(short(x) for x in mechanism.gravity)
    text = Text(mechanism.name, style="bold cyan")
    facts = f"\n{robot.n} joints, {len(mechanism.links)} links, {short(_mass(robot), 4)} kg moving, {len(robot.parameters)} parameters"
    text.append(f"{facts}; gravity ({gravity}) m/s²", style="not bold default")
    text.append(f"\n{where}; fingerprint {robot.fingerprint[:16]}", style="not bold dim default")
    return text


def robots_table(robots: Sequence[tuple[str, Robot]]) -> Table:
    """One row per built-in robot."""
    made = table("Built-in robots", ["name", ">joints", "kinds", ">moving mass [kg]", ">parameters"])
    for name, robot in robots:
        kinds = "".join(robot.mechanism.joint(joint).kind[0].upper() for joint in robot.joint_names)
        made.add_row(name, str(robot.n), kinds, short(_mass(robot), 4), str(len(robot.parameters)))
    return made


def torque_table(robot: Robot, state: Sequence[Array], tau: Array) -> Table:
    """One state and its torques, joint by joint."""
    made = table("Torques", ["joint", ">q", ">qd", ">qdd", ">tau", "unit"], "q in rad or m, rates per s and s²")
    for name, q, qd, qdd, effort, unit in zip(robot.joint_names, *state, tau, torque_units(robot), strict=True):
        made.add_row(name, *(short(float(x), 6) for x in (q, qd, qdd)), short(float(effort), 7), unit)
    return made


def motion_table(title: str, robot: Robot, motion: Trajectory, tau: Array) -> Table:
    """Range of each joint's motion and of a torque (N, n) along it."""
    made = table(title, ["joint", ">q", ">|qd|", ">|qdd|", ">min tau", ">max tau", ">rms tau", "unit"])
    for i, (name, unit) in enumerate(zip(robot.joint_names, torque_units(robot), strict=True)):
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
    for i, (name, unit) in enumerate(zip(run.robot.joint_names, torque_units(run.robot), strict=True)):
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


def _mass(robot: Robot) -> float:
    return sum(body.inertia.m for body in robot.tree.bodies)


def _joints(robot: Robot) -> Table:
    """One row per coordinate; columns that no joint fills are left out."""
    rows = []
    for name, limits, terms in zip(robot.joint_names, robot.tree.limits, robot.tree.terms, strict=True):
        travel = f"{short(limits.lower)} … {short(limits.upper)}"
        numbers = (limits.velocity, limits.effort, *(terms.get(row.key) for row in JOINT_TERMS))
        joint = robot.mechanism.joint(name)
        rows.append([name, joint.kind, joint.child, travel, *(short(x, 4) for x in numbers)])
    names = ["joint", "kind", "carries", ">travel", ">speed", ">effort", *(f">{row.symbol}" for row in JOINT_TERMS)]
    kept = [i for i in range(len(names)) if i < 4 or any(row[i] != "–" for row in rows)]
    meanings = "".join(f"; {row.symbol} {row.meaning}" for i, row in enumerate(JOINT_TERMS) if i + 6 in kept)
    made = table("Joints", [names[i] for i in kept], f"rad or m, N m or N; – unlimited or none{meanings}")
    for row in rows:
        made.add_row(*(row[i] for i in kept))
    return made


def _bodies(robot: Robot) -> Table:
    """Moving bodies with all that is fixed to them."""
    made = table("Moving bodies", ["body", ">mass [kg]", ">centre [m]", ">Ixx", ">Iyy", ">Izz"], "centre of mass; inertia [kg m²] about it")
    for body in robot.tree.bodies:
        if not body.inertia.m:
            made.add_row(body.name, "0", "", "", "", "")
            continue
        m, c, I = at_com(body.inertia)  # noqa: E741
        made.add_row(body.name, short(m, 4), " ".join(fixed(x) for x in c), *(short(x, 4) for x in (I.xx, I.yy, I.zz)))
    return made
