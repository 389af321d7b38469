"""What a user holds: a robot, whose every method is one compiled kernel.

Arrays are float64, batch dimensions first: q, qd, qdd, tau are (..., n). Every method that computes takes `out=`; those that depend on the
dynamic parameters take `parameters=` (..., p), which then stand in place of the robot's own, for a whole batch of robots at once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .compiler.kernel import Kernel
from .dynamics.kinematics import find_frame
from .dynamics.settled import HARMLESS, settled
from .kernels import kernel
from .mechanism import Mechanism, Tree, edit, reduce
from .mechanism import load as load_mechanism
from .mechanism.fingerprint import fingerprint
from .mechanism.snap import LOOSE
from .mechanism.vector import parameter_names, parameters

if TYPE_CHECKING:
    from .closed_form import Symbolic

Array = NDArray[np.float64]
Values = float | Sequence[float] | Mapping[str, float]


class Robot:
    """A mechanism with its kernels. Immutable: edits return new robots. Equal mechanisms share their kernels."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self._kernels: dict[Any, Kernel] = {}

    # what it is -------------------------------------------------------------------------------------------------------------------------

    @cached_property
    def tree(self) -> Tree:
        """The moving bodies, as the algorithms see them; right angles as they are meant where that is harmless."""
        return settled(reduce(self.mechanism))

    @property
    def name(self) -> str:
        return self.mechanism.name

    @property
    def n(self) -> int:
        """The number of coordinates: joints that move on their own."""
        return self.tree.n

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints, in the order of q."""
        return self.tree.coordinates

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The frames whose pose and Jacobian can be asked for: every link, moving or fixed."""
        return tuple(self.tree.frames)

    @property
    def end_effector(self) -> str:
        """The frame meant where none is named: the last one on the last moving body."""
        last = len(self.tree.bodies) - 1
        return [name for name, frame in self.tree.frames.items() if frame.body == last][-1]

    @cached_property
    def parameters(self) -> Array:
        """The vector pi, (p,): ten per link, then Ia, Fv, Fc, F0 per joint where present. Units kg, kg m, kg m2; N m s/rad, N m."""
        pi = np.array(parameters(self.tree), dtype=np.float64)
        pi.flags.writeable = False
        return pi

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Labels of `parameters`, such as link3.mcx and joint3.Fv."""
        return parameter_names(self.tree)

    @property
    def gravity(self) -> Array:
        """The acceleration of free fall in the base frame, (3,) [m/s2]."""
        return np.array(self.mechanism.gravity)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of every number and name of the mechanism."""
        return fingerprint(self.mechanism)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about what loading found."""
        if self.tree.bodies == reduce(self.mechanism).bodies:
            return self.mechanism.remarks
        return (
            *self.mechanism.remarks,
            f"rotations within {LOOSE:g} of a right angle are taken as one: no acceleration changes by {HARMLESS:g}",
        )

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, n={self.n}, {len(self.parameters)} parameters)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Robot) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __getstate__(self) -> Mechanism:
        return self.mechanism

    def __setstate__(self, mechanism: Mechanism) -> None:
        self.__init__(mechanism)  # type: ignore[misc]

    # dynamics ---------------------------------------------------------------------------------------------------------------------------

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, wrench: ArrayLike | None = None, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:  # fmt: skip
        """Torques that give a motion, (..., n) [N m|N]: tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) - J^T wrench.

        q [rad|m], qd, qdd: (..., n). wrench: (..., n, 6), the force [N] then moment [N m] that the environment applies to each link, in the base
        frame about the link frame's origin. Luh, Walker and Paul 1980; lecture "Newton-Euler formulation", algorithms 1 and 2.
        """
        if wrench is None and parameters is None:  # the way that must be quick even for a single sample
            return (self._kernels.get("inverse_dynamics") or self._kernel("inverse_dynamics"))(q, qd, qdd, out=out)
        return self._call("inverse_dynamics", (q, qd, qdd), parameters, out, wrench)

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, wrench: ArrayLike | None = None, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:  # fmt: skip
        """Accelerations that torques give, (..., n) [rad/s2|m/s2]: M(q) qdd = tau - C(q, qd) qd - g(q) - friction(qd) + J^T wrench.

        q, qd, tau: (..., n); wrench as in `inverse_dynamics`. By articulated bodies (Featherstone 2008, section 7.3; recursive direct dynamics
        lecture, three phases) or through the mass matrix (ibid., section 6.5), whichever is shorter for this robot.
        """
        return self._call("forward_dynamics", (q, qd, tau), parameters, out, wrench)

    def mass_matrix(self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """M(q), (..., n, n) [kg m2|kg m|kg], symmetric and positive definite, rotors included. Walker and Orin 1982, method 3."""
        return self._call("mass_matrix", (q,), parameters, out)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """C(q, qd), (..., n, n) [N m s/rad], the one built on Christoffel symbols: dM/dt - 2 C is skew-symmetric.

        Lecture "Properties of the dynamic model", property 2; structure lecture, property 4.
        """
        return self._call("coriolis_matrix", (q, qd), parameters, out)

    def gravity_torque(self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """g(q), (..., n) [N m|N]: the torque that holds the robot still, g(q) = dU/dq. Lecture "Inverse dynamics": NE(q, 0, 0; g0)."""
        return self._call("gravity_torque", (q,), parameters, out)

    def friction_torque(self, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """Fv qd + Fc sign(qd) + F0, (..., n) [N m|N], with sign(0) = 0. Lecture "Dynamic parameter identification", friction."""
        return self._call("friction_torque", (qd,), parameters, out)

    def momentum(self, q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """Generalised momentum p = M(q) qd, (..., n) [kg m2/s|kg m/s]. Lecture "Inverse dynamics": NE(q, 0, qd; 0)."""
        return self._call("momentum", (q, qd), parameters, out)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """T = 1/2 qd^T M(q) qd, (...) [J]. Lagrangian lecture, "Kinetic energy"."""
        return self._call("kinetic_energy", (q, qd), parameters, out)

    def potential_energy(self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """U = - sum of m g . c, (...) [J], zero with all mass at the base's origin. Lagrangian lecture, "Potential energy"."""
        return self._call("potential_energy", (q,), parameters, out)

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Array | None = None) -> Array:
        """Y(q, qd, qdd), (..., n, p), with Y @ parameters = inverse_dynamics. Lecture "Linearity in the dynamic parameters"."""
        return self._call("regressor", (q, qd, qdd), None, out)

    def momentum_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
        """Y(q, qd), (..., n, p), with Y @ parameters = momentum (the columns of friction are zero). Gautier and Khalil 1988."""
        return self._call("momentum_regressor", (q, qd), None, out)

    def energy_regressor(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """y(q, qd), (..., p), with y @ parameters = kinetic_energy + potential_energy [J]. Lecture "Linearity": T_i = a_T theta_i, U_i = a_U theta_i."""
        return self._call("kinetic_energy_regressor", (q, qd), None, None) + self._call("potential_energy_regressor", (q,), None, None)

    # structure --------------------------------------------------------------------------------------------------------------------------

    def christoffel(self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """c(q), (..., n, n, n) [kg m2]: C_ij = sum over k of c_ijk qd_k, c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2.

        Lagrangian lecture, "Let's plug it all together"; structure lecture, property 4.
        """
        return self._call("christoffel", (q,), parameters, out)

    def coriolis_transpose(self, q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """C(q, qd)^T qd = dT/dq, (..., n) [N m|N], without the matrix. De Luca and Mattone 2003, eq. (6)."""
        return self._call("coriolis_transpose", (q, qd), parameters, out)

    def momentum_rate(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:  # fmt: skip
        """dp/dt = tau + C^T qd - g - friction, (..., n) [N m|N]: without contact. What a collision observer compares with the momentum.

        De Luca and Mattone 2003, eq. (7).
        """
        return self._call("momentum_rate", (q, qd, tau), parameters, out)

    def slotine_li_torque(self, q: ArrayLike, qd: ArrayLike, qrd: ArrayLike, qrdd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:  # fmt: skip
        """M(q) qrdd + C(q, qd) qrd + g(q) + friction(qd), (..., n) [N m|N], with the reference velocity qrd and acceleration qrdd.

        Slotine and Li 1987, eq. (6).
        """
        return self._call("slotine_li", (q, qd, qrd, qrdd), parameters, out)

    def slotine_li_regressor(self, q: ArrayLike, qd: ArrayLike, qrd: ArrayLike, qrdd: ArrayLike, *, out: Array | None = None) -> Array:
        """Y_r(q, qd, qrd, qrdd), (..., n, p), with Y_r @ parameters = slotine_li_torque. Slotine and Li 1987, eq. (7)."""
        return self._call("slotine_li_regressor", (q, qd, qrd, qrdd), None, out)

    def wrench_torque(self, q: ArrayLike, wrench: ArrayLike, *, out: Array | None = None) -> Array:
        """J^T h, (..., n) [N m|N]: the joint torques that wrenches on the links cause; wrench (..., n, 6) as in `inverse_dynamics`."""
        return self._call("wrench_torque", (q, wrench), None, out)

    def joint_reactions(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, wrench: ArrayLike | None = None, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:  # fmt: skip
        """What each joint passes on to its link in a motion, (..., n, 6): force [N], then moment [N m], in the link's own frame about its origin.

        The drive gives the part about (or along) the axis, the bearing the rest. Lecture "Newton-Euler formulation", algorithm 2, lines 7 and 8.
        """
        return self._call("joint_reactions", (q, qd, qdd), parameters, out, wrench)

    def forward_reactions(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, wrench: ArrayLike | None = None, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:  # fmt: skip
        """The same under given torques, (..., n, 6), straight from the O(n) forward algorithm. Recursive direct dynamics lecture, phase 3."""
        return self._call("forward_reactions", (q, qd, tau), parameters, out, wrench)

    # derivatives ------------------------------------------------------------------------------------------------------------------------

    def inverse_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, parameters: ArrayLike | None = None, out: Any = None) -> tuple[Array, Array, Array]:  # fmt: skip
        """(dtau/dq, dtau/dqd, M), each (..., n, n), exact, friction and drives included; sign() has derivative zero.

        Carpentier and Mansard 2018; here from the graph of Newton-Euler.
        """
        return self._call("inverse_dynamics_derivatives", (q, qd, qdd), parameters, out)

    def forward_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, parameters: ArrayLike | None = None, out: Any = None) -> tuple[Array, Array, Array]:  # fmt: skip
        """(dqdd/dq, dqdd/dqd, dqdd/dtau = M^-1), each (..., n, n): minus M^-1 times those of the torque. Carpentier and Mansard 2018, eq. (11)."""
        return self._call("forward_dynamics_derivatives", (q, qd, tau), parameters, out)

    # kinematics -------------------------------------------------------------------------------------------------------------------------

    def forward_kinematics(self, q: ArrayLike, frame: str | None = None, *, out: Array | None = None) -> Array:
        """The pose of a frame in the base frame, (..., 4, 4) homogeneous: rotation [-] and position [m]. The end-effector by default.

        Lynch and Park 2017, section 4.1.
        """
        return self._call("forward_kinematics", (q,), None, out, frame=self._frame(frame))

    def jacobian(self, q: ArrayLike, frame: str | None = None, *, out: Array | None = None) -> Array:
        """J(q), (..., 6, n): linear velocity of the frame's origin [m/s], then angular velocity [rad/s], in the base frame, = J qd.

        Siciliano et al. 2009, section 3.1 (geometric Jacobian).
        """
        return self._call("jacobian", (q,), None, out, frame=self._frame(frame))

    def jacobian_rate(self, q: ArrayLike, qd: ArrayLike, frame: str | None = None, *, out: Array | None = None) -> Array:
        """dJ/dt, (..., 6, n), along qd: the frame accelerates by J qdd + dJ/dt qd."""
        return self._call("jacobian_rate", (q, qd), None, out, frame=self._frame(frame))

    # other robots -----------------------------------------------------------------------------------------------------------------------

    def with_parameters(self, pi: ArrayLike) -> Robot:
        """This robot with another parameter vector, in the order of `parameter_names`."""
        return Robot(edit.with_parameters(self.mechanism, np.asarray(pi, dtype=float)))

    def with_gravity(self, gravity: Sequence[float]) -> Robot:
        """This robot under another gravity vector, in the base frame [m/s2]."""
        return Robot(edit.with_gravity(self.mechanism, gravity))

    def with_payload(self, mass: float, com: Sequence[float] = (0.0, 0.0, 0.0), inertia: Any = 0.0, frame: str | None = None) -> Robot:
        """This robot holding a load: mass [kg], centre of mass [m] and inertia about it [kg m2], in a frame (the end-effector by default)."""
        return Robot(edit.with_payload(self.mechanism, mass, com, inertia, self._frame(frame)))

    def with_friction(self, viscous: Values | None = None, coulomb: Values | None = None, offset: Values | None = None, *, negative: Values | None = None, stiction: Values | None = None, width: Values | None = None, stribeck: Values | None = None) -> Robot:  # fmt: skip
        """This robot with friction Fv qd + Fc sign(qd) + F0 [N m|N]: each one number, one per joint, or by joint name; what is not given stays.

        `negative` is the Coulomb friction Fn of backward motion, `stiction` Fs with the velocity `stribeck` [rad/s] at which it fades, `width`
        [rad/s] makes Coulomb friction smooth: tanh(qd / width). The last two are nonlinear shapes and have no column in the regressor.
        """
        given = {"negative": negative, "stiction": stiction, "width": width, "stribeck": stribeck}
        return Robot(edit.with_friction(self.mechanism, viscous, coulomb, offset, **given))

    def without_friction(self) -> Robot:
        """This robot with joints that do not rub."""
        return Robot(edit.without_friction(self.mechanism))

    def with_rotors(self, armature: Values | None = None, ratio: Values | None = None, axis: Any = None, mount: Any = None) -> Robot:
        """This robot with rotor inertias Ia = ratio^2 Im as seen at the joints [kg m2|kg]: the diagonal approximation.

        With a gear `ratio` the rotors spin on the link `mount` (the joint's parent by default) about the unit vector `axis` of that link (the
        joint's axis by default): the full model with gyroscopic coupling. Lecture "Newton-Euler formulation", augmented link.
        """
        return Robot(edit.with_rotors(self.mechanism, armature, ratio, axis, mount))

    @property
    def drive_model(self) -> str:
        """Which model of the drives the robot has, in a sentence."""
        spinning = sum(gear.mount >= 0 for gear in self.tree.gears)
        felt = sum(Ia is not None for Ia in self.tree.armature)
        if spinning:
            return f"{spinning} of {self.n} rotors spin on moving links: their gyroscopic coupling is in the model"
        return f"{felt} of {self.n} joints feel a rotor inertia on the diagonal only" if felt else "no rotor inertia"

    def freeze(self, positions: Mapping[str, float]) -> Robot:
        """This robot with some joints held at given positions [rad|m]."""
        return Robot(edit.freeze(self.mechanism, positions))

    # files ------------------------------------------------------------------------------------------------------------------------------

    def to_urdf(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write a URDF: the file it was loaded from with the numbers of this robot in it, all else untouched; or a new one."""
        from .mechanism.urdf_write import write_urdf

        write_urdf(self.mechanism, path, overwrite=overwrite)

    def to_toml(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write a TOML description that `load` reads back exactly."""
        from .mechanism.toml_write import write_toml

        write_toml(self.mechanism, path, overwrite=overwrite)

    def to_c(self, directory: str | os.PathLike[str], real: str = "double", functions: Sequence[str] | None = None, frame: str | None = None, overwrite: bool = False) -> tuple[Path, Path]:  # fmt: skip
        """Write C99 for a controller, <name>.h and <name>.c in double or float, both or neither. Returns their paths. See docs/c.md."""
        from .c_export import module, write_c

        made = module(self.tree, self.name, self._frame(frame), real=real, functions=functions, fingerprint=self.fingerprint)
        return write_c(made, directory, overwrite)

    def symbolic(self, parameters: str = "symbolic", geometry: str | None = None, names: Mapping[str, str] | None = None, form: str | None = None) -> Symbolic:  # fmt: skip
        """The closed form in SymPy: T, U, L, M, C, g, tau, Y with symbols ("symbolic", "all", "barycentric") or numbers ("numeric").

        For up to three joints as a textbook has it, for longer arms in named common terms. See docs/closed_form.md; Lagrangian lecture.
        """
        from .closed_form import symbolic

        return symbolic(self.tree, self.name, parameters=parameters, geometry=geometry, names=names, form=form)

    # how it is done ---------------------------------------------------------------------------------------------------------------------

    def _call(self, name: str, arrays: tuple[Any, ...], parameters: Any, out: Any, wrench: Any = None, frame: str | None = None) -> Any:
        if wrench is None and parameters is None:
            key: Any = name if frame is None else (name, frame)
            return (self._kernels.get(key) or self._kernel(name, frame=frame))(*arrays, out=out)
        extra = [x for x in (wrench, parameters) if x is not None]
        made = self._kernel(name, wrench=wrench is not None, parameters=parameters is not None, frame=frame)
        return made(*arrays, *extra, out=out)

    def _kernel(self, name: str, wrench: bool = False, parameters: bool = False, frame: str | None = None) -> Kernel:
        plain = not wrench and not parameters
        key: Any = (name if frame is None else (name, frame)) if plain else (name, wrench, parameters, frame)
        if key not in self._kernels:
            self._kernels[key] = kernel(self.fingerprint, self.tree, name, wrench=wrench, parameters=parameters, frame=frame)
        return self._kernels[key]

    def _frame(self, frame: str | None) -> str:
        if frame is None:
            return self.end_effector
        find_frame(self.tree, frame)  # says which frames there are when there is no such one
        return frame


def load(source: str | os.PathLike[str]) -> Robot:
    """A robot from a .urdf, .xml (MJCF), .toml (DH table) or .xacro file, or a built-in one by name (`robots()` lists them)."""
    return Robot(load_mechanism(source))
