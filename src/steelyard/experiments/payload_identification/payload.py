"""Payload identification from logs with and without the load."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arguments import one_of, real_number, short_repr, yes_or_no
from ...cached import cached_property
from ...drawing.html import card
from ...drawing.numbers import short, with_uncertainty
from ...drawing.table import Column, Table
from ...errors import CallError, refuse_loops, require_robot
from ...floating_point import default_errstate, default_errstate_methods
from ...identification.model.accumulator import on_one_core
from ...identification.options import ArmArguments
from ...identification.result.fit import Fit
from ...identification.samples.samples import list_of_logs, require_log
from ...parameters.orders import to_urdf
from ...parameters.pseudo_inertia import from_pseudo_inertia, pseudo_inertia
from ...robot import Robot
from ...signals.log import Log
from .arm import LoadedArm, moving_arm, resting_arm
from .controller_load import CONTROLLERS, ControllerLoad, controller_load
from .load_columns import LoadFrame, load_frame
from .load_fit import LoadFit, fit_load
from .load_verdict import NUMBERS, LoadVerdict, judge_load
from .payload_thresholds import THRESHOLDS
from .static_segments import is_static

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = NDArray[np.float64]
SIX = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class LoadNumbers(NamedTuple):
    """Mass [kg], centre (3,) [m] and inertia about it (3, 3) [kg m2], or their std."""

    mass: float
    com: Array
    inertia: Array


@default_errstate_methods
@dataclass(frozen=True, eq=False, repr=False)
class PayloadEstimate:
    """An identified payload: `mass` [kg], `com` (3,) [m], `inertia` (3, 3) [kg m2] about it.

    All are in the axes of `frame`.

    The inertia is one that a body can have. `std` has the standard deviations, infinite for what
    the motion does not show. `robot` is the arm with the load, `verdict` says how far to trust it.
    `arm` has the model and samples, `fit` how the load was found.

    Examples
    --------
    >>> robot = sy.load("elbow_6r")
    >>> motion = sy.excite(robot, seconds=6, candidates=20, speed=1.0)
    >>> loaded = sy.record(robot.with_payload(2.5, com=(0, 0, 0.1)), motion, rate=50)
    >>> p = sy.payload(robot, loaded)
    >>> abs(p.mass - 2.5) < 3 * p.std.mass
    True
    """

    arm: LoadedArm
    attachment: LoadFrame
    fit: LoadFit

    @property
    def frame(self) -> str:
        """The frame whose axes mass, centre and inertia are in."""
        return self.attachment.frame

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.fit.numbers[0])

    @property
    def com(self) -> Array:
        """Centre of mass in the frame, (3,) [m]."""
        return self.fit.numbers[1:4]

    @property
    def inertia(self) -> Array:
        """Inertia about the centre of mass, in the frame's axes, (3, 3) [kg m2]."""
        return matrix_of(self.fit.numbers[4:])

    @cached_property
    def std(self) -> LoadNumbers:
        """Standard deviations of mass, centre and inertia; infinite for what is not identified."""
        std = np.where(self.fit.seen, np.sqrt(np.diag(self.fit.covariance)), np.inf)
        return LoadNumbers(float(std[0]), std[1:4], matrix_of(std[4:]))

    def interval(self, level: float = 0.95) -> tuple[LoadNumbers, LoadNumbers]:
        """Return the confidence interval of mass, centre and inertia, each by itself.

        Parameters
        ----------
        level : probability [-].

        Returns
        -------
        Two `LoadNumbers`: .mass [kg], .com (3,) [m], .inertia (3, 3) [kg m2].

        Examples
        --------
        >>> low, high = p.interval(0.95)
        >>> low.mass < p.mass < high.mass
        True
        """
        from scipy.stats import norm

        times = float(norm.ppf(0.5 + 0.5 * real_number("interval: level", level, 0.0, 1.0)))
        low, high = (
            LoadNumbers(
                self.mass + s * self.std.mass,
                self.com + s * self.std.com,
                self.inertia + s * self.std.inertia,
            )
            for s in (-times, times)
        )
        return low, high

    @cached_property
    def verdict(self) -> LoadVerdict:
        """How far to trust the load, and why."""
        return judge_load(self.arm, self.fit)

    @cached_property
    def robot(self) -> Robot:
        """The arm with the load."""
        return self.arm.robot.with_payload(
            self.mass, self.com.tolist(), self.inertia.tolist(), self.frame
        )

    def in_frame(self, frame: str) -> LoadNumbers:
        """Return mass, centre and inertia about it in the axes of another frame of the same link.

        Parameters
        ----------
        frame : name of a frame, one of `frame_names`; the end-effector by default.

        Returns
        -------
        `LoadNumbers`: .mass [kg], .com (3,) [m], .inertia (3, 3) [kg m2].

        Examples
        --------
        >>> abs(p.in_frame("link6").mass - 2.5) < 3 * p.std.mass
        True
        """
        other = load_frame(self.arm.robot, self.attachment.link, frame)
        X = np.eye(4)
        one, two = (self.arm.robot.tree.frames[name].pose for name in (other.frame, self.frame))
        pose = one.inverse().compose(two)
        X[:3, :3], X[:3, 3] = np.array(pose.R, float), np.array(pose.p, float)
        if self.mass < THRESHOLDS.lightest_load:
            return LoadNumbers(self.mass, X[:3, 3], np.zeros((3, 3)))
        ten = to_urdf(from_pseudo_inertia(X @ pseudo_inertia(self.fit.parameters) @ X.T))
        return LoadNumbers(float(ten[0]), ten[1:4], matrix_of(ten[4:]))

    def controller(self, name: str, flange: str | None = None) -> ControllerLoad:
        """Return the load settings of a controller: 'franka', 'ur' or 'kuka'.

        They have the names, units and order of the controller.

        There is a line for the controller only if the verdict is trusted and mass and centre are
        identified; else `.text` is empty and `.notes` says why. An inertia that is not identified
        as a whole is set to zero, a point mass, and `.notes` says so.

        Parameters
        ----------
        name : of the maker.
        flange : the frame of the robot that is the controller's flange frame; the frame of the load
            by default.

        Returns
        -------
        A `ControllerLoad`: .values in the maker's units, .text, .notes.

        Examples
        --------
        >>> sorted(p.controller("ur").values)
        ['cog', 'inertia', 'm']
        """
        one_of("controller", name, tuple(CONTROLLERS))
        return controller_load(name, self.in_frame(flange or self.frame), self.verdict)

    def to_urdf(self, name: str = "payload") -> str:
        """Return the load as a URDF link with a fixed joint, to paste into a robot's file.

        Parameters
        ----------
        name : of the link.

        Returns
        -------
        XML.

        Examples
        --------
        >>> p.to_urdf().strip()[:5]
        '<link'
        """
        (x, y, z), I = self.com, self.inertia  # noqa: E741
        six = " ".join(f'i{"xyz"[i]}{"xyz"[j]}="{I[i, j]:.9g}"' for i, j in SIX)
        return (
            f'<link name="{name}">\n  <inertial>\n    <origin xyz="{x:.9g} {y:.9g} {z:.9g}" rpy="0'
            f' 0 0"/>\n    <mass value="{self.mass:.9g}"/>\n    <inertia {six}/>\n '
            f' </inertial>\n</link>\n<joint name="{name}_joint" type="fixed">\n  <parent'
            f' link="{self.frame}"/>\n  <child link="{name}"/>\n</joint>\n'
        )

    def rows(self) -> list[tuple[str, float, float, str]]:
        """Return name, value, standard deviation and unit of each of the ten numbers.

        Returns
        -------
        Ten rows.

        Examples
        --------
        >>> len(p.rows())
        10
        """
        std = np.concatenate(
            [[self.std.mass], self.std.com, [self.std.inertia[i, j] for i, j in SIX]]
        )
        units = ["kg", *["m"] * 3, *["kg m2"] * 6]
        return list(zip(NUMBERS, self.fit.numbers.tolist(), std.tolist(), units, strict=True))

    def summary(self) -> str:
        """Return the verdict, the ten numbers with their standard deviations, and the reasons.

        Returns
        -------
        Text.

        Examples
        --------
        >>> len(p.summary().splitlines()) > 10
        True
        """
        rows = [
            (
                f"  {name:<6} {x:12.6g} +- {s:<10.3g} {unit}"
                if np.isfinite(s)
                else f"  {name:<6} {x:12.6g} {unit}, not identified"
            )
            for name, x, s, unit in self.rows()
        ]
        return "\n".join(
            [
                str(self.verdict),
                f"In the frame {self.frame}:",
                *rows,
                *(f"- {reason}" for reason in self.verdict.reasons),
            ]
        )

    def table(self) -> Table:
        """Return the ten numbers with two standard deviations as a table.

        Returns
        -------
        A table with names and units of its columns.

        Examples
        --------
        >>> len(p.table().rows)
        10
        """
        rows = self.rows()
        cells = tuple(
            (name, *(with_uncertainty(x, 2 * s) if np.isfinite(s) else (short(x), "–")), unit)
            for name, x, s, unit in rows
        )
        columns = (
            Column("number", numeric=False),
            Column("value"),
            Column("± 2σ"),
            Column("unit", numeric=False),
        )
        names = ("number", "value", "std", "unit")
        data = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        return Table(f"In the frame {self.frame}", columns, cells, data=data)

    def _repr_html_(self) -> str:
        return card(repr(self), str(self.verdict), (self.table(),), self.verdict.reasons)

    def __repr__(self) -> str:
        x, y, z = 1e3 * self.com
        where = f"({x:.1f}, {y:.1f}, {z:.1f}) mm of {self.frame}"
        return (
            f"PayloadEstimate({self.mass:.4g} kg +- {self.std.mass:.2g} at {where},"
            f" {self.verdict.word})"
        )


