"""Functions of a robot in another library: one property per function, named as in `Robot`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from ..errors import CallError, suggest
from .catalogue import Catalogue

Function = TypeVar("Function")  # a function in the library: a callable, or its own type


class UnknownFunction(CallError, AttributeError):
    """The robot does not have this function, such as a function of loops."""


class RobotFunctions(ABC, Generic[Function]):
    """The functions of a robot, each traced at first use.

    Each takes the arguments of the method of `Robot` with its name. `dir()` lists the functions of
    this robot: only robots with loops have the last six.
    """

    library = ""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._traced: dict[str, Function] = {}

    @abstractmethod
    def _trace(self, name: str) -> Function:
        """Return the function of a name."""

    def _function(self, name: str) -> Function:
        """Return the function of a name, traced at its first use."""
        entries = self._catalogue.entries
        if name not in entries:
            raise UnknownFunction(
                f"{name!r} is not a function of {self._catalogue.robot!r} in {self.library};"
                f" {suggest(name, entries)}"
            )
        if name not in self._traced:
            self._traced[name] = self._trace(name)
        return self._traced[name]

    def __dir__(self) -> list[str]:
        others = (
            name
            for name in super().__dir__()
            if not isinstance(getattr(type(self), name, None), property)
        )
        return sorted((*others, *self._catalogue.entries))

    def __repr__(self) -> str:
        return (
            f"<{len(self._catalogue.entries)} functions of {self._catalogue.robot!r} in"
            f" {self.library}>"
        )

    @property
    def inverse_dynamics(self) -> Function:
        """Compute the torques of a motion (..., n) [N m|N] by the recursive Newton-Euler algorithm.

        See `Robot.inverse_dynamics`.
        """
        return self._function("inverse_dynamics")

    @property
    def bias_torque(self) -> Function:
        """Compute the torques at zero acceleration (..., n) [N m|N]."""
        return self._function("bias_torque")

    @property
    def forward_dynamics(self) -> Function:
        """Compute the accelerations under torques (..., n) [rad/s2|m/s2]."""
        return self._function("forward_dynamics")

    @property
    def mass_matrix(self) -> Function:
        """Compute the mass matrix M(q) (..., n, n) [kg m2|kg m|kg], rotors included."""
        return self._function("mass_matrix")

    @property
    def coriolis_matrix(self) -> Function:
        """Compute the Coriolis matrix C(q, qd) (..., n, n) [N m s/rad] from Christoffel symbols."""
        return self._function("coriolis_matrix")

    @property
    def christoffel(self) -> Function:
        """Compute the Christoffel symbols c(q) (..., n, n, n) [kg m2]."""
        return self._function("christoffel")

    @property
    def coriolis_transpose(self) -> Function:
        """Compute C(q, qd)^T qd = dT/dq (..., n) [N m|N], without the matrix."""
        return self._function("coriolis_transpose")

    @property
    def gravity_torque(self) -> Function:
        """Compute the gravity torque g(q) = dU/dq (..., n) [N m|N], which keeps the robot at rest.

        See `Robot.gravity_torque`.
        """
        return self._function("gravity_torque")

    @property
    def friction_torque(self) -> Function:
        """Compute the friction torque Fv qd + Fc sign(qd) + F0 and further terms (..., n) [N m|N].

        See `Robot.friction_torque`.
        """
        return self._function("friction_torque")

    @property
    def presliding_state(self) -> Function:
        """Compute the presliding states after displacements dq, (..., n) in [-1, 1]."""
        return self._function("presliding_state")

    @property
    def presliding_torque(self) -> Function:
        """Compute what presliding states add to the sliding friction, (..., n) [N m|N]."""
        return self._function("presliding_torque")

    @property
    def wrench_torque(self) -> Function:
        """Compute the joint torques J^T h of external wrenches (..., n) [N m|N]."""
        return self._function("wrench_torque")

    @property
    def momentum(self) -> Function:
        """Compute the generalised momentum p = M(q) qd (..., n) [kg m2/s|kg m/s]."""
        return self._function("momentum")

    @property
    def momentum_rate(self) -> Function:
        """Compute dp/dt = tau + C^T qd - g - friction without contact (..., n) [N m|N]."""
        return self._function("momentum_rate")

    @property
    def kinetic_energy(self) -> Function:
        """Compute the kinetic energy T = 1/2 qd^T M(q) qd (...) [J]."""
        return self._function("kinetic_energy")

    @property
    def potential_energy(self) -> Function:
        """Compute the potential energy U = -sum of m g . c (...) [J], zero at the base's origin."""
        return self._function("potential_energy")

    @property
    def regressor(self) -> Function:
        """Compute the regressor Y(q, qd, qdd) (..., n, p) with Y @ parameters = inverse_dynamics.

        See `Robot.regressor`.
        """
        return self._function("regressor")

    @property
    def momentum_regressor(self) -> Function:
        """Compute Y(q, qd) (..., n, p) with Y @ parameters = momentum; friction columns are zero.

        See `Robot.momentum_regressor`.
        """
        return self._function("momentum_regressor")

    @property
    def momentum_rate_regressor(self) -> Function:
        """Compute Y(q, qd) (..., n, p) with Y @ parameters = C^T qd - g - friction."""
        return self._function("momentum_rate_regressor")

    @property
    def energy_regressor(self) -> Function:
        """Compute y(q, qd) (..., p) with y @ parameters = kinetic_energy + potential_energy [J]."""
        return self._function("energy_regressor")

    @property
    def slotine_li_regressor(self) -> Function:
        """Compute Y_r(q, qd, qrd, qrdd) (..., n, p) with Y_r @ parameters = slotine_li_torque."""
        return self._function("slotine_li_regressor")

    @property
    def joint_reactions(self) -> Function:
        """Compute the wrench that each joint transmits to its link in a motion (..., bodies, 6)."""
        return self._function("joint_reactions")

    @property
    def forward_reactions(self) -> Function:
        """Compute the joint reactions under torques (..., bodies, 6); see `joint_reactions`."""
        return self._function("forward_reactions")

    @property
    def base_wrench(self) -> Function:
        """Compute the wrench of the support on the base in a motion (..., 6)."""
        return self._function("base_wrench")

    @property
    def base_wrench_regressor(self) -> Function:
        """Compute Y(q, qd, qdd) (..., 6, p) with Y @ parameters = base_wrench."""
        return self._function("base_wrench_regressor")

    @property
    def free_forward_dynamics(self) -> Function:
        """Compute joint accelerations (..., n) and the motion of a free base (..., 9)."""
        return self._function("free_forward_dynamics")

    @property
    def inverse_dynamics_derivatives(self) -> Function:
        """Compute the derivatives (dtau/dq, dtau/dqd, M) of inverse dynamics, (..., n, n) each."""
        return self._function("inverse_dynamics_derivatives")

    @property
    def forward_dynamics_derivatives(self) -> Function:
        """Compute the derivatives (dqdd/dq, dqdd/dqd, dqdd/dtau = M^-1) of forward dynamics."""
        return self._function("forward_dynamics_derivatives")

    @property
    def forward_kinematics(self) -> Function:
        """Compute the pose of a frame in the base frame (..., 4, 4), homogeneous."""
        return self._function("forward_kinematics")

    @property
    def jacobian(self) -> Function:
        """Compute the geometric Jacobian J(q) (..., 6, n) in the base frame."""
        return self._function("jacobian")

    @property
    def jacobian_rate(self) -> Function:
        """Compute dJ/dt (..., 6, n) along qd: the frame accelerates by J qdd + dJ/dt qd."""
        return self._function("jacobian_rate")

    @property
    def analytic_jacobian(self) -> Function:
        """Compute the analytic Jacobian J_A(q) (..., 6, n): rates of x, y, z and roll, pitch, yaw.

        See `Robot.analytic_jacobian`.
        """
        return self._function("analytic_jacobian")

    @property
    def manipulability(self) -> Function:
        """Compute the manipulability w = sqrt(det(J J^T)) (...), zero at singularities."""
        return self._function("manipulability")

    @property
    def task_inertia(self) -> Function:
        """Compute the task-space inertia Lambda(q) = (J M^-1 J^T)^-1 (..., 6, 6) [kg, kg m, kg m2].

        See `Robot.task_inertia`.
        """
        return self._function("task_inertia")

    @property
    def dynamically_consistent_inverse(self) -> Function:
        """Compute the dynamically consistent inverse M^-1 J^T Lambda (..., n, 6)."""
        return self._function("dynamically_consistent_inverse")

    @property
    def nullspace_projector(self) -> Function:
        """Compute the null-space projector N(q) = 1 - M^-1 J^T Lambda J (..., n, n)."""
        return self._function("nullspace_projector")

    @property
    def center_of_mass(self) -> Function:
        """Compute the centre of mass c(q) (..., 3) [m] of all moving bodies in the base frame."""
        return self._function("center_of_mass")

    @property
    def com_jacobian(self) -> Function:
        """Compute the Jacobian of the centre of mass J_c(q) (..., 3, n), which moves at J_c qd."""
        return self._function("com_jacobian")

    @property
    def slotine_li_torque(self) -> Function:
        """Compute M(q) qrdd + C(q, qd) qrd + g(q) + friction(qd) (..., n) [N m|N]."""
        return self._function("slotine_li_torque")

    @property
    def closure(self) -> Function:
        """Compute the residual phi(q) of the loops (..., m) [m|rad], rows as in `closure_names`."""
        return self._function("closure")

    @property
    def closure_jacobian(self) -> Function:
        """Compute Phi(q) = dphi/dq (..., m, n): the loops stay closed where Phi qd = 0."""
        return self._function("closure_jacobian")

    @property
    def closure_bias(self) -> Function:
        """Compute (dPhi/dt) qd (..., m): the loops stay closed where Phi qdd = -bias."""
        return self._function("closure_bias")

    @property
    def constrained_forward_dynamics(self) -> Function:
        """Compute accelerations (..., n) with closed loops, and multipliers (..., m) [N|N m]."""
        return self._function("constrained_forward_dynamics")

    @property
    def constrained_regressor(self) -> Function:
        """Compute N^T Y (..., f, p), the regressor of the independent coordinates."""
        return self._function("constrained_regressor")

    @property
    def freedom_basis(self) -> Function:
        """Compute N(q) (..., n, f): qd = N qd_independent."""
        return self._function("freedom_basis")
