"""A robot on the terminal.

Its card, the list of known ones, a state with its torques, a motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType

from ...drawing.numbers import fixed, percent, short
from ...drawing.table import Table, named_columns
from ...drawing.visible import visible_line
from ...robot.tables import body_table, facts, joint_table, ratings_table
from .terminal import remarks, sentence, stack

if TYPE_CHECKING:
    from ...motion import Trajectory
    from ...robot import Robot
    from ...simulation import Run

Array = NDArray[np.float64]


def robot_summary(robot: Robot) -> RenderableType:
    """Name and size, joints, moving bodies, remarks."""
    return stack(head(robot), *card_tables(robot), remarks(robot.remarks))


def card_tables(robot: Robot) -> list[Table]:
    """Return joints, moving bodies and, where it has them, loops and ratings."""
    ratings = [ratings_table(robot)] if robot.mechanism.data_sheet.ratings else []
    loops = [_loops(robot)] if robot.tree.loops else []
    return [joint_table(robot), body_table(robot), *loops, *ratings]


def _loops(robot: Robot) -> Table:
    """Return loops, their free coordinates, and whether the drives suffice."""
    loops = robot.mechanism.loops
    rows = [
        (loop.name, loop.kind, f"{loop.a} and {loop.b}" if loop.a else ", ".join(loop.joints))
        for loop in loops
    ]
    return Table(
        "Loops", named_columns("loop", "closes", "between"), tuple(rows), str(robot.loop_structure)
    )


def head(robot: Robot) -> RenderableType:
    """Name, size and origin."""
    mechanism = robot.mechanism
    source = mechanism.source
    where = (
        {"builtin": "built in"}.get(source.format, source.path or source.format)
        if source
        else "made in Python"
    )
    return stack(
        sentence(mechanism.name, "bold cyan"),
        facts(robot),
        sentence(f"{visible_line(str(where))}; fingerprint {robot.fingerprint[:16]}", "dim"),
        *(
            sentence(f"{label}: {visible_line(text)}", "dim")
            for label, text in (
                ("Source", mechanism.data_sheet.source),
                ("Estimated", mechanism.data_sheet.estimated),
            )
            if text
        ),
    )


def robots_table(robots: Sequence[tuple[str, Robot]], installed: Mapping[str, str]) -> Table:
    """Return one row per built-in robot, and per installed one, which is not loaded.

    `installed` has the package of each installed robot by its name.
    """
    kinds = [
        "".join(robot.mechanism.joint(joint).kind[0].upper() for joint in robot.joint_names)
        for _, robot in robots
    ]
    masses = [sum(body.inertia.m for body in robot.tree.bodies) for _, robot in robots]
    unknown = [None] * len(installed)
    data: dict[str, list[object]] = {
        "name": [*(name for name, _ in robots), *installed],
        "joints": [*(robot.n for _, robot in robots), *unknown],
        "kinds": [*kinds, *unknown],
        "moving_mass_kg": [*masses, *unknown],
        "parameters": [*(len(robot.parameters) for _, robot in robots), *unknown],
        "package": [*("built-in" for _ in robots), *installed.values()],
        "source": [*(robot.mechanism.data_sheet.source for _, robot in robots), *unknown],
    }
    rows = [
        (name, str(robot.n), kind, short(mass, 4), str(len(robot.parameters)), "built-in")
        for (name, robot), kind, mass in zip(robots, kinds, masses, strict=True)
    ]
    rows += [(name, "", "", "", "", package) for name, package in installed.items()]
    return Table(
        "Robots",
        named_columns("name", ">joints", "kinds", ">mass [kg]", ">parameters", "from"),
        tuple(rows),
        "mass of the moving links; `steelyard info NAME` cites the sources",
        data=data,
    )


def without_installed(table: Table, installed: Mapping[str, str]) -> Table:
    """Return the table of robots without the installed ones, which its note counts."""
    packages = ", ".join(sorted(set(installed.values())))
    more = f"{len(installed)} more of {packages}: `steelyard robots --installed`"
    rows = tuple(row for row in table.rows if row[0] not in installed)
    return replace(table, rows=rows, note=f"{table.note}; {more}")


def torque_table(robot: Robot, state: Sequence[Array], tau: Array) -> Table:
    """Return one state and its torques, joint by joint."""
    units = robot.torque_units
    data = {
        "joint": list(robot.joint_names),
        **dict(zip(("q", "qd", "qdd", "tau"), (*state, tau), strict=True)),
        "unit": list(units),
    }
    rows = [
        (name, *(short(float(x), 6) for x in (q, qd, qdd)), short(float(effort), 7), unit)
        for name, q, qd, qdd, effort, unit in zip(
            robot.joint_names, *state, tau, units, strict=True
        )
    ]
    columns = named_columns("joint", ">q", ">qd", ">qdd", ">tau", "unit")
    return Table("Torques", columns, tuple(rows), "q in rad or m, rates per s and s²", data=data)


def motion_table(title: str, robot: Robot, motion: Trajectory, tau: Array) -> Table:
    """Return the range of each joint's motion and of a torque (N, n) along it."""
    data = {
        "joint": list(robot.joint_names), "q_min": motion.q.min(0), "q_max": motion.q.max(0),
        "qd_most": np.abs(motion.qd).max(0),
        "qdd_most": np.abs(motion.qdd).max(0), "tau_min": tau.min(0), "tau_max": tau.max(0),
        "tau_rms": np.sqrt(np.mean(tau**2, axis=0)),
        "unit": list(robot.torque_units),
    }  # fmt: skip
    rows = [
        (
            name,
            f"{fixed(low, 2)} … {fixed(high, 2)}",
            short(float(qd)),
            short(float(qdd)),
            *(short(float(x), 4) for x in efforts),
            unit,
        )
        for name, low, high, qd, qdd, *efforts, unit in zip(*data.values(), strict=True)
    ]
    columns = named_columns(
        "joint", ">q", ">|qd|", ">|qdd|", ">min tau", ">max tau", ">rms tau", "unit"
    )
    return Table(title, columns, tuple(rows), data=data)