def matrix_of(six: Array) -> Array:
    """Return the symmetric matrix (3, 3) of Ixx Ixy Ixz Iyy Iyz Izz."""
    return six[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]]


@on_one_core
@default_errstate
def payload(
    robot: Robot | Fit,
    loaded: Log | Iterable[Log],
    empty: Log | Iterable[Log] | None = None,
    *,
    link: str | None = None,
    frame: str | None = None,
    static: bool | None = None,
    torque_scale_std: float | None = None,
    progress: Callable[[str, float], None] | None = None,
    **options: Unpack[ArmArguments],
) -> PayloadEstimate:
    """Identify mass, centre and inertia of the load on a link.

    tau = Y(q, qd, qdd) arm + L(q, qd, qdd) load, with a physically consistent load.

    `loaded` are logs with the load, `empty` logs without it, best of the same motion: errors of the
    model that repeat cancel then. Without `empty` the arm must be known: a `Fit`, whose uncertainty
    counts, or a `Robot`, which is taken as exact. `link` carries the load, the end-effector by
    default; the numbers are in the axes of `frame`, a frame fixed to it, the link's frame by
    default. `static` uses only what the logs hold at rest; by default that is done for logs in
    which nothing moves. `options` are options of `identify` for the arm. Swevers et al., Int. J.
    Robotics Research 21 (2002), p. 701; Gaz and De Luca, IROS 2017, p. 3033 (payload from base
    parameters).

    Parameters
    ----------
    robot : a `Fit`, or a `Robot` that is taken as exact.
    loaded : a `Log` or several with the load.
    empty : a `Log` or several without it, best of the same motion.
    link : name of the link that carries the load; the end-effector by default.
    frame : name of the frame whose axes the numbers are in; the link's frame by default.
    static : whether only what is at rest counts; by default where nothing moves.
    torque_scale_std : relative standard deviation of the torque scale, a fraction, which is part of
        the uncertainty of mass and inertia; by default as a `Fit` states it.
    progress : function called with a sentence and the share of work done.
    options : options of `identify` for the arm, such as friction or mask [rad/s|m/s].

    Returns
    -------
    A `PayloadEstimate`.

    Examples
    --------
    >>> robot = sy.load("elbow_6r")
    >>> motion = sy.excite(robot, seconds=6, candidates=20, speed=1.0)
    >>> loaded = sy.record(robot.with_payload(2.5, com=(0, 0, 0.1)), motion, rate=50)
    >>> p = sy.payload(robot, loaded)
    >>> abs(p.mass - 2.5) < 3 * p.std.mass
    True
    """
    arm_robot = robot.robot if isinstance(robot, Fit) else robot
    require_robot(arm_robot, "payload", known_function=True)
    refuse_loops(
        arm_robot, "payload", "weigh its load with identify(robot, logs) with and without it"
    )
    if progress is not None and not callable(progress):
        raise CallError(
            f"progress must be a function (sentence, share) or None, not {short_repr(progress)}"
        )
    load = load_frame(arm_robot, link, frame)
    carrying, without = (list_of_logs(logs) if logs is not None else [] for logs in (loaded, empty))
    for log in (*carrying, *without):
        require_log(log)
        if log.payload is not None and not log.payload.is_known:
            raise CallError(
                f"payload: {log.where}the log states a payload of unknown centre or inertia, as"
                " identify takes it; payload itself estimates the load: leave it out of the log"
            )
    at_rest = (
        all(is_static(log) for log in (*carrying, *without))
        if static is None
        else yes_or_no("static", static)
    )
    if at_rest and options:
        raise CallError(f"payload: {', '.join(options)} would be ignored with static poses")
    arm = (
        resting_arm(robot, carrying, without)
        if at_rest
        else moving_arm(robot, carrying, without, progress, options)
    )
    scale_std = (
        (0.0 if arm.fit is None else arm.fit.torque_scale_std)
        if torque_scale_std is None
        else real_number("torque_scale_std", torque_scale_std, 0.0, 1.0)
    )
    arm = replace(arm, scale_std=scale_std)
    return PayloadEstimate(arm, load, fit_load(arm, load))
