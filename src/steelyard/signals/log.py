"""Log: what was recorded of a motion, as arrays with units.

Frozen: every change returns a new log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..drawing.table import Table
from ..errors import CallError, LogError, suggest
from .log_checks import check_log, joint_names_of, match_joints
from .resample import resample
from .schema import Payload, Signal, frozen_array, optional, rows, signal
from .segments import split

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Self = TypeVar("Self", bound="Log")

ACCELERATIONS = dict.fromkeys(("ax", "ay", "az"), "m/s2")
RATES = dict.fromkeys(("wx", "wy", "wz"), "rad/s") | dict.fromkeys(("dwx", "dwy", "dwz"), "rad/s2")
WRENCH = dict.fromkeys(("fx", "fy", "fz"), "N") | dict.fromkeys(("mx", "my", "mz"), "N m")
TIME = "t time timestamp stamp timestamps sec secs seconds nsec nsecs nanosec nanoseconds"
COMMAND = "target desired ref reference cmd command commanded setpoint des goal"


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """A measured motion: t [s] (N,), q [rad|m] (N, n), and what else was measured.

    Each field with `signal` or `optional` is a row of the schema: unit, meaning, words that name it
    in files, shape (one column per joint unless given). Reading, checking, slicing, cleaning,
    resampling and writing follow from it. Arrays are float64 and read-only. `effort` is where tau
    comes from: 'torque' (measured or commanded) or 'current' (a constant times the motor current).
    `units` are the units that signals were converted from, `payload` is the load that the robot
    carries, `remarks` are sentences on what was found and done. Notation of Siciliano et al.,
    "Robotics: Modelling, Planning and Control", 2009, section 7.3.

    Parameters
    ----------
    t : (N,) time [s].
    q : (N, n) joint position [rad|m].
    tau : (N, n) joint torque [N m|N].
    qd : (N, n) joint velocity [rad/s|m/s].
    qdd : (N, n) joint acceleration [rad/s2|m/s2].
    joint_names : names of the joints, in the order of the columns.
    current : (N, n) motor current [A].
    effort : where tau comes from: 'torque', or 'current' times a constant.
    remarks : sentences on what was found and done.
    source : file that it was read from.
    reference : (N, n) commanded joint position [rad|m].
    motor_position : (N, n) position on the motor's side of the gear [rad|m].
    link_position : (N, n) position on the link's side, by a second encoder [rad|m].
    temperature : (N, n) or (N,) temperature of each joint, or one [°C].
    base : (N, 9) base motion as an IMU measures it: proper acceleration, angular velocity, its rate
        [m/s2, rad/s, rad/s2].
    base_wrench : (N, 6) force, then moment, that the ground applies to the base [N, N m].
    payload : `Payload` that the robot carried: mass [kg], centre [m], inertia [kg m2].
    units : signal -> unit that it was converted from.

    Examples
    --------
    >>> t = np.linspace(0.0, 2.0, 201)
    >>> q = np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)
    >>> log = sy.Log(t=t, q=q, tau=0 * q, joint_names=("joint1", "joint2"))
    >>> log
    Log(201 samples x 2 joints, 2 s at 100 Hz: q tau)
    """

    # fmt: off
    t: Array = field(metadata=signal("s", "time", TIME, shapes=((),)))
    q: Array = field(metadata=signal("rad|m", "joint position", "q pos position positions angle angles theta"))
    tau: Array | None = optional("N m|N", "joint torque", "tau torque torques moment trq")
    qd: Array | None = optional("rad/s|m/s", "joint velocity", "qd dq qdot vel velocity velocities speed speeds")
    qdd: Array | None = optional("rad/s2|m/s2", "joint acceleration", "qdd ddq qddot acc accel acceleration accelerations")
    joint_names: tuple[str, ...] | None = None
    current: Array | None = optional("A", "motor current", "current currents cur amps")
    effort: str | None = None
    remarks: tuple[str, ...] = field(default=(), compare=False)
    source: str = field(default="", compare=False)
    reference: Array | None = optional("rad|m", "commanded joint position", COMMAND, beside="q")
    motor_position: Array | None = optional("rad|m", "position on the motor's side of the gear", "motor mot", beside="q")
    link_position: Array | None = optional("rad|m", "position on the link's side, by a second encoder", "link", beside="q")
    temperature: Array | None = optional("°C", "temperature of each joint, or one", "temperature temp", shapes=(("n",), ()), slow=True)
    base: Array | None = optional(ACCELERATIONS | RATES, "base motion as an IMU measures it: proper acceleration, angular velocity, its rate")
    base_wrench: Array | None = optional(WRENCH, "force, then moment, that the ground applies to the base")
    # fmt: on
    payload: Payload | None = None
    units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.schema:
            object.__setattr__(self, name, frozen_array(name, getattr(self, name), self.where))
        names = None if self.joint_names is None else tuple(str(name) for name in self.joint_names)
        object.__setattr__(self, "joint_names", names)
        object.__setattr__(self, "remarks", tuple(self.remarks))
        object.__setattr__(self, "units", dict(self.units))
        check_log(self)

    # size and time

    @property
    def N(self) -> int:
        """Number of samples."""
        return len(self.t)

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.q.shape[1])

    @property
    def dt(self) -> float:
        """Sampling time [s]: the median step between time stamps."""
        finite = self.t[np.isfinite(self.t)]
        return float(np.median(np.diff(finite))) if len(finite) > 1 else float("nan")

    @property
    def rate(self) -> float:
        """Sampling rate [Hz]."""
        return 1.0 / self.dt if self.N > 1 and self.dt != 0 else float("nan")

    @property
    def duration(self) -> float:
        """Time from the first sample to the last [s]."""
        return float(self.t[-1] - self.t[0]) if self.N else 0.0

    @property
    def segments(self) -> tuple[slice, ...]:
        """The stretches between gaps in time."""
        return split(self.t)

    @property
    def labels(self) -> tuple[str, ...]:
        """The joint names, or joint1, joint2, ... where the log has none."""
        return self.joint_names or tuple(f"joint{i + 1}" for i in range(self.n))

    @property
    def schema(self) -> Mapping[str, Signal]:
        """The rows of the schema, {name: row}."""
        return rows(type(self))

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the signals that the log has, time apart."""
        return tuple(name for name in rows(Log) if name != "t" and getattr(self, name) is not None)

    @property
    def where(self) -> str:
        """'run.csv: ' to begin an error message with, or ''."""
        return f"{self.source}: " if self.source else ""

    def plot(self, *signals: str, width: str | float = "page") -> Figure:
        """Plot the signals with Matplotlib: a row per joint, a column per signal.

        By default q, qd and tau, as far as the log has them.

        Needs `pip install 'steelyard[plot]'`.

        Parameters
        ----------
        width : "column" or "page" of a paper, or a width in inches.
        *signals : names of signals, by default q, qd and tau as far as they are there.

        Returns
        -------
        A Matplotlib figure, in inches.

        Examples
        --------
        >>> log.plot("q").savefig("log.pdf")
        """
        from .log_pictures import draw

        return draw(self, signals, width)

    def table(self) -> Table:
        """Return the signals with their units and ranges as a table.

        Returns
        -------
        A table with names and units of its columns; `to_pandas()` and `to_polars()` make data
        frames.

        Examples
        --------
        >>> len(log.table().rows)
        2
        """
        from .log_pictures import signal_table

        return signal_table(self)

    def _repr_html_(self) -> str:
        from ..drawing.html import card

        return card(
            self.source or "Log",
            f"{self._size}; joints {', '.join(self.labels)}",
            (self.table(),),
            self.remarks,
        )

    def __len__(self) -> int:
        return self.N

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            "a Log is not a sequence of samples: iterate over log.blocks(seconds) or over log.q"
        )

    def __repr__(self) -> str:
        remarks = f", {len(self.remarks)} remarks" if self.remarks else ""
        return f"{type(self).__name__}({self._size}: {' '.join(self.signals)}{remarks})"

    @property
    def _size(self) -> str:
        return f"{self.N} samples x {self.n} joints, {self.duration:.6g} s at {self.rate:.6g} Hz"

    # parts

    def __getitem__(self: Self, index: Any) -> Self:
        """Select samples by slice, mask or list of indices; an index gives a log of one sample."""
        if isinstance(index, (int, np.integer)):
            index = [index]
        return self.replace(
            **{
                name: value[index]
                for name in self.schema
                if (value := getattr(self, name)) is not None
            }
        )

    def between(self: Self, t0: float | None = None, t1: float | None = None) -> Self:
        """Return the samples with t0 <= t < t1 [s]; None leaves that side open.

        Parameters
        ----------
        t0, t1 : times [s]; None leaves that side open.

        Returns
        -------
        A new log; this one is not changed.

        Examples
        --------
        >>> log.between(0.5, 1.0).N
        50
        """
        inside = np.ones(self.N, bool)
        if t0 is not None:
            inside &= self.t >= t0
        if t1 is not None:
            inside &= self.t < t1
        return self[inside]

    def blocks(self: Self, seconds: float) -> tuple[Self, ...]:
        """Return consecutive parts of the given length [s], without empty ones.

        Parameters
        ----------
        seconds : duration [s].

        Returns
        -------
        A tuple of logs.

        Examples
        --------
        >>> len(log.blocks(0.5))
        5
        """
        if not seconds > 0:
            raise CallError(f"blocks: the length must be positive, not {seconds!r} s")
        if not np.all(np.isfinite(self.t)):
            raise LogError(f"{self.where}some time stamps are not finite: clean(log) first")
        number = np.floor((self.t - self.t[0]) / seconds + 1e-9).astype(int)
        return tuple(self[number == k] for k in np.unique(number))

    def select(self: Self, names: Sequence[str]) -> Self:
        """Return the named joints, in the order of the names.

        Parameters
        ----------
        names : of joints.

        Returns
        -------
        A new log; this one is not changed.

        Examples
        --------
        >>> log.select(["joint2"]).n
        1
        """
        labels = list(self.labels)
        for name in names:
            if name not in labels:
                raise LogError(f"{self.where}no joint '{name}' in the log: {suggest(name, labels)}")
        index = [labels.index(name) for name in names]
        present = {
            name: value
            for name, row in self.schema.items()
            if row.per_joint and (value := getattr(self, name)) is not None
        }
        parts = {name: value[:, index] for name, value in present.items() if value.ndim > 1}
        return self.replace(**parts, joint_names=tuple(names))

    def reordered(self: Self, robot: Any) -> Self:
        """Return the joints in robot order, matched by name; without names they are taken in order.

        Parameters
        ----------
        robot : the `Robot`, described in SI units.

        Returns
        -------
        A new log; this one is not changed.

        Examples
        --------
        >>> log.reordered(["joint2", "joint1"]).joint_names
        ('joint2', 'joint1')
        """
        return match_joints(self, joint_names_of(robot))

    # changes

    def replace(self: Self, **changes: Any) -> Self:
        """Return a copy with other fields.

        Parameters
        ----------
        **changes : fields by name.

        Returns
        -------
        A new log; this one is not changed.

        Examples
        --------
        >>> log.replace(source="run 7").source
        'run 7'
        """
        return replace(self, **changes)

    def remarked(self: Self, *sentences: str) -> Self:
        """Return a copy with more remarks.

        Parameters
        ----------
        *sentences : what was found or done.

        Returns
        -------
        A new log; this one is not changed.

        Examples
        --------
        >>> log.remarked("The gripper was closed.").remarks
        ('The gripper was closed.',)
        """
        fresh = tuple(s for s in sentences if s not in self.remarks)
        return self.replace(remarks=self.remarks + fresh) if fresh else self

    @classmethod
    def from_table(
        cls, table: Any, robot: Any = None, mapping: Any = None, effort: str | None = None
    ) -> Log:
        """Return the log in a DataFrame of any library or in a dictionary of arrays.

        As `read_log`, which also reads files.

        Parameters
        ----------
        table : a DataFrame of pandas, polars or PyArrow, or a dictionary of arrays (N,) or (N, n).
        robot : a `Robot`, or joint names: columns are matched by name, else by number.
        mapping : what the columns are, as for `read_log`.
        effort : what a column of efforts holds: 'torque' [N m|N] or 'current' [A].

        Returns
        -------
        A `Log`.

        Examples
        --------
        >>> t = np.arange(3) * 0.1
        >>> sy.Log.from_table({"t": t, "q1": np.sin(t), "tau1": np.cos(t)})
        Log(3 samples x 1 joints, 0.2 s at 10 Hz: q tau)
        """
        log: Log = converter("read.read_log", "read_log")(table, robot, mapping, effort)
        return log

    def to_pandas(self) -> Any:
        """Return t and one column per joint and signal, such as q_elbow, as a pandas DataFrame.

        Returns
        -------
        A `pandas.DataFrame` in SI units.

        Examples
        --------
        >>> list(log.to_pandas().columns)
        ['t', 'q_joint1', 'q_joint2', 'tau_joint1', 'tau_joint2']
        """
        return converter("write", "to_pandas")(self)

    def to_polars(self) -> Any:
        """Return t and one column per joint and signal, such as q_elbow, as a polars DataFrame.

        Returns
        -------
        A `polars.DataFrame` in SI units.

        Examples
        --------
        >>> log.to_polars().shape
        (201, 5)
        """
        return converter("write", "to_polars")(self)

    def to_csv(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write t and one column per joint and signal, such as q_elbow, as CSV.

        Parameters
        ----------
        path : file to write.
        overwrite : whether an existing file is replaced.

        Returns
        -------
        The path; `read_log` restores the same log.

        Examples
        --------
        >>> sy.read_log(log.to_csv("run.csv")).N
        201
        """
        written: Path = converter("write", "to_csv")(self, path, overwrite)
        return written

    def to_npz(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write the arrays of all signals by their names as NumPy's npz.

        Parameters
        ----------
        path : file to write.
        overwrite : whether an existing file is replaced.

        Returns
        -------
        The path; `read_log` restores the same log.

        Examples
        --------
        >>> sy.read_log(log.to_npz("motion.npz")).N
        201
        """
        written: Path = converter("write", "to_npz")(self, path, overwrite)
        return written

    def to_parquet(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write the columns of `to_csv` as Parquet.

        Parameters
        ----------
        path : file to write.
        overwrite : whether an existing file is replaced.

        Returns
        -------
        The path; `read_log` restores the same log.

        Examples
        --------
        >>> sy.read_log(log.to_parquet("run.parquet")).N
        201
        """
        written: Path = converter("write", "to_parquet")(self, path, overwrite)
        return written

    def plain(self) -> Log:
        """Return a Log of the measured signals alone, without the covariance of a smoothed log.

        Returns
        -------
        A `Log`.

        Examples
        --------
        >>> log.plain().N
        201
        """
        return Log(**{f.name: getattr(self, f.name) for f in fields(Log)})

    def resampled(self, rate: float) -> Log:
        """Return the log at `rate` [Hz], each segment on its own uniform grid.

        A low-pass removes aliases first. See `resample`.

        Parameters
        ----------
        rate : samples per second [Hz].

        Returns
        -------
        A `Log`.

        Examples
        --------
        >>> log.resampled(50.0).N
        101
        """
        if not rate > 0:
            raise CallError(f"resampled: the rate must be positive, not {rate!r} Hz")
        if not np.all(np.isfinite(self.t)) or not np.all(np.diff(self.t) > 0):
            raise LogError(
                f"{self.where}time stamps must increase before a log can be resampled: clean(log)"
                " first"
            )
        missing = [name for name in self.signals if not np.all(np.isfinite(getattr(self, name)))]
        if missing:
            raise LogError(
                f"{self.where}{missing[0]} holds NaN or infinity, and so cannot be resampled:"
                " clean(log) first"
            )
        signals = {name: resample(self.t, getattr(self, name), rate) for name in self.signals}
        values = {name: value for name, (_, value) in signals.items()}
        return (
            self.plain()
            .replace(t=signals["q"][0], **values)
            .remarked(f"Resampled from {self.rate:.6g} Hz to {rate:.6g} Hz.")
        )


def converter(module: str, name: str) -> Any:
    """Return a function of a module that itself builds on `Log`, imported when it is called."""
    return getattr(import_module(f"{__package__}.{module}"), name)
