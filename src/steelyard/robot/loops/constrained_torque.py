"""Result of `robot.constrained_inverse_dynamics`: drive torques and multipliers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import numbers, per_joint
from ...cached import cached_property
from ...errors import CallError, SteelyardWarning
from ...kernels.algorithms import require_mass
from .loop_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ConstrainedTorque:
    """Drive torques and multipliers: M qdd + h = tau + Phi^T multipliers + residual.

    tau (..., n) [N m|N] is zero at joints without a drive; multipliers (..., m) [N|N m]. `residual`
    (..., n) is what neither drives nor loops can give: rounding, unless the mechanism is
    under-actuated; `nearest` is then the nearest possible acceleration. `case` is "exact",
    "redundant" or "underactuated". `limited` (...) is true where effort limits changed the torques,
    `exceeded` (...) where no torques within them exist.
    """

    tau: Array
    multipliers: Array
    residual: Array
    case: str
    limited: NDArray[np.bool_]
    exceeded: NDArray[np.bool_]
    _robot: Any
    _motion: tuple[Array, ...]
    _options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_kernel(
        cls,
        robot: Any,
        motion: tuple[Array, ...],
        outputs: tuple[Array, ...],
        weight: Array,
        options: Mapping[str, Any],
    ) -> Any:
        """Return the result of the kernel.

        Torques beyond effort limits are redistributed where there are redundant drives.
        """
        tau, multipliers, residual = outputs
        no = np.zeros(tau.shape[:-1], dtype=bool)
        result = cls(
            tau=tau,
            multipliers=multipliers,
            residual=residual,
            case=robot.loop_structure.case,
            limited=no,
            exceeded=no,
            _robot=robot,
            _motion=motion,
            _options=options,
        )
        limits = np.array([limit.effort for limit in robot.tree.limits])
        over = np.any(np.abs(tau) > limits, axis=-1) if np.isfinite(limits).any() else no
        result = (
            result._within(limits, weight, over)
            if result.case == "redundant" and np.any(over)
            else replace(result, exceeded=over)
        )
        if (
            not np.abs(residual).max(initial=0.0) <= THRESHOLDS.torque_residual
        ):  # few motions need a closer look
            result._warn()
        return result

    @classmethod
    def least_residual(
        cls, robot: Any, motion: tuple[Array, ...], options: Mapping[str, Any]
    ) -> Any:
        """Return torques and multipliers that minimise the residual in the metric of M^-1."""
        require_mass(robot.tree, "constrained_inverse_dynamics")
        structure, driven = robot.loop_structure, list(robot.tree.driven)
        force = robot.inverse_dynamics(*motion, **options)
        columns = np.zeros((*force.shape, len(driven)))
        columns[..., driven, range(len(driven))] = 1.0
        Phi = (
            robot.closure_jacobian(motion[0])[..., structure.rows, :]
            if structure.rows
            else np.zeros((*force.shape[:-1], 0, robot.n))
        )
        S = np.concatenate([columns, np.swapaxes(Phi, -1, -2)], axis=-1)
        L = np.linalg.cholesky(robot.mass_matrix(motion[0], parameters=options.get("parameters")))
        x = np.einsum(
            "...ij,...j->...i",
            np.linalg.pinv(np.linalg.solve(L, S)),
            np.linalg.solve(L, force[..., None])[..., 0],
        )
        tau, multipliers = np.zeros_like(force), np.zeros((*force.shape[:-1], robot.tree.closures))
        tau[..., driven], multipliers[..., structure.rows] = (
            x[..., : len(driven)],
            x[..., len(driven) :],
        )
        residual = force - np.einsum("...ij,...j->...i", S, x)
        over = np.any(
            np.abs(tau) > np.array([limit.effort for limit in robot.tree.limits]), axis=-1
        )
        return cls(
            tau=tau,
            multipliers=multipliers,
            residual=residual,
            case=structure.case,
            limited=np.zeros_like(over),
            exceeded=over,
            _robot=robot,
            _motion=motion,
            _options=options,
        )

    @cached_property
    def nullspace(self) -> Array:
        """Orthonormal torques (..., n, k) that only strain the mechanism.

        Any multiple may be added to tau; k = 0 without redundant drives.
        """
        rows, driven = self._robot.loop_structure.rows, list(self._robot.tree.driven)
        n = self.tau.shape[-1]
        if not rows:
            return np.zeros((*self.tau.shape, 0))
        Phi = self._robot.closure_jacobian(self._motion[0])[..., rows, :]
        passive = [c for c in range(n) if c not in driven]
        spare = len(rows) - (
            len(passive) if self.case != "underactuated" else _passive_rank(self._robot)
        )
        U = np.linalg.svd(Phi[..., passive], full_matrices=True)[0]
        strain = np.swapaxes(Phi, -1, -2) @ U[..., len(rows) - spare :]
        strain[..., passive, :] = 0.0
        return np.asarray(np.linalg.qr(strain)[0]) if spare else np.zeros((*self.tau.shape, 0))

    @cached_property
    def nearest(self) -> Array:
        """The possible acceleration nearest to qdd (..., n) in the metric of the kinetic energy.

        qdd - M^-1 residual.
        """
        M = self._robot.mass_matrix(self._motion[0], parameters=self._options.get("parameters"))
        return np.asarray(self._motion[2] - np.linalg.solve(M, self.residual[..., None])[..., 0])

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Whether drives and loops give the whole motion (...)."""
        size = np.maximum(np.abs(self.tau).max(axis=-1), 1.0)
        return np.asarray(np.abs(self.residual).max(axis=-1) <= THRESHOLDS.torque_residual * size)

    @cached_property
    def status(self) -> str:
        """Case, residual and limits, in a sentence."""
        sentence = (
            [str(self._robot.loop_structure)]
            if self._robot.tree.loops
            else [f"no loops; {self.case}"]
        )
        impossible = int(np.sum(~self.possible))
        if impossible:
            worst = int(
                np.argmax(np.abs(self.residual).reshape(-1, self.tau.shape[-1]).max(axis=0))
            )
            size, name = float(np.abs(self.residual).max()), self._robot.joint_names[worst]
            why = (
                "no drive gives them"
                if self.case == "underactuated"
                else "the configuration is singular for these drives"
            )
            sentence.append(
                f"{impossible} of {self.possible.size} motions are impossible by up to {size:.3g} N"
                f" m or N at {name}: {why}"
            )
        opened = self._opened()
        if opened > THRESHOLDS.open_gap:
            sentence.append(
                f"the motion does not keep the loops closed: they open by {opened:.3g} (m, rad or"
                " their rates); see assemble"
            )
        if np.any(self.exceeded):
            sentence.append(
                f"{np.sum(self.exceeded)} of {self.exceeded.size} motions need more than the effort"
                " limits"
            )
        return "; ".join(sentence)

    def _opened(self) -> float:
        """Return the largest violation of closures by positions, velocities and accelerations."""
        if not self._robot.tree.loops:
            return 0.0
        q, qd, qdd = self._motion
        Phi = self._robot.closure_jacobian(q)
        rates = [
            np.einsum("...ij,...j->...i", Phi, qd),
            np.einsum("...ij,...j->...i", Phi, qdd) + self._robot.closure_bias(q, qd),
        ]
        return max(float(np.abs(x).max(initial=0.0)) for x in (self._robot.closure(q), *rates))

    def _warn(self) -> None:
        finite = np.all([np.isfinite(x).all(axis=-1) for x in self._motion], axis=0)
        if not np.all(finite):
            count = f"{int(np.sum(~finite))} of {finite.size}"
            warnings.warn(
                f"constrained_inverse_dynamics: {count} motions are not finite, nor are their"
                " torques",
                SteelyardWarning,
                stacklevel=4,
            )
        bad = int(np.sum(~self.possible & finite))
        if bad:
            sentence = (
                f"constrained_inverse_dynamics: {bad} of {self.possible.size} configurations are"
                " singular for these drives"
            )
            warnings.warn(
                f"{sentence}: their torques are not determined", SteelyardWarning, stacklevel=4
            )

    def _within(self, limits: Array, weight: Array, over: NDArray[np.bool_]) -> ConstrainedTorque:
        """Return the result with the smallest torques within the limits, sample by sample."""
        tau, multipliers, exceeded = self.tau.copy(), self.multipliers.copy(), np.zeros_like(over)
        share = np.zeros(tau.shape[-1])
        share[list(self._robot.tree.driven)] = np.sqrt(weight)
        rows = list(self._robot.loop_structure.rows)
        Phi = self._robot.closure_jacobian(self._motion[0])[..., rows, :]
        for index in zip(*np.nonzero(over), strict=True):
            z = _least_distance(
                share[:, None] * self.nullspace[index], self.nullspace[index], tau[index], limits
            )
            exceeded[index] = z is None
            if z is not None:
                change = self.nullspace[index] @ z
                tau[index] += change
                multipliers[index][rows] -= np.linalg.lstsq(Phi[index].T, change, rcond=None)[0]
        return replace(
            self, tau=tau, multipliers=multipliers, limited=over & ~exceeded, exceeded=exceeded
        )

    def __repr__(self) -> str:
        return f"ConstrainedTorque({self.case}, tau {self.tau.shape})"


