"""Result of a simulation: motion, torques, energy and energy drift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

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
from .energy_balance import EnergyBalance, free_base_kernel
from .measurement.record import measured, on_plate
from .measurement.sensors import Sensors
from .simulation_thresholds import THRESHOLDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
# that only some runs have
OPTIONAL = ("base_pose", "base_twist", "drive_state", "memory", "presliding")


@default_errstate_methods
@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A simulated motion, or a batch of them; arrays are read-only.

    Parameters
    ----------
    robot : the simulated `Robot`
    t : times of the samples (T,) [s]
    q : positions (..., T, n) [rad|m]
    qd : velocities (..., T, n) [rad/s|m/s]
    tau : commanded torques (..., T, n) [N m|N]
    work : work of the drives since the start (..., T) [J]
    heat : energy that friction and known torques have dissipated since the start (..., T) [J]
    method : integrator
    steps : number of steps of each run
    base_pose : position [m] and quaternion x y z w of a free base (..., T, 7), world axes
    base_twist : velocity [m/s] and angular velocity [rad/s] of a free base (..., T, 6), world axes
    drive_state : state of the drives (..., T, k)
    memory : parameters that the controller has learnt (..., T, m)
    presliding : states of friction with memory (..., T, n) in [-1, 1]
    drive : model of the drives
    remarks : sentences that the status repeats
    failures : reasons why runs of a batch ended, by their index
    reference : positions that a joint controller followed (T, n) [rad|m]

    Examples
    --------
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
    presliding: Array | None = None
    drive: Drive | None = None
    remarks: tuple[str, ...] = ()
    failures: Mapping[int, str] = field(default_factory=dict)
    reference: Array | None = None

    def __post_init__(self) -> None:
        for name in ("t", "q", "qd", "tau", "work", "heat", "reference", *OPTIONAL):
            if (array := getattr(self, name)) is not None:
                array.flags.writeable = False

    @cached_property
    def energy(self) -> Array:
        """Kinetic and potential energy, energy stored in drives included, (..., T) [J]."""
        links, stored = self.robot, np.zeros(self.q.shape[:-1])
        if self.drive is not None and self.drive_state is not None:
            links, stored = (
                self.drive.link_side(self.robot),
                self.drive.energy(self.robot, self.q, self.drive_state),
            )
        if self.base_pose is None or self.base_twist is None:
            return np.asarray(
                links.kinetic_energy(self.q, self.qd) + links.potential_energy(self.q) + stored
            )
        return np.asarray(
            free_base_kernel(links)(self.q, self.qd, self.base_pose, self.base_twist)[0] + stored
        )

    @property
    def momentum(self) -> Array:
        """Momentum [kg m/s] and angular momentum [kg m2/s] of a free robot, (..., T, 6).

        About the world's origin; raises CallError for a fixed base.
        """
        if self.base_pose is None or self.base_twist is None:
            raise CallError(
                "momentum of a run: the base is fixed, so that momentum is not conserved;"
                " robot.momentum(q, qd) returns the joints' momentum"
            )
        return np.asarray(
            free_base_kernel(self.robot)(self.q, self.qd, self.base_pose, self.base_twist)[1]
        )

    @property
    def energy_balance(self) -> EnergyBalance:
        """Energy, kinetic energy, work and heat, (..., T) [J] each."""
        return EnergyBalance(
            energy=self.energy, kinetic=self._kinetic_energy, work=self.work, heat=self.heat
        )

    @property
    def audit(self) -> Array:
        """Energy + heat - work - energy at the start (..., T) [J], zero for exact integration."""
        return self.energy_balance.error

    @property
    def drift(self) -> float:
        """The largest error of the energy balance over the largest exchanged energy [-].

        Exchanged energy is kinetic energy, heat, work or change of energy. The error of a robot at
        rest is relative to its energy. NaN where no run stayed finite.
        """
        if not np.any(self.finite):
            return float("nan")
        with np.errstate(all="ignore"):  # of runs that diverged
            return self.energy_balance.drift(self.finite)

    @property
    def _kinetic_energy(self) -> Array:
        """Kinetic energy of links and free base (..., T) [J]."""
        if self.base_pose is None or self.base_twist is None:
            return np.asarray(self.robot.kinetic_energy(self.q, self.qd))
        weightless = self.robot.with_gravity((0.0, 0.0, 0.0))
        return np.asarray(
            free_base_kernel(weightless)(self.q, self.qd, self.base_pose, self.base_twist)[0]
        )

    @cached_property
    def gap(self) -> float:
        """Largest residual of the loop closures [m|rad]; 0 without loops, NaN if all diverged."""
        if not self.robot.tree.loops:
            return 0.0
        good = self.q[self.finite]
        return (
            float(np.max(np.abs(self.robot.closure(good)), initial=0.0))
            if good.size
            else float("nan")
        )

    @cached_property
    def finite(self) -> NDArray[np.bool_]:
        """Whether each run stayed finite, (...)."""
        return np.asarray(np.all(np.isfinite(self.q) & np.isfinite(self.qd), axis=(-1, -2)))

    @property
    def status(self) -> str:
        """Steps, failures, energy drift and remarks, in one sentence."""
        count, bad = self.finite.size, int(np.sum(~self.finite))
        sentences = [
            f"{count} run{'s' if count != 1 else ''} of {self.t[-1]:g} s in {self.steps} steps by"
            f" {self.method}"
        ]
        named = list(self.failures.items())[: THRESHOLDS.listed_failures]
        sentences += [f"{self._run_label(k)}{reason}" for k, reason in named]
        if len(self.failures) > THRESHOLDS.listed_failures:
            sentences.append(f"{len(self.failures) - THRESHOLDS.listed_failures} more runs failed")
        if diverged := bad - len(self.failures):
            lost = ~self.finite
            lost.flat[list(self.failures)] = False
            first = float(
                self.t[np.argmax(~np.all(np.isfinite(self.q[lost]), axis=-1), axis=-1).min()]
            )
            sentences.append(
                f"{diverged} diverged, the first before {first:g} s: take a smaller step, or check"
                " the controller's gains"
            )
        if bad < count:
            others = " of the others" if bad else ""
            sentences.append(f"energy drift{others} {self.drift:.1e}")
        if self.gap > THRESHOLDS.open_gap:
            sentences.append(
                f"the loops do not stay closed, they open by up to {self.gap:.3g} m or rad: the"
                " motion is not valid for the mechanism"
            )
        return "; ".join([*sentences, *self.remarks])

    def _run_label(self, k: int) -> str:
        """Return the index of a run in a batch as a prefix; empty for a single run."""
        index = ", ".join(str(int(i)) for i in np.unravel_index(k, self.q.shape[:-2]))
        return f"run {index}: " if index else ""

    def log(self, sensors: Sensors | None = None, seed: int = 0) -> Log:
        """Return the log that the robot's sensors would record of a single run.

        It has the commanded positions of a joint controller. Drives add motor positions or
        currents, a free base adds its inertial sensor, and `sensors` may add a force plate.

        Parameters
        ----------
        sensors : `Sensors`: noise, steps, ripple and delay of the measurements; typical ones by
            default.
        seed : number that random draws start from; equal seeds give equal results.

        Returns
        -------
        A `Log`.

        Examples
        --------
        >>> run.log(sy.Sensors.perfect()).N
        101
        """
        chosen = (
            Sensors()
            if sensors is None
            else instance(
                "run.log: sensors", sensors, Sensors, "Sensors() of steelyard.simulation is one"
            )
        )
        if self.q.ndim != 2:
            raise CallError(
                f"run.log: expected one run, not a batch {self.q.shape[:-2]}; take one,"
                " run[k].log()"
            )
        if not self.finite:
            raise CallError(f"run.log: the run diverged: {self.status}")
        # the last may be off the grid
        even = (
            len(self.t) if len(self.t) < 3 or np.isclose(self.t[-1] - self.t[-2], self.t[1]) else -1
        )
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
        """Proper acceleration, angular velocity and angular acceleration of a free base.

        (..., T, 9) in the base frame, as an inertial sensor on the base measures them.
        """
        if self.base_pose is None or self.base_twist is None:
            raise CallError(
                "base_motion of a run: the base is fixed; simulate with base_pose0= or base_twist0="
            )
        w = np.einsum("...ji,...j->...i", self._rotations, self.base_twist[..., 3:])
        if self._smooth:
            return np.asarray(self.robot.free_forward_dynamics(self.q, self.qd, self.tau, w)[1])
        rates = np.gradient(self.base_twist, self.t, axis=-2)
        in_base_axes = [
            np.einsum("...ji,...j->...i", self._rotations, x)
            for x in (rates[..., :3] - self.robot.gravity, rates[..., 3:])
        ]
        return np.concatenate([in_base_axes[0], w, in_base_axes[1]], axis=-1)

    @property
    def base_wrench(self) -> Array:
        """Force [N] and moment [N m] of the ground on a fixed base (..., T, 6).

        See `robot.base_wrench`.
        """
        if self.base_pose is not None:
            raise CallError("base_wrench of a run: the base is free, so that no ground acts on it")
        qdd = (
            self.robot.forward_dynamics(self.q, self.qd, self.tau)
            if self._smooth
            else np.gradient(self.qd, self.t, axis=-2)
        )
        return np.asarray(self.robot.base_wrench(self.q, self.qd, qdd))

    @property
    def _smooth(self) -> bool:
        """Whether accelerations follow from state and torques; finite differences otherwise."""
        return self.drive is None and not self.robot.tree.loops and not dry_joints(self.robot.tree)

    @property
    def _rotations(self) -> Array:
        """Rotation matrices of a free base (..., T, 3, 3)."""
        from scipy.spatial.transform import Rotation

        assert self.base_pose is not None
        quaternions = self.base_pose[..., 3:]
        return (
            Rotation.from_quat(quaternions.reshape(-1, 4))
            .as_matrix()
            .reshape(*quaternions.shape[:-1], 3, 3)
        )

    def __getitem__(self, k: int | tuple[int, ...]) -> Run:
        """Return one run of a batch."""
        index, batch = k if isinstance(k, tuple) else (k,), self.q.shape[:-2]
        if len(index) != len(batch):
            raise CallError(
                f"run[{k}]: the batch has shape {batch}; expected one index for each of its"
                " dimensions"
            )
        index = tuple(
            whole_number(f"run[{k}]: the index", i, -size, size - 1)
            for i, size in zip(index, batch, strict=True)
        )
        positive = tuple(i % size for i, size in zip(index, batch, strict=True))
        flat_index = int(np.ravel_multi_index(positive, batch)) if batch else 0
        failure = self.failures.get(flat_index)
        failures = {} if failure is None else {0: failure}

        def selected(array: Array) -> Array:
            return np.array(array[index])

        def selected_or_none(array: Array | None) -> Array | None:
            return None if array is None else selected(array)

        return replace(
            self,
            t=self.t.copy(),
            q=selected(self.q),
            qd=selected(self.qd),
            tau=selected(self.tau),
            work=selected(self.work),
            heat=selected(self.heat),
            base_pose=selected_or_none(self.base_pose),
            base_twist=selected_or_none(self.base_twist),
            drive_state=selected_or_none(self.drive_state),
            memory=selected_or_none(self.memory),
            presliding=selected_or_none(self.presliding),
            failures=failures,
        )

    def plot(self, *, width: str | float = "page") -> Figure:
        """Plot position, velocity and torque over time with Matplotlib, one row per joint.

        Shows up to 20 runs of a batch; the controller's reference is dashed. Needs
        `pip install 'steelyard[plot]'`.

        Parameters
        ----------
        width : "column" or "page" of a paper, or a width in inches.

        Returns
        -------
        A Matplotlib figure, in inches.

        Examples
        --------
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
