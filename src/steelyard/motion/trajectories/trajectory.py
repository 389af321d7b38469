"""A motion on a time grid, with the function that evaluates it at any time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers
from ...checks.states import States
from ...drawing.html import card
from ...drawing.numbers import short
from ...drawing.table import Column, Table
from ...errors import CallError
from ...names import check_names
from .accuracy import PredictedAccuracy
from .basis import read_only
from .certificate import Certificate
from .motion_check import NOTHING, MotionCheck
from .trajectory_thresholds import THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from ...robot import Robot
    from ..collision.walls import Boxes, HalfSpace

Array = NDArray[np.float64]
MotionFunction: TypeAlias = Callable[[ArrayLike], States]


class Excitation(NamedTuple):
    """How informative a motion is on the base parameters.

    Log det of their information, condition number of the column-scaled regressor, and their count.
    `certificate` bounds the use of limits at any instant, `accuracy` has the expected standard
    deviations, `safety` what was checked at every instant. Lecture "Dynamic parameter
    identification", remarks: rich trajectories have a low condition number.
    """

    log_det: float
    condition: float
    base_parameters: int
    certificate: Certificate | None = None
    accuracy: PredictedAccuracy | None = None
    safety: MotionCheck = NOTHING

    @property
    def checked(self) -> bool:
        """Whether limits, distances between links and the ground are kept at every instant."""
        return self.safety.checked

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What was not checked; empty if everything was."""
        return self.safety.unchecked

    @property
    def remarks(self) -> str:
        """What the check leaves out by design, in sentences."""
        return self.safety.remarks

    @property
    def sigma(self) -> Array:
        """Expected standard deviations (b,) of the base parameters, ordered as `accuracy.names`."""
        if self.accuracy is None:
            raise CallError("this excitation has no predicted accuracy")
        return self.accuracy.std


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """A motion: samples on a time grid, and the function that evaluates it at any time.

    Samples are read-only: t [s] (N,); q [rad|m], qd [rad/s|m/s], qdd [rad/s2|m/s2] (N, n).
    `traj(t)` evaluates the motion, `check(robot)` checks it, and `safety` is the result of the
    check.

    Parameters
    ----------
    t : (N,) times [s].
    q : (N, n) positions [rad|m].
    qd : (N, n) velocities [rad/s|m/s].
    qdd : (N, n) accelerations [rad/s2|m/s2].
    motion : function of times that gives q, qd and qdd there.
    joint_names : names of the joints.
    excitation : what to expect of an identification from it, None unless `excite` made it.
    sliding : names of joints that slide.
    verified : what was checked of the motion, a `MotionCheck`; set by `check`.

    Examples
    --------
    >>> motion = sy.excite(sy.load("planar_2r"), seconds=4, starts=1)
    >>> motion.n, motion.duration
    (2, 4.0)
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    motion: MotionFunction
    joint_names: tuple[str, ...] = ()
    excitation: Excitation | None = None
    sliding: tuple[str, ...] = ()
    verified: MotionCheck | None = None

    def __post_init__(self) -> None:
        read_only(self, "t", "q", "qd", "qdd")
        check_names("joint", self.joint_names, "trajectory", CallError)

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.q.shape[1])

    @property
    def duration(self) -> float:
        """Time from the first sample to the last [s]."""
        return float(self.t[-1] - self.t[0])

    def __call__(self, t: ArrayLike) -> States:
        """Evaluate the motion at times t: exact positions, velocities and accelerations.

        Outside the time span of `.t`, a periodic motion repeats; any other motion keeps its first
        or last state.

        Parameters
        ----------
        t : a time, or times (...,) [s].

        Returns
        -------
        `States`: q [rad|m], qd [rad/s|m/s] and qdd [rad/s2|m/s2], each (..., n).

        Examples
        --------
        >>> motion(1.5).q.shape, motion([0.0, 1.5]).qd.shape
        ((2,), (2, 2))
        """
        times = numbers("t", t)
        if not np.all(np.isfinite(times)):
            raise CallError("t must be finite times [s]")
        states = self.motion(times.ravel())
        return States(*(x.reshape(*times.shape, self.n) for x in states))

    def sample(self, rate: float) -> Trajectory:
        """Sample the same motion at another rate [Hz], exactly.

        The last sample is the last one on that grid.

        Parameters
        ----------
        rate : samples per second [Hz].

        Returns
        -------
        A `Trajectory`.

        Examples
        --------
        >>> motion.sample(rate=500).q.shape
        (2001, 2)
        """
        t = grid(self.duration, rate) + self.t[0]
        return replace(self, t=t, **self.motion(t)._asdict())

    @property
    def safety(self) -> MotionCheck:
        """The check of this motion; nothing is checked if samples or joints were replaced.

        A straight line between samples differs from the motion by max |qdd| dt^2 / 8. Where that
        exceeds `interpolation_error`, it is reported.
        """
        known = self.verified
        if (
            known is None
            or known.motion is not self.motion
            or known.joint_names != self.joint_names
            or not self._sampled
        ):
            return NOTHING
        step = float(np.diff(self.t).max())
        if np.abs(self.qdd).max() * step**2 / 8 <= THRESHOLDS.interpolation_error:
            return known
        return replace(
            known,
            unchecked=(*known.unchecked, f"the motion between points that are {step:.3g} s apart"),
        )

    @property
    def _sampled(self) -> bool:
        """Whether times increase and the samples equal the motion there."""
        samples = self.q, self.qd, self.qdd
        return bool(np.all(np.diff(self.t) > 0)) and all(
            np.allclose(exact, sample, rtol=1e-9, atol=1e-9)
            for exact, sample in zip(self.motion(self.t), samples, strict=True)
        )

    def check(
        self,
        robot: Robot,
        *,
        speed: float = 1.0,
        collision: str = "auto",
        clearance: float = 0.02,
        ground: float | str | None = "base",
        workspace: Boxes | None = None,
        half_spaces: Sequence[HalfSpace] = (),
    ) -> Trajectory:
        """Check limits, distances between links and the ground over the whole motion.

        `.safety` has the result: `checked`, `unchecked`, the smallest `distance` [m]. Distances
        hold at every instant, limits at 1 kHz.

        Parameters
        ----------
        robot : the `Robot`, described in SI units.
        speed : share of the velocity limits that may be used [-].
        collision : "shapes", "capsules", "auto" or "none".
        clearance : distance that links keep, also to the ground [m].
        ground : "base" for the base plane, a height [m], or None.
        workspace : frame or link -> (low, high) corners (3,) of a box [m].
        half_spaces : further walls, n . x <= offset [m].

        Returns
        -------
        The same motion, with its `.safety`.

        Examples
        --------
        >>> motion.check(sy.load("planar_2r")).safety.checked
        True
        """
        from .check_motion import check_motion

        verified = check_motion(
            robot,
            self,
            speed=speed,
            collision=collision,
            clearance=clearance,
            ground=ground,
            workspace=workspace,
            half_spaces=half_spaces,
        )
        return replace(self, verified=verified)

    def holding(self, positions: Mapping[str, float]) -> Trajectory:
        """Return the same motion, with the joints that stand still named by its check.

        Parameters
        ----------
        positions : joint name -> position [rad|m] of joints that the motion does not have.

        Returns
        -------
        A `Trajectory`.

        Examples
        --------
        >>> checked = motion.check(sy.load("planar_2r")).holding({"joint9": 0.5})
        >>> "held: joint9 at 0.5" in checked.safety.line
        True
        """
        if self.verified is None:
            return self
        check = self.verified.holding(positions)
        design = self.excitation and self.excitation._replace(safety=check)
        return replace(self, verified=check, excitation=design)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the joints; joint1, joint2, ... where the motion has none."""
        return self.joint_names or tuple(f"joint{i + 1}" for i in range(self.n))

    def write(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,  # noqa: A002
        *,
        rate: float | None = None,
        overwrite: bool = False,
        unchecked: bool = False,
    ) -> Path:
        """Write the motion to a file atomically, at a rate [Hz].

        An existing file is replaced only with `overwrite`.

        The first line says CHECKED or NOT CHECKED where the format has comments. Programs of robots
        and ROS messages of a motion that is not fully checked are written only with `unchecked`;
        `check(robot)` checks a motion.

        The ending chooses the format, or `format` names it: .csv, .npz, .txt (points alone), .yaml,
        .mcap and .bag (ROS JointTrajectory), "rosbag2" (the same in a folder), .script (URScript,
        125 Hz if no rate is given), .src (KUKA KRL, 10 Hz), .svg (a picture).

        Parameters
        ----------
        path : file to write; its ending selects the format where there are several.
        format : name of a format; by the ending of the path by default.
        rate : samples per second [Hz].
        overwrite : whether an existing file may be replaced.
        unchecked : whether a motion that is not fully checked may become a program.

        Returns
        -------
        The path.

        Examples
        --------
        >>> motion.write("motion.yaml").name
        'motion.yaml'
        """
        from ..trajectory_files.formats import write_trajectory

        return write_trajectory(self, path, format, rate, overwrite, unchecked)

    def to_csv(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write t, q.JOINT, qd.JOINT, qdd.JOINT with all digits as CSV.

        An existing file is replaced only with `overwrite`.

        Parameters
        ----------
        path : file to write; its ending selects the format where there are several.
        overwrite : whether an existing file may be replaced.

        Returns
        -------
        Nothing.

        Examples
        --------
        >>> motion.to_csv("motion.csv")
        """
        self.write(path, "csv", overwrite=overwrite)

    def plot(self, *, width: str | float = "page") -> Figure:
        """Plot position, velocity and acceleration over time with Matplotlib, one row per joint.

        width: "column" or "page" of a paper, or inches. Needs `pip install 'steelyard[plot]'`.
        Example: `sy.excite(robot).plot()`.

        Parameters
        ----------
        width : "column" or "page" of a paper, or a width in inches.

        Returns
        -------
        A Matplotlib figure, in inches.

        Examples
        --------
        >>> motion.plot().savefig("motion.pdf")
        """
        from ...drawing.matplotlib_renderer import to_matplotlib
        from ...drawing.signal_figures import SignalCurve, joint_rows

        length = ["m" if name in self.sliding else "rad" for name in self.labels]
        rows = (
            ("position", self.q, ""),
            ("velocity", self.qd, "/s"),
            ("acceleration", self.qdd, "/s²"),
        )
        signals = [
            SignalCurve(name=name, units=[u + per for u in length], values=x)
            for name, x, per in rows
        ]
        return to_matplotlib(joint_rows(self.t, self.labels, signals), width)

    def table(self) -> Table:
        """Return range, largest speed and largest acceleration of each joint as a table.

        Returns
        -------
        A table with names and units of its columns.

        Examples
        --------
        >>> len(motion.table().rows)
        2
        """
        lengths = ["m" if name in self.sliding else "rad" for name in self.labels]
        numbers = {
            "lowest": (self.q.min(axis=0), ""),
            "highest": (self.q.max(axis=0), ""),
            "speed": (np.abs(self.qd).max(axis=0), "/s"),
            "acceleration": (np.abs(self.qdd).max(axis=0), "/s²"),
        }
        rows = tuple(
            (name, *(f"{short(x[j])} {lengths[j]}{per}" for x, per in numbers.values()))
            for j, name in enumerate(self.labels)
        )
        columns = (Column("joint", numeric=False), *map(Column, numbers))
        data = {"joint": self.labels} | {name: x for name, (x, _) in numbers.items()}
        return Table("Motion", columns, rows, data=data)

    def _repr_html_(self) -> str:
        return card(repr(self), self.safety.line, (self.table(),))

    def __repr__(self) -> str:
        condition = f", condition {self.excitation.condition:.3g}" if self.excitation else ""
        return (
            f"Trajectory({len(self.t)} samples x {self.n} joints, {self.duration:.6g} s{condition})"
        )


def trajectory(
    motion: MotionFunction,
    seconds: float,
    rate: float,
    joint_names: tuple[str, ...] = (),
    excitation: Excitation | None = None,
) -> Trajectory:
    """Sample a motion on the uniform grid 0, 1/rate, ... up to `seconds`."""
    t = grid(seconds, rate)
    q, qd, qdd = motion(t)
    return Trajectory(
        t=t, q=q, qd=qd, qdd=qdd, motion=motion, joint_names=joint_names, excitation=excitation
    )


def grid(seconds: float, rate: float) -> Array:
    """Return times 0, 1/rate, ... <= seconds [s]."""
    if not (math.isfinite(rate) and rate > 0):
        raise CallError(f"rate = {rate!r}; expected a positive number of Hz", argument="rate")
    if not (math.isfinite(seconds) and seconds * rate * (1 + 1e-12) >= 1):
        raise CallError(f"{seconds!r} s at {rate:g} Hz has fewer than two samples")
    return np.arange(math.floor(seconds * rate * (1 + 1e-12)) + 1) / rate


def spline(
    t: ArrayLike, q: ArrayLike, rate: float = 1000.0, joint_names: tuple[str, ...] = ()
) -> Trajectory:
    """Return the smoothest motion through positions q (K, n) [rad|m] at times t (K,) [s].

    It starts and ends at rest.

    Piecewise cubic with continuous accelerations; of all motions through these points it has the
    least integral of squared acceleration. de Boor, "A Practical Guide to Splines", 1978, chapter
    5.
    """
    from scipy.interpolate import CubicSpline

    times, points = numbers("spline: t", t), numbers("spline: q", q)
    if times.ndim != 1 or len(times) < 2 or not np.all(np.diff(times) > 0):
        raise CallError("spline: t must be at least two times that increase [s]")
    if points.ndim != 2 or len(points) != len(times):
        raise CallError(
            f"spline: q has shape {points.shape}; expected ({len(times)}, n), one row for each time"
        )
    if not (np.all(np.isfinite(points)) and np.all(np.isfinite(times))):
        raise CallError("spline: times and positions must be finite")
    start = float(times[0])
    curve = CubicSpline(times - start, points, bc_type="clamped")
    rates = curve.derivative(1), curve.derivative(2)

    def motion(s: ArrayLike) -> States:
        clipped = np.clip(np.asarray(s, dtype=float), 0.0, float(times[-1]) - start)
        return States(curve(clipped), rates[0](clipped), rates[1](clipped))

    return trajectory(motion, float(times[-1]) - start, rate, joint_names)
