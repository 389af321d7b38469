"""The robot at a position.

Sliders, torques against limits, mass matrix, manipulability, and other postures of the same pose.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ....drawing.numbers import short
from ....errors import SteelyardError
from ....robot import Robot
from ....robot.tables import body_table, facts, joint_table
from .. import code_snippets
from ..window import PageWindow
from .controls import (
    Snippet,
    button,
    choice,
    guarded,
    html,
    html_text,
    number_field,
    part,
    slider,
    table_element,
    tell,
)
from .robot_view import RobotView

Array = NDArray[np.float64]
WIDE = math.pi  # [rad|m] of a slider without limits
MOST_CELLS = 14  # joints up to which the mass matrix is shown


class RobotTab:
    """The tab of the robot. `show` brings numbers and sliders to the window's position."""

    def __init__(self, window: PageWindow, robot_view: RobotView) -> None:
        self.window, self.robot_view = window, robot_view
        assert window.robot is not None
        self.robot: Robot = window.robot
        self.qd, self.qdd = np.zeros(self.robot.n), np.zeros(self.robot.n)
        self._joints()
        with part("section", aria_label="Torques"):
            part("h2", "Torques")
            self.torques = html("", classes="torques")
            part(
                "p",
                "Bar: gravity alone. Line: with speed, acceleration and friction. The frame is the"
                " limit, where there is one.",
                "note",
            )
        with part("section", aria_label="Mass matrix and manipulability"):
            part("h2", "Mass matrix and manipulability")
            self.numbers = html("", classes="numbers")
            self.matrix = html(
                "", classes="sheet", tabindex="0", role="region", aria_label="Mass matrix"
            )
        self._postures()
        with part("details", classes="fold"):
            part("summary", "What the description says")
            part("p", facts(self.robot), "note")
            table_element(joint_table(self.robot))
            table_element(body_table(self.robot))
            for remark in self.robot.remarks:
                part("p", remark, "note")
        self.lines = Snippet(*self._recipe())
        self.show()
        robot_view.moved.append(self._played)

    def _joints(self) -> None:
        self.sliders, self.fields = [], []
        with part("section", aria_label="Joints"):
            with part("div", classes="heading"):
                part("h2", "Joints")
                button("Zero", self._zero, "quiet")
            for j, (name, limits) in enumerate(
                zip(self.robot.joint_names, self.robot.tree.limits, strict=True)
            ):
                low, high = max(limits.lower, -1e3), min(limits.upper, 1e3)
                low, high = (
                    (low if math.isfinite(limits.lower) else -WIDE),
                    (high if math.isfinite(limits.upper) else WIDE),
                )
                unit = "m" if self.robot.torque_units[j] == "N" else "rad"
                with part("div", classes="joint"):
                    part("span", name, "name", title=f"{short(low)} … {short(high)} {unit}")
                    position = float(self.window.q[j])  # type: ignore[index]
                    self.sliders.append(
                        slider(f"{name} [{unit}]", low, high, position, partial(self.move, j))
                    )
                    self.fields.append(
                        number_field(
                            f"{name}, as a number [{unit}]",
                            f"{position:.4f}",
                            partial(self._typed, j),
                        )
                    )
            with part("details", classes="fold"):
                part("summary", "Speeds and accelerations")
                for j, name in enumerate(self.robot.joint_names):
                    with part("div", classes="joint"):
                        part("span", name, "name")
                        slider(f"speed of {name}", -3, 3, 0, partial(self._rate, self.qd, j))
                        slider(
                            f"acceleration of {name}", -10, 10, 0, partial(self._rate, self.qdd, j)
                        )

    def _postures(self) -> None:
        with part("section", aria_label="Postures"):
            with part("div", classes="heading"):
                part("h2", "Other postures")
                names = self.robot.frame_names
                if self.window.frame:
                    choice("Frame", names, self.window.frame, self._frame)
            part("p", "All postures that bring the frame to the same pose, as ghosts.", "note")
            with part("div", classes="row"):
                button("Find postures", self.find, "main")
                button("Hide", lambda: self._ghosts(np.empty((0, self.robot.n)), ()), "quiet")
            self.found = part(
                "div", classes="row", role="group", aria_label="Postures that were found"
            )

    def move(self, j: int, value: float) -> None:
        """Bring joint j to a position [rad|m]."""
        q = np.array(self.window.q)
        q[j] = value
        self.go(q)

    def go(self, q: Array) -> None:
        """Bring the robot to a position (n,) [rad|m]; loops are closed as near to it as can be."""
        if self.robot.tree.loops:
            try:
                q = np.asarray(self.robot.assemble(q))
            except SteelyardError as error:
                tell(str(error), bad=True)
                return
        self.window.q = q
        self.show()

    def _typed(self, j: int, text: str) -> None:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            tell(f"{self.robot.joint_names[j]}: expected a number", bad=True)
            return
        self.move(j, value)

    def _rate(self, values: Array, j: int, value: float) -> None:
        values[j] = value
        self.show(False)

    def _played(self, time: float) -> None:
        """Follow a motion that is played, with its speeds and accelerations."""
        motion = self.robot_view.motion
        if motion is not None:
            self.qd[:], self.qdd[:] = (motion.at(time, values) for values in motion.derivatives)
        self.show(False)

    def _zero(self) -> None:
        self.qd[:], self.qdd[:] = 0.0, 0.0
        self.go(np.array(self.robot.near_zero))

    def _frame(self, name: str) -> None:
        self.window.frame = name if name in self.robot.frame_names else self.window.frame
        self.show()

    def find(self) -> None:
        """Show all postures of the present pose."""
        from ....motion.inverse_kinematics.solve import inverse_kinematics

        if not self.window.frame:
            tell("This robot has several tips: there is no frame to find postures of.", bad=True)
            return
        q = np.array(self.window.q)
        solutions = guarded(
            lambda: inverse_kinematics(
                self.robot,
                self.robot.forward_kinematics(q, self.window.frame),
                self.window.frame,
                q,
            )
        )
        if solutions is not None:
            valid = solutions.q[solutions.valid]
            self._ghosts(
                valid,
                [
                    name
                    for name, good in zip(solutions.branches, solutions.valid, strict=True)
                    if good
                ],
            )

    def _ghosts(self, positions: Array, names: object) -> None:
        self.robot_view.ghosts(positions)
        self.found.clear()
        with self.found:
            for name, q in zip(names, positions, strict=True):  # type: ignore[call-overload]
                button(str(name) or "posture", partial(self.go, np.array(q)), "quiet")
            part("output", f"{len(positions)} postures" if len(positions) else "", "note")

    def show(self, pose: bool = True) -> None:
        """Bring sliders, torques and matrices to the window's position.

        `pose` also the 3-D view.
        """
        q = self.window.q
        assert q is not None
        for control, text, value in zip(self.sliders, self.fields, q, strict=True):
            control.props["value"] = round(float(value), 5)
            text.props["value"] = f"{value:.4f}"
        if pose:
            self.robot_view.pose()
        self.torques.content = torque_bars(self.robot, q, self.qd, self.qdd)
        self.matrix.content = matrix_table(self.robot, q)
        self.numbers.content = measures(self.robot, q, self.window.frame)
        self.lines.say(*self._recipe())

    def _recipe(self) -> tuple[str, str]:
        return code_snippets.state_lines(
            self.window, self.qd, self.qdd
        ), code_snippets.torque_command(self.window, self.qd, self.qdd)


