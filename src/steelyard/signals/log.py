"""Log: what was measured, sample by sample and joint by joint. Frozen: every change returns a new one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import CallError, LogError, choices
from .clean.segments import split

Array = NDArray[np.float64]
Self = TypeVar("Self", bound="Log")

EFFORTS = ("torque", "current")


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """A motion that was measured: q(t), and what else is known of it.

    t [s] is (N,); q [rad|m], qd [rad/s|m/s], qdd [rad/s2|m/s2], tau [N m|N] and current [A] are (N, n), float64 and read-only.
    `effort` states where tau comes from: 'torque' (measured or commanded), 'current' (a constant times the motor current).
    `remarks` are sentences on what was found and what was done to the data on the way here.
    Notation of Siciliano et al., "Robotics: Modelling, Planning and Control", 2009, section 7.3.
    """

    t: Array
    q: Array
    tau: Array | None = None
    qd: Array | None = None
    qdd: Array | None = None
    joint_names: tuple[str, ...] | None = None
    current: Array | None = None
    effort: str | None = None
    remarks: tuple[str, ...] = ()
    source: str = ""

    sampled: ClassVar[tuple[str, ...]] = ("t", "q", "tau", "qd", "qdd", "current")
    jointwise: ClassVar[tuple[str, ...]] = ("q", "tau", "qd", "qdd", "current")
    per_joint: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name in self.sampled + self.per_joint:
            object.__setattr__(self, name, frozen_array(name, getattr(self, name), self.source))
        names = None if self.joint_names is None else tuple(str(name) for name in self.joint_names)
        object.__setattr__(self, "joint_names", names)
        object.__setattr__(self, "remarks", tuple(self.remarks))
        check_shapes(self)

    # -- size and time -------------------------------------------------------------------------------------------------------

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
        """The stretches between gaps in time: no filter reaches across one."""
        return split(self.t)

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each joint, also where the log has none."""
        return self.joint_names or tuple(f"joint{i + 1}" for i in range(self.n))

    @property
    def signals(self) -> tuple[str, ...]:
        """Which of q, tau, qd, qdd, current are there."""
        return tuple(name for name in Log.jointwise if getattr(self, name) is not None)

    def __len__(self) -> int:
        return self.N

    def __repr__(self) -> str:
        said = f", {len(self.remarks)} remarks" if self.remarks else ""
        size = f"{self.N} samples x {self.n} joints, {self.duration:.6g} s at {self.rate:.6g} Hz"
        return f"{type(self).__name__}({size}: {' '.join(self.signals)}{said})"

    # -- parts ---------------------------------------------------------------------------------------------------------------

    def __getitem__(self: Self, index: Any) -> Self:
        """Samples by slice, mask or list of indices; a single index gives a log of one sample."""
        if isinstance(index, (int, np.integer)):
            index = [index]
        return self.replace(**{name: value[index] for name in self.sampled if (value := getattr(self, name)) is not None})

    def between(self: Self, t0: float | None = None, t1: float | None = None) -> Self:
        """The samples with t0 <= t < t1 [s]; None leaves that side open."""
        inside = np.ones(self.N, bool)
        if t0 is not None:
            inside &= self.t >= t0
        if t1 is not None:
            inside &= self.t < t1
        return self[inside]

    def blocks(self: Self, seconds: float) -> tuple[Self, ...]:
        """Consecutive parts of the given length [s], the empty ones left out."""
        if not seconds > 0:
            raise CallError(f"blocks: the length must be positive, not {seconds!r} s")
        if not np.all(np.isfinite(self.t)):
            raise LogError(f"{self.where}some time stamps are not finite: clean(log) first")
        number = np.floor((self.t - self.t[0]) / seconds + 1e-9).astype(int)
        return tuple(self[number == k] for k in np.unique(number))

    def select(self: Self, names: Sequence[str]) -> Self:
        """The named joints, in the order of the names."""
        own = list(self.labels)
        for name in names:
            if name not in own:
                raise LogError(f"{self.where}no joint '{name}' in the log: {choices(name, own)}")
        index = [own.index(name) for name in names]
        parts = {name: value[:, index] for name in self.jointwise if (value := getattr(self, name)) is not None}
        parts |= {name: value[index] for name in self.per_joint if (value := getattr(self, name)) is not None}
        return self.replace(**parts, joint_names=tuple(names))

    def reordered(self: Self, robot: Any) -> Self:
        """The joints in the robot's order, matched by name; a log without names is taken in order."""
        wanted = joint_names_of(robot)
        if wanted is None or self.joint_names == wanted:
            return self
        if self.joint_names is None:
            if self.n != len(wanted):
                raise LogError(f"{self.where}the log has {self.n} joints without names, the robot {len(wanted)}: {', '.join(wanted)}")
            return self.replace(joint_names=wanted).remarked("The log names no joints: they were taken in the robot's order.")
        missing = [name for name in wanted if name not in self.joint_names]
        if missing:
            raise LogError(
                f"{self.where}the log has no joint '{missing[0]}' ({len(missing)} of {len(wanted)} missing): "
                f"{choices(missing[0], self.joint_names)}"
            )
        spare = [name for name in self.joint_names if name not in wanted]
        said = [f"Joints that the robot does not have were left out: {', '.join(spare)}."] if spare else []
        return self.select(wanted).remarked(*said)

    # -- changes -------------------------------------------------------------------------------------------------------------

    def replace(self: Self, **changes: Any) -> Self:
        """A copy with other fields."""
        return replace(self, **changes)

    def remarked(self: Self, *sentences: str) -> Self:
        """A copy with more remarks."""
        fresh = tuple(s for s in sentences if s not in self.remarks)
        return self.replace(remarks=self.remarks + fresh) if fresh else self

    def resampled(self, rate: float) -> Log:
        """The log on a uniform grid of the given rate [Hz], each segment on its own, aliases filtered out first."""
        from .clean.resample import resample

        return resample(self, rate)

    @property
    def where(self) -> str:
        """'run.csv: ' to begin an error message with, or nothing."""
        return f"{self.source}: " if self.source else ""

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a Log is not a sequence of samples: iterate over log.blocks(seconds) or over log.q")