def warn_of_singular(
    qdd: Array, multipliers: Array, opening: Array, targets: Sequence[Any] = ()
) -> None:
    """Warn of accelerations (..., n) that are not finite, or with which loops open.

    Openings (..., r) [m/s2|rad/s2] count beyond rounding.
    """
    wrong = ~np.isfinite(qdd).all(axis=-1) | ~(
        np.abs(opening).max(axis=-1, initial=0.0)
        <= THRESHOLDS.opening_acceleration * (1.0 + np.abs(qdd).max(axis=-1))
    )
    finite = np.ones(wrong.shape, dtype=bool)
    for x in targets if np.any(wrong) else ():
        finite &= np.isfinite(x).all(axis=-1)
    if not np.all(finite):
        count = f"{int(np.sum(~finite))} of {finite.size}"
        sentence = (
            f"constrained_forward_dynamics: {count} states or torques are not finite, nor are their"
            " accelerations"
        )
        warnings.warn(sentence, SteelyardWarning, stacklevel=3)
    wrong &= finite
    if np.any(wrong):
        warnings.warn(
            f"constrained_forward_dynamics: {int(np.sum(wrong))} of {wrong.size} configurations are"
            " singular: closures that are independent elsewhere depend on each other there, and"
            " the accelerations are not determined",
            SteelyardWarning,
            stacklevel=3,
        )


