"""What drives and loops do in a motion that is given: the result of `robot.constrained_inverse_dynamics`."""

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

Array = NDArray[np.float64]
LEFT = 1e-8  # of the largest torque: what is left of the equations beyond it is more than rounding
OPENS = 1e-6  # of the largest acceleration: loops that open faster under forward dynamics are those of a singular configuration
OPEN = 1e-8  # m, rad or their rates: a motion that opens the loops by more is said to


@dataclass(frozen=True, eq=False, repr=False)
class ConstrainedTorque:
    """M qdd + h = tau + Phi^T multipliers + residual: tau (..., n) [N m|N], zero at joints without a drive; multipliers (..., m) [N|N m].

    `residual` (..., n) is what no drive and no loop can give: rounding, unless the mechanism is under-actuated; `nearest` is then the
    motion that is possible. `case` is "exact", "redundant" or "underactuated". `limited` (...) tells where effort limits changed the
    torques, `exceeded` (...) where no torques within them exist.
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
    def made(cls, robot: Any, motion: tuple[Array, ...], found: tuple[Array, ...], weight: Array, options: Mapping[str, Any]) -> Any:
        """The result of the kernel; torques beyond effort limits are distributed anew where there are drives to spare."""
        tau, multipliers, residual = found
        no = np.zeros(tau.shape[:-1], dtype=bool)
        made = cls(tau, multipliers, residual, robot.loop_structure.case, no, no, robot, motion, options)
        limits = np.array([limit.effort for limit in robot.tree.limits])
        over = np.any(np.abs(tau) > limits, axis=-1) if np.isfinite(limits).any() else no
        made = made._within(limits, weight, over) if made.case == "redundant" and np.any(over) else replace(made, exceeded=over)
        if not np.abs(residual).max(initial=0.0) <= LEFT:  # few motions need a closer look
            made._warn()
        return made

    @classmethod
    def least(cls, robot: Any, motion: tuple[Array, ...], options: Mapping[str, Any]) -> Any:
        """Torques and multipliers that leave the least of the equations in the metric of M^-1: qdd comes as near as it can."""
        require_mass(robot.tree, "constrained_inverse_dynamics")
        structure, driven = robot.loop_structure, list(robot.tree.driven)
        force = robot.inverse_dynamics(*motion, **options)
        columns = np.zeros((*force.shape, len(driven)))
        columns[..., driven, range(len(driven))] = 1.0
        Phi = robot.closure_jacobian(motion[0])[..., structure.rows, :] if structure.rows else np.zeros((*force.shape[:-1], 0, robot.n))
        S = np.concatenate([columns, np.swapaxes(Phi, -1, -2)], axis=-1)
        L = np.linalg.cholesky(robot.mass_matrix(motion[0], parameters=options.get("parameters")))
        x = np.einsum("...ij,...j->...i", np.linalg.pinv(np.linalg.solve(L, S)), np.linalg.solve(L, force[..., None])[..., 0])
        tau, multipliers = np.zeros_like(force), np.zeros((*force.shape[:-1], robot.tree.closures))
        tau[..., driven], multipliers[..., structure.rows] = x[..., : len(driven)], x[..., len(driven) :]
        left = force - np.einsum("...ij,...j->...i", S, x)
        over = np.any(np.abs(tau) > np.array([limit.effort for limit in robot.tree.limits]), axis=-1)
        return cls(tau, multipliers, left, structure.case, np.zeros_like(over), over, robot, motion, options)

    @cached_property
    def nullspace(self) -> Array:
        """Orthonormal torques (..., n, k) that only strain the mechanism: any multiple may be added to tau. k = 0 without spare drives."""
        rows, driven = self._robot.loop_structure.rows, list(self._robot.tree.driven)
        n = self.tau.shape[-1]
        if not rows:
            return np.zeros((*self.tau.shape, 0))
        Phi = self._robot.closure_jacobian(self._motion[0])[..., rows, :]
        passive = [c for c in range(n) if c not in driven]
        spare = len(rows) - (len(passive) if self.case != "underactuated" else _passive_rank(self._robot))
        U = np.linalg.svd(Phi[..., passive], full_matrices=True)[0]
        strain = np.swapaxes(Phi, -1, -2) @ U[..., len(rows) - spare :]
        strain[..., passive, :] = 0.0
        return np.asarray(np.linalg.qr(strain)[0]) if spare else np.zeros((*self.tau.shape, 0))

    @cached_property
    def nearest(self) -> Array:
        """The possible acceleration nearest to the one asked for, (..., n), in the metric of the kinetic energy: qdd - M^-1 residual."""
        M = self._robot.mass_matrix(self._motion[0], parameters=self._options.get("parameters"))
        return np.asarray(self._motion[2] - np.linalg.solve(M, self.residual[..., None])[..., 0])

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Where drives and loops give the whole motion, (...)."""
        size = np.maximum(np.abs(self.tau).max(axis=-1), 1.0)
        return np.asarray(np.abs(self.residual).max(axis=-1) <= LEFT * size)

    @cached_property
    def status(self) -> str:
        """How it went, in a sentence."""
        said = [str(self._robot.loop_structure)] if self._robot.tree.loops else [f"no loops; {self.case}"]
        impossible = int(np.sum(~self.possible))
        if impossible:
            worst = int(np.argmax(np.abs(self.residual).reshape(-1, self.tau.shape[-1]).max(axis=0)))
            size, name = float(np.abs(self.residual).max()), self._robot.joint_names[worst]
            why = "no drive gives them" if self.case == "underactuated" else "the configuration is singular for these drives"
            said.append(f"{impossible} of {self.possible.size} motions are impossible by up to {size:.3g} N m or N at {name}: {why}")
        opened = self._opened()
        if opened > OPEN:
            said.append(f"the motion does not keep the loops closed: they open by {opened:.3g} (m, rad or their rates); see assemble")
        if np.any(self.exceeded):
            said.append(f"{np.sum(self.exceeded)} of {self.exceeded.size} motions need more than the effort limits")
        return "; ".join(said)

    def _opened(self) -> float:
        """The largest violation of closures by positions, velocities and accelerations."""
        if not self._robot.tree.loops:
            return 0.0
        q, qd, qdd = self._motion
        Phi = self._robot.closure_jacobian(q)
        rates = [np.einsum("...ij,...j->...i", Phi, qd), np.einsum("...ij,...j->...i", Phi, qdd) + self._robot.closure_bias(q, qd)]
        return max(float(np.abs(x).max(initial=0.0)) for x in (self._robot.closure(q), *rates))

    def _warn(self) -> None:
        finite = np.all([np.isfinite(x).all(axis=-1) for x in self._motion], axis=0)
        if not np.all(finite):
            count = f"{int(np.sum(~finite))} of {finite.size}"
            warnings.warn(
                f"constrained_inverse_dynamics: {count} motions are not finite, nor are their torques", SteelyardWarning, stacklevel=4
            )
        bad = int(np.sum(~self.possible & finite))
        if bad:
            sentence = f"constrained_inverse_dynamics: {bad} of {self.possible.size} configurations are singular for these drives"
            warnings.warn(f"{sentence}: their torques are not determined", SteelyardWarning, stacklevel=4)

    def _within(self, limits: Array, weight: Array, over: NDArray[np.bool_]) -> ConstrainedTorque:
        """The same with torques within limits where that is possible: the smallest such ones, sample by sample."""
        tau, multipliers, exceeded = self.tau.copy(), self.multipliers.copy(), np.zeros_like(over)
        share = np.zeros(tau.shape[-1])
        share[list(self._robot.tree.driven)] = np.sqrt(weight)
        rows = list(self._robot.loop_structure.rows)
        Phi = self._robot.closure_jacobian(self._motion[0])[..., rows, :]
        for at in zip(*np.nonzero(over), strict=True):
            z = _least_distance(share[:, None] * self.nullspace[at], self.nullspace[at], tau[at], limits)
            exceeded[at] = z is None
            if z is not None:
                change = self.nullspace[at] @ z
                tau[at] += change
                multipliers[at][rows] -= np.linalg.lstsq(Phi[at].T, change, rcond=None)[0]
        return replace(self, tau=tau, multipliers=multipliers, limited=over & ~exceeded, exceeded=exceeded)

    def __repr__(self) -> str:
        return f"ConstrainedTorque({self.case}, tau {self.tau.shape})"