def joint_names_of(robot: Any) -> tuple[str, ...] | None:
    """The joint names of a robot, of a sequence of names, or None."""
    if robot is None:
        return None
    names = getattr(robot, "joint_names", robot)
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise CallError(f"expected a robot with joint_names or a sequence of names, not {type(robot).__name__}")
    return tuple(str(name) for name in names)


def frozen_array(name: str, value: ArrayLike | None, source: str = "") -> Array | None:
    """A read-only float64 array; shared where it is one already."""
    if value is None:
        return None
    if isinstance(value, np.ndarray) and value.dtype == np.float64 and not value.flags.writeable:
        return value
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise LogError(f"{source + ': ' if source else ''}{name} is not an array of numbers: {error}") from None
    array.setflags(write=False)
    return array


def check_shapes(log: Log) -> None:
    """Raise LogError naming the first signal whose shape does not fit."""
    if np.ndim(log.t) != 1 or log.N == 0:
        raise LogError(f"{log.where}t must be one-dimensional with at least one sample, found shape {np.shape(log.t)}")
    if np.ndim(log.q) != 2:
        raise LogError(f"{log.where}q must be (N, n), found shape {np.shape(log.q)}")
    for name in log.jointwise:
        value = getattr(log, name)
        if value is not None and value.shape[:2] != (log.N, log.n):
            raise LogError(
                f"{log.where}{name} must be ({log.N}, {log.n}) as t has {log.N} samples and q {log.n} joints, found {value.shape}"
            )
    if log.joint_names is not None and len(log.joint_names) != log.n:
        raise LogError(f"{log.where}{len(log.joint_names)} joint names ({', '.join(log.joint_names)}) for {log.n} columns of q")
    if log.joint_names is not None and len(set(log.joint_names)) != log.n:
        raise LogError(f"{log.where}a joint is named twice: {', '.join(log.joint_names)}")
    if log.effort not in (None, *EFFORTS):
        raise LogError(f"{log.where}effort must be 'torque' or 'current', not {log.effort!r}")
