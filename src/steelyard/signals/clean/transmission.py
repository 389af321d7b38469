"""Transmission between motor and joint.

Gear ratios, coupled axes, signs, offsets, torque constants.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import CallError, LogError
from ..log import Log

Array = NDArray[np.float64]

SIDES = ("motor", "joint")


@dataclass(frozen=True, eq=False)
class Transmission:
    """Conversion of motor-side signals to the joint side.

    q_motor = R (q - offset),  tau = R^T tau_motor,  tau_motor = k i.
    The power is the same on both sides: tau . qd = tau_motor . qd_motor.

    R = (diag(ratio) + coupling) diag(sign) is (n, n); `offset` [rad|m] and `torque_constant`
    [N m/A] are (n,). `position` (of q, qd, qdd and reference) and `torque` name the side on which
    each was logged. On the joint side only sign, offset and constant apply. motor_position and
    link_position stay as measured.
    Siciliano et al., "Robotics: Modelling, Planning and Control", 2009, section 5.1.1.
    """

    ratio: Array
    coupling: Array
    sign: Array
    offset: Array
    torque_constant: Array | None = None
    position: str = "motor"
    torque: str = "motor"

    @classmethod
    def of(
        cls,
        ratio: ArrayLike | None = None,
        coupling: ArrayLike | Iterable[tuple[int, int, float]] | None = None,
        sign: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        torque_constant: ArrayLike | None = None,
        position: str = "motor",
        torque: str = "motor",
    ) -> Transmission:
        """Make a transmission from what is known.

        What is not given is 1, or 0 for coupling and offset.

        `coupling` is an (n, n) matrix, or rows (motor, joint, ratio) counted from 1: (6, 5, 32) if
        motor 6 turns 32 times with joint 5.
        """
        options = {
            "ratio": ratio,
            "sign": sign,
            "offset": offset,
            "torque_constant": torque_constant,
        }
        vectors = {
            name: np.atleast_1d(np.asarray(value, float))
            for name, value in options.items()
            if value is not None
        }
        n = joint_count(vectors, coupling)
        ones, zeros = np.ones(n), np.zeros(n)
        return cls(
            ratio=vectors.get("ratio", ones),
            coupling=coupling_matrix(coupling, n),
            sign=vectors.get("sign", ones),
            offset=vectors.get("offset", zeros),
            torque_constant=vectors.get("torque_constant"),
            position=position,
            torque=torque,
        )

    def __post_init__(self) -> None:
        for side in (self.position, self.torque):
            if side not in SIDES:
                raise CallError(f"transmission: a side is 'motor' or 'joint', not {side!r}")
        if not np.all(np.isin(self.sign, (-1.0, 1.0))):
            raise CallError(
                f"transmission: sign must be 1 or -1 for each joint, found {self.sign.tolist()}"
            )
        if abs(np.linalg.det(self.gearing)) < 1e-12:
            raise CallError(
                f"transmission: ratio and coupling make a singular matrix:\n{self.gearing}"
            )

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.ratio)

    @property
    def gearing(self) -> Array:
        """R (n, n): q_motor = R (q - offset)."""
        return np.asarray((np.diag(self.ratio) + self.coupling) * self.sign)

    def _matrix(self, side: str) -> Array:
        return self.gearing if side == "motor" else np.diag(self.sign)

    def apply(self, log: Log) -> Log:
        """Return the log on the joint side: q = R^-1 q_motor + offset, tau = R^T k i."""
        check_joint_count(self, log)
        inverse = np.linalg.inv(self._matrix(self.position))
        torque = self._matrix(self.torque)
        tau, effort = log.tau, log.effort
        if tau is None and log.current is not None and self.torque_constant is not None:
            tau, effort = log.current * self.torque_constant, "current"
        return log.replace(
            q=log.q @ inverse.T + self.offset,
            reference=None if log.reference is None else log.reference @ inverse.T + self.offset,
            qd=times(log.qd, inverse.T),
            qdd=times(log.qdd, inverse.T),
            tau=times(tau, torque),
            effort=effort,
        )

    def undo(self, log: Log) -> Log:
        """Return the log on the side where it was measured: the inverse of `apply`.

        A current stays as it is.
        """
        check_joint_count(self, log)
        matrix = self._matrix(self.position)
        torque = np.linalg.inv(self._matrix(self.torque))
        return log.replace(
            q=(log.q - self.offset) @ matrix.T,
            reference=None if log.reference is None else (log.reference - self.offset) @ matrix.T,
            qd=times(log.qd, matrix.T),
            qdd=times(log.qdd, matrix.T),
            tau=times(log.tau, torque),
        )


def times(x: Array | None, matrix: NDArray[np.floating[Any]]) -> Array | None:
    """Return x @ matrix, or None if x is None."""
    return None if x is None else np.asarray(x @ matrix, np.float64)


def check_joint_count(transmission: Transmission, log: Log) -> None:
    """Raise LogError where transmission and log differ in the number of joints."""
    if transmission.n != log.n:
        raise LogError(
            f"{log.where}the transmission has {transmission.n} joints, the log {log.n}:"
            f" {', '.join(log.labels)}"
        )


def joint_count(vectors: dict[str, Array], coupling: Any) -> int:
    """Return the length of the vectors; raise CallError where they differ."""
    counts = {name: len(value) for name, value in vectors.items() if value.ndim == 1}
    wrong = [name for name, value in vectors.items() if value.ndim != 1]
    if wrong:
        raise CallError(
            f"transmission: {wrong[0]} must be one number per joint, found shape"
            f" {vectors[wrong[0]].shape}"
        )
    if not counts and coupling is not None and np.ndim(coupling) == 2:
        counts["coupling"] = len(np.asarray(coupling))
    if not counts:
        raise CallError(
            "transmission: give at least one of ratio, sign, offset, torque_constant, one number"
            " per joint"
        )
    if len(set(counts.values())) > 1:
        raise CallError(
            "transmission: "
            + ", ".join(f"{name} has {count} numbers" for name, count in counts.items())
        )
    return next(iter(counts.values()))


def coupling_matrix(coupling: Any, n: int) -> Array:
    """Return the coupling (n, n) from a matrix, rows (motor, joint, ratio) from 1 on, or None."""
    matrix = np.zeros((n, n))
    if coupling is None:
        return matrix
    rows = np.atleast_2d(np.asarray(coupling, float))
    if rows.size == 0:
        return matrix
    if rows.shape == (n, n) and not (n == 3 and is_entry_list(rows, n)):
        return rows
    if rows.shape[1] != 3 or not is_entry_list(rows, n):
        raise CallError(
            f"transmission: coupling must be ({n}, {n}) or rows (motor, joint, ratio) counted from"
            f" 1 to {n}, found {rows.tolist()}"
        )
    for motor, joint, ratio in rows:
        matrix[int(motor) - 1, int(joint) - 1] += ratio
    return matrix


def is_entry_list(rows: Array, n: int) -> bool:
    """Return whether the first two columns are different joint numbers from 1 to n."""
    numbers = rows[:, :2]
    return bool(
        rows.shape[1] == 3
        and np.all((numbers == np.round(numbers)) & (numbers >= 1) & (numbers <= n))
        and np.all(numbers[:, 0] != numbers[:, 1])
    )