def torque_bars(robot: Robot, q: Array, qd: Array, qdd: Array) -> str:
    """Return bars of gravity torque and total torque per joint, relative to the limit."""
    gravity, full = (
        np.asarray(x).round(6) + 0.0
        for x in (robot.gravity_torque(q), robot.inverse_dynamics(q, qd, qdd))
    )
    limits = np.array([each.effort for each in robot.tree.limits])
    most = max(1e-9, float(np.abs(np.concatenate([gravity, full])).max()))
    rows, digits = [], max(0, 2 - math.floor(math.log10(most)))
    for name, unit, g, tau, limit in zip(
        robot.joint_names, robot.torque_units, gravity, full, limits, strict=True
    ):
        span = limit if math.isfinite(limit) and limit > 0 else 1.15 * most
        over = " over" if abs(tau) > limit else ""
        start, end = (50 + 50 * max(-1.0, min(1.0, x / span)) for x in (g, tau))
        words = f"{name}: {tau:.4g} {unit}, of which gravity {g:.4g}" + (
            f", limit {limit:.4g}" if math.isfinite(limit) else ""
        )
        share = f"{100 * abs(tau) / limit:.0f} %" if math.isfinite(limit) and limit > 0 else ""
        rows.append(
            f'<div class="bar{over}" role="img" aria-label="{html_text(words)}"><span'
            f' class="name">{html_text(name)}</span><svg viewBox="0 0 100 10"'
            ' preserveAspectRatio="none" aria-hidden="true"><rect class="box" width="100"'
            f' height="10"/><rect class="gravity" x="{min(50, start):.2f}" y="2"'
            f' width="{abs(start - 50):.2f}" height="6"/><path class="zero" d="M50 0v10"/><path'
            f' class="full" d="M{end:.2f} 0v10"/></svg><span'
            f' class="value">{tau + 0.0:.{digits}f}&nbsp;<span'
            f' class="unit">{unit}</span></span><span class="share">{share}</span></div>'
        )
    return "".join(rows)


