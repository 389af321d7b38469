"""Terms beyond the rigid links: columns of the regressor that a robot's description does not have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, choices

Array = NDArray[np.float64]


class Extra(Protocol):
    """Further linear terms of the torque: `names` of k parameters and their columns (N, n, k)."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def columns(self, q: Array, qd: Array, qdd: Array, widths: Sequence[float] = ()) -> Array: ...

    def structural(self) -> Extra:
        """Terms of the same structure, for random states: what can be told apart at all does not depend on their constants."""
        ...

    def bound(self, joint_names: Sequence[str]) -> Extra:
        """The same terms, knowing the order of the joints; raises CallError for a joint that there is not."""
        ...


@dataclass(frozen=True)
class Coupling:
    """A motor that two joints share, as in a wrist whose last two axes are driven through each other.

    tau_a += Iam qdd_b + fvm qd_b + fsm sign(qd_a + qd_b),  tau_b += Iam qdd_a + fvm qd_a + fsm sign(qd_a + qd_b),
    with Iam [kg m2], fvm [N m s/rad], fsm [N m] at the joints' side. Gautier, Vandanjon and Presse, "Identification of inertial and
    drive gain parameters of robots", CDC 1994: the coupled wrist of the Staeubli robots.
    """

    joint_a: str | int
    joint_b: str | int
    indices: tuple[int, int] | None = None
    label: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        owner = self.label or str(self.joint_b)
        return f"{owner}.Iam", f"{owner}.Fvm", f"{owner}.Fcm"

    def structural(self) -> Coupling:
        """Itself: it has no constants."""
        return self

    def bound(self, joint_names: Sequence[str]) -> Coupling:
        """With the joints' places found by name or number (from 0)."""
        a, b = (place(joint, joint_names) for joint in (self.joint_a, self.joint_b))
        if a == b:
            raise CallError(f"a coupling needs two joints, not {self.joint_a!r} twice")
        return replace(self, indices=(a, b), label=self.label or joint_names[b])

    def columns(self, q: Array, qd: Array, qdd: Array, widths: Sequence[float] = ()) -> Array:
        """(N, n, 3): the columns of Iam, fvm, fsm."""
        assert self.indices is not None, "bound() comes first"
        a, b = self.indices
        Y = np.zeros((*q.shape, 3))
        rate = qd[:, a] + qd[:, b]
        width = max(widths[a], widths[b]) if widths else 0.0
        shared = np.tanh(rate / width) if width > 0 else np.sign(rate)
        Y[:, a, 0], Y[:, b, 0] = qdd[:, b], qdd[:, a]
        Y[:, a, 1], Y[:, b, 1] = qd[:, b], qd[:, a]
        Y[:, a, 2] = Y[:, b, 2] = shared
        return Y


def place(joint: str | int, joint_names: Sequence[str]) -> int:
    """The index of a joint given by name or by number from 0."""
    if isinstance(joint, str):
        if joint not in joint_names:
            raise CallError(f"coupling: no joint is called {joint!r}; {choices(joint, joint_names)}")
        return list(joint_names).index(joint)
    if not 0 <= joint < len(joint_names):
        raise CallError(f"coupling: joint {joint} is not between 0 and {len(joint_names) - 1}")
    return int(joint)