def warn_of_singular(qdd: Array, multipliers: Array, opening: Array, given: Sequence[Any] = ()) -> None:
    """Warn of accelerations (..., n) that are not finite, or with which loops open, (..., r) [m/s2|rad/s2], by more than rounding.

    `given` are the states and torques, (..., n): where they are not finite, nothing is singular.
    """
    wrong = ~np.isfinite(qdd).all(axis=-1) | ~(np.abs(opening).max(axis=-1, initial=0.0) <= OPENS * (1.0 + np.abs(qdd).max(axis=-1)))
    finite = np.ones(wrong.shape, dtype=bool)
    for x in given if np.any(wrong) else ():
        finite &= np.isfinite(x).all(axis=-1)
    if not np.all(finite):
        count = f"{int(np.sum(~finite))} of {finite.size}"
        sentence = f"constrained_forward_dynamics: {count} states or torques are not finite, nor are their accelerations"
        warnings.warn(sentence, SteelyardWarning, stacklevel=3)
    wrong &= finite
    if np.any(wrong):
        warnings.warn(
            f"constrained_forward_dynamics: {int(np.sum(wrong))} of {wrong.size} configurations are singular: closures that are "
            "independent elsewhere depend on each other there, and the accelerations are not determined",
            SteelyardWarning,
            stacklevel=3,
        )


def _passive_rank(robot: Any) -> int:
    structure = robot.loop_structure
    return sum(c not in structure.independent and c not in structure.driven for c in range(robot.n))


def _least_distance(size: Array, basis: Array, tau: Array, limits: Array) -> Array | None:
    """z of least |size z| with |tau + basis z| <= limits, None where there is none. `tau` is that of least size itself.

    Lawson and Hanson 1974, "Solving Least Squares Problems", chapter 23 (least distance programming).
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
    left = E @ u - target
    if distance < 1e-9 or left[-1] >= 0.0:
        return None
    return np.asarray(np.linalg.solve(R, -left[:-1] / left[-1]))


def weights(robot: Any, weight: Any) -> Array:
    """One positive weight per drive, from none, one per drive or per joint, or by the joint's name (1 where it is not named)."""
    names, driven = robot.joint_names, list(robot.tree.driven)
    if weight is None:
        return np.ones(len(driven))
    if isinstance(weight, Mapping):
        made = per_joint("weight", {**dict.fromkeys(names, 1.0), **weight}, names)[driven]
    else:
        made = numbers("weight", weight)
        if made.shape not in ((len(driven),), (len(names),)):
            raise CallError(f"weight has shape {made.shape}; expected ({len(driven)},): one for each of {', '.join(robot.driven_joints)}")
        made = made if made.shape == (len(driven),) else made[driven]
    if not (np.all(np.isfinite(made)) and np.all(made > 0.0)):
        raise CallError(f"weight = {made}; expected positive numbers: the price of a torque squared")
    return made