def excitation_table(robot: Robot, motion: Trajectory, full: bool = True) -> Table:
    """Return the table of a designed motion: path, range and use of the limits of each joint.

    Unless `full` without the path and without limits that no joint has.
    """
    design = motion.excitation
    assert design is not None
    assert design.certificate is not None
    note = (
        f"log-det {design.log_det:.1f} of {design.base_parameters} parameters, condition"
        f" {design.condition:.3g}"
    )
    title = f"Motion of {motion.duration:g} s: {note}"
    limits = ("position", "speed", "acceleration", "jerk", "torque")
    used = {
        name: np.asarray(share) for name, share in zip(limits, design.certificate[:5], strict=True)
    }
    data = {"joint": list(robot.joint_names), "q_min": motion.q.min(0), "q_max": motion.q.max(0)}
    shown = [name for name in limits if full or (used[name] > 0).any()]
    rows = [
        (
            name,
            *([sparkline(motion.q[:, i])] if full else []),
            f"{fixed(low, 2)} … {fixed(high, 2)}",
            *(percent(used[each][i]) if used[each][i] > 0 else short(None) for each in shown),
        )
        for i, (name, low, high) in enumerate(zip(*data.values(), strict=True))
    ]
    path = ["q over time"] if full else []
    columns = named_columns("joint", *path, ">from … to", *(f">{name}" for name in shown))
    return Table(
        title,
        columns,
        tuple(rows),
        "from … to in rad or m; then the largest use of each limit in %; – not limited",
        data=data | {f"{name}_used": share for name, share in used.items()},
    )


def run_table(run: Run) -> Table:
    """Return the table of a run: path, start, end, largest velocity and torque of each joint."""
    good = np.all(np.isfinite(run.q), axis=-1)
    q, qd, tau = (x[good] for x in (run.q, run.qd, run.tau))
    data = {
        "joint": list(run.robot.joint_names), "q_start": q[0], "q_end": q[-1],
        "qd_most": np.abs(qd).max(0), "tau_most": np.abs(tau).max(0),
        "unit": list(run.robot.torque_units),
    }  # fmt: skip
    rows = [
        (
            name,
            sparkline(q[:, i]),
            fixed(start, 3),
            fixed(end, 3),
            short(float(speed), 4),
            short(float(effort), 4),
            unit,
        )
        for i, (name, start, end, speed, effort, unit) in enumerate(
            zip(*data.values(), strict=True)
        )
    ]
    columns = named_columns("joint", "q over time", ">from", ">to", ">|qd|", ">max |tau|", "unit")
    return Table(run.status, columns, tuple(rows), data=data)


def sparkline(x: Array, width: int = 24) -> str:
    """Return a curve as a row of blocks of different height."""
    sampled = x[np.linspace(0, len(x) - 1, width).astype(int)]
    span = float(np.ptp(sampled))
    heights = (
        np.zeros(width, int)
        if span < 1e-12
        else np.rint(7 * (sampled - sampled.min()) / span).astype(int)
    )
    return "".join("▁▂▃▄▅▆▇█"[h] for h in heights)
