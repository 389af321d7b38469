"""What a simulation returns: the motion, its torques, its energy, and how far the books of energy are from closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import instance, whole_number
from ..cached import cached_property
from ..errors import CallError
from ..floating_point import default_errstate_methods
from ..robot import Robot
from ..signals.log import Log
from .drives import Drive
from .dry_friction import dry_joints
from .free_base import audit_kernel
from .measurement.record import measured, on_plate
from .measurement.sensors import Sensors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
STILL = 1e-9  # of the energy: where less is turned over, nothing moved, and errors are measured by the energy itself
MOST_NAMED = 5  # runs of a batch that the status names
GAP = 1e-9  # m or rad: a run whose loops open by more is said to
INNER = ("base_pose", "base_twist", "drive_state", "memory")  # what only some runs have


@default_errstate_methods
@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A simulated motion, or a batch of them: t [s] (T,); q [rad|m], qd [rad/s|m/s], tau [N m|N] (..., T, n), read-only.

    `work` [J] (..., T) is what the drives have given since the start, `heat` [J] (..., T) what friction and known torques have taken.
    `steps` is how many steps each run took, `method` by which integrator. Where nothing held the base, base_pose (..., T, 7) is its
    position [m] and quaternion x y z w, base_twist (..., T, 6) its velocity [m/s] and angular velocity [rad/s], in the world's axes.
    `drive_state` (..., T, k) is that of a `drive`, `memory` (..., T, m) what the controller has learnt; `tau` is what it commanded.
    `reference` [rad|m] (T, n) has the positions that a controller of joints was to follow.

    Example:
        >>> run = sy.simulate(sy.load("planar_2r"), q0=[0.3, 0.2], seconds=0.1)
        >>> run.q.shape, run.drift < 1e-6
        ((101, 2), True)
    """

    robot: Robot
    t: Array
    q: Array
    qd: Array
    tau: Array
    work: Array
    heat: Array
    method: str
    steps: int
    base_pose: Array | None = None
    base_twist: Array | None = None
    drive_state: Array | None = None
    memory: Array | None = None
    drive: Drive | None = None
    remarks: tuple[str, ...] = ()
    failures: Mapping[int, str] = field(default_factory=dict)  # what ended runs of a batch, by their place in it
    reference: Array | None = None

    def __post_init__(self) -> None:
        for name in ("t", "q", "qd", "tau", "work", "heat", "reference", *INNER):
            if (array := getattr(self, name)) is not None:
                array.flags.writeable = False

    @cached_property
    def energy(self) -> Array:
        """Kinetic and potential energy [J], that of drives included, (..., T)."""
        links, stored = self.robot, np.zeros(self.q.shape[:-1])
        if self.drive is not None and self.drive_state is not None:
            links, stored = self.drive.link_side(self.robot), self.drive.energy(self.robot, self.q, self.drive_state)
        if self.base_pose is None or self.base_twist is None:
            return np.asarray(links.kinetic_energy(self.q, self.qd) + links.potential_energy(self.q) + stored)
        return np.asarray(audit_kernel(links)(self.q, self.qd, self.base_pose, self.base_twist)[0] + stored)

    @property
    def momentum(self) -> Array:
        """Of a robot that nothing holds: momentum [kg m/s] and angular momentum about the world's origin [kg m2/s], (..., T, 6)."""
        if self.base_pose is None or self.base_twist is None:
            raise CallError("momentum of a run: the base is held, and takes it up; robot.momentum(q, qd) is that of the joints")
        return np.asarray(audit_kernel(self.robot)(self.q, self.qd, self.base_pose, self.base_twist)[1])

    @property
    def audit(self) -> Array:
        """Energy + heat - work - the energy at the start [J], (..., T): zero but for the errors of integration."""
        return self.energy + self.heat - self.work - self.energy[..., :1]

    @property
    def drift(self) -> float:
        """The largest error of the books over the largest of what stands in them: kinetic energy, heat, work or change of energy.

        Of a robot that rests it is the error over the energy. NaN where no run stayed finite.
        """
        good = self.finite
        if not np.any(good):
            return float("nan")
        with np.errstate(all="ignore"):  # of runs that diverged
            audit, books = self.audit, (self._kinetic, self.heat, self.work, self.energy - self.energy[..., :1])
        turned = max(float(np.max(np.abs(x[good]))) for x in books)
        whole = float(np.max(np.abs(self.energy[good])))
        size = turned if turned > STILL * whole else whole
        return float(np.max(np.abs(audit[good])) / max(size, np.finfo(float).tiny))

    @property
    def _kinetic(self) -> Array:
        """Of links on the base and of the base itself [J], (..., T)."""
        if self.base_pose is None or self.base_twist is None:
            return np.asarray(self.robot.kinetic_energy(self.q, self.qd))
        return np.asarray(audit_kernel(self.robot.with_gravity((0.0, 0.0, 0.0)))(self.q, self.qd, self.base_pose, self.base_twist)[0])

    @cached_property
    def gap(self) -> float:
        """How far the loops opened at most [m|rad], by any of their closures; 0 without loops, NaN where no run stayed finite."""
        if not self.robot.tree.loops:
            return 0.0
        good = self.q[self.finite]
        return float(np.max(np.abs(self.robot.closure(good)), initial=0.0)) if good.size else float("nan")

    @cached_property
    def finite(self) -> NDArray[np.bool_]:
        """Which runs stayed finite, (...)."""
        return np.asarray(np.all(np.isfinite(self.q) & np.isfinite(self.qd), axis=(-1, -2)))

    @property
    def status(self) -> str:
        """How it went, in a sentence."""
        count, bad = self.finite.size, int(np.sum(~self.finite))
        said = [f"{count} run{'s' if count != 1 else ''} of {self.t[-1]:g} s in {self.steps} steps by {self.method}"]
        said += [f"{self._place(k)}{why}" for k, why in list(self.failures.items())[:MOST_NAMED]]
        said += [f"{len(self.failures) - MOST_NAMED} more runs ended so"] if len(self.failures) > MOST_NAMED else []
        if diverged := bad - len(self.failures):
            lost = ~self.finite
            lost.flat[list(self.failures)] = False
            first = float(self.t[np.argmax(~np.all(np.isfinite(self.q[lost]), axis=-1), axis=-1).min()])
            said += [f"{diverged} diverged, the first before {first:g} s: take a smaller step, or look at the controller's gains"]
        if bad < count:
            said += [f"the books of energy {'of the others ' if bad else ''}close to {self.drift:.1e}"]
        if self.gap > GAP:
            said += [f"the loops do not stay closed, they open by up to {self.gap:.3g} m or rad: the motion is not that of the mechanism"]
        return "; ".join([*said, *self.remarks])

    def _place(self, k: int) -> str:
        """Which run of a batch, in words; none for a single run."""
        at = ", ".join(str(int(i)) for i in np.unravel_index(k, self.q.shape[:-2]))
        return f"run {at}: " if at else ""

    def log(self, sensors: Sensors | None = None, seed: int = 0) -> Log:
        """The log that the robot's sensors would have written of a single run. The same seed gives the same log.

        It has the commanded positions where the controller followed any. With a drive it also has what that measures, positions of elastic
        motors or currents; of a free base what an inertial sensor on it feels; and the wrench of a force plate if `sensors` have one.

        Example:
            >>> run.log(sy.Sensors.perfect()).N
            101
        """
        chosen = (
            Sensors() if sensors is None else instance("run.log: sensors", sensors, Sensors, "Sensors() of steelyard.simulation is one")
        )
        if self.q.ndim != 2:
            raise CallError(f"a log is of one run; this has {self.q.shape[:-2]} of them: take one, run[k].log()")
        if not self.finite:
            raise CallError(f"a log of a run that diverged has no use: {self.status}")
        even = len(self.t) if len(self.t) < 3 or np.isclose(self.t[-1] - self.t[-2], self.t[1]) else -1  # the last may be off the grid
        log = measured(self.robot, self.t[:even], self.q[:even], self.tau[:even], chosen, seed)
        more = {} if self.base_pose is None else {"base": self.base_motion[:even]}
        more |= {} if self.reference is None else {"reference": self.reference[:even]}
        if self.drive is not None and self.drive_state is not None:
            more |= self.drive.signals(self.robot, self.drive_state[:even])
        if chosen.plate:
            more["base_wrench"] = on_plate(self.base_wrench[:even], chosen, seed)
        return log.replace(**more)

    @property
    def base_motion(self) -> Array:
        """What an inertial sensor on a free base feels, (..., T, 9): proper acceleration, angular velocity, its rate, in its own frame."""
        if self.base_pose is None or self.base_twist is None:
            raise CallError("base_motion of a run: the base is held, and feels gravity alone")
        w = np.einsum("...ji,...j->...i", self._rotations, self.base_twist[..., 3:])
        if self._smooth:
            return np.asarray(self.robot.free_forward_dynamics(self.q, self.qd, self.tau, w)[1])
        rates = np.gradient(self.base_twist, self.t, axis=-2)
        turned = [np.einsum("...ji,...j->...i", self._rotations, x) for x in (rates[..., :3] - self.robot.gravity, rates[..., 3:])]
        return np.concatenate([turned[0], w, turned[1]], axis=-1)

    @property
    def base_wrench(self) -> Array:
        """What the ground applies to a base that is held, (..., T, 6): force [N], then moment [N m]; see `robot.base_wrench`."""
        if self.base_pose is not None:
            raise CallError("base_wrench of a run: nothing holds the base")
        qdd = self.robot.forward_dynamics(self.q, self.qd, self.tau) if self._smooth else np.gradient(self.qd, self.t, axis=-2)
        return np.asarray(self.robot.base_wrench(self.q, self.qd, qdd))

    @property
    def _smooth(self) -> bool:
        """Whether accelerations follow from state and torques alone; differences give them otherwise."""
        return self.drive is None and not self.robot.tree.loops and not dry_joints(self.robot.tree)

    @property
    def _rotations(self) -> Array:
        """Of a free base, (..., T, 3, 3)."""
        from scipy.spatial.transform import Rotation

        assert self.base_pose is not None
        quaternions = self.base_pose[..., 3:]
        return Rotation.from_quat(quaternions.reshape(-1, 4)).as_matrix().reshape(*quaternions.shape[:-1], 3, 3)

    def __getitem__(self, k: int | tuple[int, ...]) -> Run:
        """One run of a batch."""
        at, batch = k if isinstance(k, tuple) else (k,), self.q.shape[:-2]
        if len(at) != len(batch):
            raise CallError(f"run[{k}]: the batch has shape {batch}; expected one index for each of its dimensions")
        at = tuple(whole_number(f"run[{k}]: the index", i, -size, size - 1) for i, size in zip(at, batch, strict=True))
        place = int(np.ravel_multi_index(tuple(i % size for i, size in zip(at, batch, strict=True)), batch)) if batch else 0
        failures = {0: self.failures[place]} if place in self.failures else {}
        arrays = ("q", "qd", "tau", "work", "heat", *INNER)
        own: dict[str, Any] = {name: np.array(x[at]) for name in arrays if (x := getattr(self, name)) is not None}
        return replace(self, t=self.t.copy(), failures=failures, **own)

    def plot(self, *, width: str | float = "page") -> Figure:
        """Return a Matplotlib figure of position, velocity and torque over time, a row for each joint; of a batch up to 20 runs.

        What a controller was to follow is dashed. width: "column" or "page" of a paper, or inches. Needs `pip install 'steelyard[plot]'`.

        Example:
            >>> run.plot().savefig("run.pdf")
        """
        from ..drawing.matplotlib_renderer import to_matplotlib
        from ..drawing.signal_figures import joint_rows, motion_signals

        units = self.robot.torque_units
        signals = motion_signals(units, self.q, self.qd, self.tau, self.reference)
        figure = joint_rows(self.t, self.robot.joint_names, signals, self.robot.name)
        return to_matplotlib(figure, width)

    def __repr__(self) -> str:
        return f"Run({self.status})"
