"""A robot with a known torque that is a Python function, which cannot be compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cached import cached_property
from ..compiler.runtime.kernel import Kernel
from ..errors import CallError, refuse_known_function
from ..mechanism import Mechanism
from . import Robot
from .description import Wrench

Array = NDArray[np.float64]
Function = Callable[[Array, Array, Array], Array]
# fmt: off
UNAFFECTED = frozenset((
    "forward_kinematics", "jacobian", "jacobian_rate", "analytic_jacobian", "manipulability",
    "task_inertia", "dynamically_consistent_inverse", "nullspace_projector", "center_of_mass",
    "com_jacobian", "mass_matrix", "coriolis_matrix", "christoffel", "coriolis_transpose",
    "gravity_torque", "wrench_torque", "momentum", "momentum_regressor", "kinetic_energy",
    "potential_energy", "kinetic_energy_regressor", "potential_energy_regressor",
    "energy_regressor", "picture", "plot", "near_zero", "drawn_frames", "with_coupling",
    "with_drives", "with_friction", "with_gravity", "with_joint_terms", "with_known_torque",
    "with_parameters", "with_payload", "with_rotors", "without_friction", "without_rotors",
))
# fmt: on
"""Methods that do not depend on a known torque, and edits that keep it; others are refused."""


class RobotWithFunction(Robot):
    """A robot with a known torque (q, qd, qdd) -> (N, n) [N m|N] that cannot be traced.

    inverse_dynamics, bias_torque, forward_dynamics and friction_torque at a position include it, by
    calling the function. Kinematics, inertia and gravity do not depend on it. Everything else, such
    as regressors, derivatives, kernels and exports, raises CallError.
    """

    def __init__(self, mechanism: Mechanism, function: Function) -> None:
        super().__init__(mechanism)
        self._function = function
        self._plain = Robot(mechanism)

    @property
    def known_function(self) -> Function:
        """The known torque (q, qd, qdd) -> (N, n) [N m|N]."""
        return self._function

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the mechanism and of the identity of the function."""
        return f"{self._plain.fingerprint}-function-{id(self._function):x}"

    def without_known_function(self) -> Robot:  # type: ignore[override]
        """Return the robot without the torque of the function.

        Known torques that are expressions stay.
        """
        return self._plain

    def without_known_torque(self) -> Robot:  # type: ignore[override]
        """Return the robot without any known torque."""
        return self._plain.without_known_torque()

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: Wrench | None = None,
        base: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Return M(q) qdd + C(q, qd) qd + g(q) + friction + known torque, (..., n) [N m|N].

        See `Robot.inverse_dynamics`.
        """
        tau = self._plain.inverse_dynamics(q, qd, qdd, wrench, base, parameters=parameters)
        return _result(tau + self._torque(q, qd, qdd), out)

    def bias_torque(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        wrench: Wrench | None = None,
        base: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Return C(q, qd) qd + g(q) + friction + known torque, (..., n) [N m|N].

        See `Robot.bias_torque`.
        """
        tau = self._plain.bias_torque(q, qd, wrench, base, parameters=parameters)
        return _result(tau + self._torque(q, qd, np.zeros_like(np.asarray(qd, dtype=float))), out)

    def friction_torque(
        self,
        qd: ArrayLike,
        q: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Return friction, with q the known torque included, (..., n) [N m|N].

        See `Robot.friction_torque`.
        """
        tau = self._plain.friction_torque(qd, q, parameters=parameters)
        return _result(
            (
                tau
                if q is None
                else tau + self._torque(q, qd, np.zeros_like(np.asarray(qd, dtype=float)))
            ),
            out,
        )

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: Wrench | None = None,
        base: ArrayLike | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Return M(q)^-1 (tau - known torque - bias), (..., n) [rad/s2|m/s2].

        Raise CallError if the function reads accelerations.
        """
        driving = np.asarray(tau, dtype=float) - self.torque_without_acceleration(q, qd)
        return _result(
            self._plain.forward_dynamics(q, qd, driving, wrench, base, parameters=parameters), out
        )

    def torque_without_acceleration(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Return the known torque (..., n) [N m|N] of a function that does not read accelerations.

        Raise CallError for one that does.
        """
        if self._reads_acceleration:
            raise CallError(
                "the known torque depends on the acceleration: forward dynamics and simulation"
                " cannot have it"
            )
        return self._torque(q, qd, np.zeros_like(np.asarray(qd, dtype=float)))

    @cached_property
    def _reads_acceleration(self) -> bool:
        q, qd, qdd = np.random.default_rng(0).normal(size=(3, 16, self.n))
        return not np.allclose(
            self._function(q, qd, qdd),
            self._function(q, qd, np.zeros_like(qdd)),
            rtol=1e-9,
            atol=1e-12,
        )

    def _torque(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Return the known torque at states of any batch shape."""
        states = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (q, qd, qdd)))
        shape = states[0].shape
        tau = self._function(*(x.reshape(-1, shape[-1]).copy() for x in states))
        return np.broadcast_to(
            np.asarray(tau, dtype=float), (int(np.prod(shape[:-1])), shape[-1])
        ).reshape(shape)

    def _like(self, mechanism: Mechanism) -> RobotWithFunction:
        return RobotWithFunction(mechanism, self._function)

    def _kernel(self, name: str, *more: Any, **options: Any) -> Kernel:
        if name not in UNAFFECTED:
            refuse_known_function(self, name)
        return self._plain._kernel(name, *more, **options)

    def __getstate__(self) -> tuple[Mechanism, Function]:  # type: ignore[override]
        return self.mechanism, self._function

    def __setstate__(self, state: tuple[Mechanism, Function]) -> None:  # type: ignore[override]
        self.__init__(*state)  # type: ignore[misc]


def _result(values: Array, out: Array | None) -> Array:
    if out is None:
        return values
    out[...] = values
    return out


def _refused(name: str) -> Callable[..., Any]:
    """Return a method that raises CallError with the remedy."""

    def method(self: RobotWithFunction, *_: Any, **__: Any) -> Any:
        refuse_known_function(self, name)

    method.__name__, method.__doc__ = (
        name,
        f"Raise CallError: {name} cannot have a known torque that is a Python function.",
    )
    return method


for _name in dir(Robot):
    if (
        not _name.startswith("_")
        and callable(getattr(Robot, _name))
        and _name not in {*UNAFFECTED, *vars(RobotWithFunction)}
    ):
        setattr(RobotWithFunction, _name, _refused(_name))


def with_function(robot: Robot, function: Function | None) -> Robot:
    """Return the robot with a known torque that is a function (N, n) of q, qd, qdd.

    The robot itself without one.
    """
    return robot if function is None else RobotWithFunction(robot.mechanism, function)