def _passive_rank(robot: Any) -> int:
    structure = robot.loop_structure
    return sum(c not in structure.independent and c not in structure.driven for c in range(robot.n))


def _least_distance(size: Array, basis: Array, tau: Array, limits: Array) -> Array | None:
    """Return z of least |size z| with |tau + basis z| <= limits, None where there is none.

    `tau` is the torque of least size without limits. Lawson and Hanson 1974, "Solving Least Squares
    Problems", chapter 23 (least distance programming).
    """
    from scipy.optimize import nnls

    R = np.linalg.qr(size)[1]
    bounded = np.isfinite(limits)
    G = np.concatenate([-basis[bounded], basis[bounded]]) @ np.linalg.inv(R)
    h = np.concatenate([tau[bounded] - limits[bounded], -tau[bounded] - limits[bounded]])
    E = np.vstack([G.T, h])
    target = np.zeros(len(E))
    target[-1] = 1.0
    u, distance = nnls(E, target)
    residual = E @ u - target
    if distance < 1e-9 or residual[-1] >= 0.0:
        return None
    return np.asarray(np.linalg.solve(R, -residual[:-1] / residual[-1]))


def drive_weights(robot: Any, weight: Any) -> Array:
    """Return one positive weight per drive, from None, one per drive or joint, or by joint name."""
    names, driven = robot.joint_names, list(robot.tree.driven)
    if weight is None:
        return np.ones(len(driven))
    if isinstance(weight, Mapping):
        values = per_joint("weight", {**dict.fromkeys(names, 1.0), **weight}, names)[driven]
    else:
        values = numbers("weight", weight)
        if values.shape not in ((len(driven),), (len(names),)):
            raise CallError(
                f"weight has shape {values.shape}; expected ({len(driven)},): one for each of"
                f" {', '.join(robot.driven_joints)}"
            )
        values = values if values.shape == (len(driven),) else values[driven]
    if not (np.all(np.isfinite(values)) and np.all(values > 0.0)):
        raise CallError(
            f"weight = {values}; expected positive numbers: the price of a torque squared"
        )
    return values