def matrix_table(robot: Robot, q: Array) -> str:
    """Return the mass matrix as a table, each number shaded by its share of the diagonal's.

    M_ij / sqrt(M_ii M_jj).
    """
    if robot.n > MOST_CELLS:
        return (
            f"<p class='note'>The mass matrix is shown up to {MOST_CELLS} joints; this robot has"
            f" {robot.n}.</p>"
        )
    M = np.asarray(robot.mass_matrix(q)).round(12)
    diagonal = np.sqrt(np.maximum(np.diag(M), 1e-300))
    digits = max(0, 3 - math.floor(math.log10(float(diagonal.max()) ** 2)))
    share = np.abs(M) / np.outer(diagonal, diagonal)
    names = [html_text(name) for name in robot.joint_names]
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(
        f'<tr><th scope="row">{name}</th>'
        + "".join(
            f'<td style="--share:{min(1.0, s):.3f}">{round(x, digits) + 0.0:.{digits}f}</td>'
            for x, s in zip(row, shares, strict=True)
        )
        + "</tr>"
        for name, row, shares in zip(names, M, share, strict=True)
    )
    title = "<caption>M(q) [kg m², kg m, kg]</caption>"
    return (
        f'<table class="matrix">{title}<thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def measures(robot: Robot, q: Array, frame: str) -> str:
    """Return manipulability, frame position, centre of mass and potential energy, by name."""
    rows = []
    if frame:
        pose = np.asarray(robot.forward_kinematics(q, frame))
        rows.append((f"{frame} at [m]", " ".join(f"{x:.3f}" for x in pose[:3, 3])))
        rows.append(("manipulability", f"{float(robot.manipulability(q, frame)):.3g}"))
    rows.append(
        ("centre of mass [m]", " ".join(f"{x:.3f}" for x in np.asarray(robot.center_of_mass(q))))
    )
    rows.append(("potential energy [J]", f"{float(robot.potential_energy(q)):.4g}"))
    return (
        "<dl>"
        + "".join(
            f"<div><dt>{html_text(name)}</dt><dd>{html_text(value)}</dd></div>"
            for name, value in rows
        )
        + "</dl>"
    )
