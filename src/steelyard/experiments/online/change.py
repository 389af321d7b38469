"""DetectedChange: a change of a working robot in numbers and words, and its estimated size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...identification.model.joint_gram import JointGram
from ...mechanism.tree import Tree
from .hypotheses import ChangeHypothesis
from .online_thresholds import THRESHOLDS

Array = NDArray[np.float64]
UNITS = {
    "m": "kg",
    "mcx": "kg m",
    "mcy": "kg m",
    "mcz": "kg m",
    "Fv": "N m s/rad",
    "Fc": "N m",
    "F0": "N m",
}
SLIDING = {"Fv": "N s/m", "Fc": "N", "F0": "N"}


@dataclass(frozen=True, eq=False)
class DetectedChange:
    """A detected change of the robot.

    `kind` is "load", "friction" or "unexplained", `where` the link or joint concerned. A change is
    unexplained if the best hypothesis needs friction above the joint's effort limit, or a load
    heavier than the moving links.

    `begun` and `noticed` are times [s], or sample numbers where the rate is unknown (see `unit`).
    `values` (d,) are the changes of the parameters `names`, with `covariance` (d, d): mass [kg] and
    first moments [kg m] of a load about the link's origin, or viscous, Coulomb and constant
    friction. `torque` [N m|N] is the rms change of a joint's torque, for the joint where it is
    largest relative to its noise. `joints` are the joints concerned.
    """

    kind: str
    where: str
    begun: float
    noticed: float
    unit: str
    names: tuple[str, ...]
    values: Array
    covariance: Array
    torque: float
    joints: tuple[str, ...]
    hypothesis: ChangeHypothesis
    sliding: bool = False

    @property
    def std(self) -> Array:
        """Standard deviations (d,) of `values`."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def __str__(self) -> str:
        late = f"detected {self.noticed - self.begun:.3g} {self.unit} later"
        when = (
            f"At {self.begun:.6g} {self.unit}"
            if self.unit == "s"
            else f"At sample {self.begun:.0f}"
        )
        return f"{when} {self._what()}; {late}."

    def _what(self) -> str:
        numbers = list(zip(self.names, self.values.tolist(), self.std.tolist(), strict=True))
        if self.kind == "unexplained":
            return (
                f"the torque of {', '.join(self.joints)} changed; no possible load or friction"
                " explains it: look for contact, a changed torque sensor or drive, or a blocked"
                " joint"
            )
        if self.kind == "load":
            mass, std = abs(numbers[0][1]), numbers[0][2]
            verb = "picked up" if self.values[0] > 0 else "put down"
            centre = ", ".join(f"{value / self.values[0]:.3f}" for value in self.values[1:])
            return (
                f"{self.where} {verb} {mass:.3g} ± {std:.2g} kg, centre ({centre}) m, seen by"
                f" {', '.join(self.joints)}"
            )
        units = {**UNITS, **(SLIDING if self.sliding else {})}
        listed = ", ".join(
            f"{name} {value:+.3g} ± {std:.2g} {units[name]}" for name, value, std in numbers
        )
        return f"the friction of {self.where} changed by {self.torque:.3g} {units['Fc']} ({listed})"


def least_squares_size(gram: JointGram, modes: Array) -> tuple[Array, Array]:
    """Return the least-squares change (d,) of a window and its covariance (d, d).

    Parameters
    ----------
    gram : normal equations A x = z of the change, summed over the joints
    modes : influence (d, r) of the reference's uncertainty
    """
    return size_of_inverse(pseudo_inverse(gram.normal[0]), gram, modes)


def friction_size(gram: JointGram, modes: Array) -> tuple[Array, Array]:
    """Return the change of friction (d,) and its covariance (d, d).

    While a joint moves in one direction, its viscous, Coulomb and constant friction are nearly
    collinear: least squares then has terms of hundreds of N m which cancel. The prior is that no
    term is larger than the torque that changed: x_i ~ N(0, S / A_ii). S = z^T A^+ z is the squared
    change in units of its noise. It changes well-determined values by a share of 1 / S. Zellner,
    "On assessing prior distributions and Bayesian regression analysis with g-prior distributions",
    1986.

    Parameters
    ----------
    gram : normal equations A x = z of the change of one joint
    modes : influence (d, r) of the reference's uncertainty
    """
    A = gram.normal[0]
    S = float(gram.rhs[0] @ least_squares_size(gram, modes)[0])
    ridge = A + np.diag(np.diag(A)) / max(S, 1.0)
    return size_of_inverse(pseudo_inverse(ridge), gram, modes)


def pseudo_inverse(A: Array) -> Array:
    """Return the pseudo-inverse of a symmetric matrix (d, d); small eigenvalues count as zero."""
    inverse: Array = np.linalg.pinv(A, rcond=THRESHOLDS.change_rank, hermitian=True).astype(float)
    return inverse


def size_of_inverse(inverse: Array, gram: JointGram, modes: Array) -> tuple[Array, Array]:
    """Return the change (d,) and its covariance (d, d) for an inverse of the normal matrix."""
    values = np.asarray(inverse @ gram.rhs[0])
    return values, inverse + inverse @ modes @ modes.T @ inverse


def friction_limits(tree: Tree, joint: int, names: Sequence[str]) -> Array:
    """Return the largest possible change of friction terms (d,).

    All that the drive can give; infinite without a limit.
    """
    limit = tree.limits[joint] if tree.limits else None
    effort = limit.effort if limit is not None and limit.effort > 0.0 else np.inf
    speed = limit.velocity if limit is not None and limit.velocity > 0.0 else np.inf
    viscous = effort / speed if np.isfinite(speed) else np.inf
    return np.array([viscous if name == "Fv" else effort for name in names])


def load_limits(masses: Sequence[float], names: Sequence[str]) -> Array:
    """Return the largest possible change of a load (d,).

    The mass of the moving links; no limit of first moments.
    """
    total = float(np.sum(np.maximum(masses, 0.0))) or np.inf
    return np.array([total if name == "m" else np.inf for name in names])
