"""What lies behind the equations of motion: Christoffel symbols, momentum, reference torques, reactions, derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .description import Array, Description, Wrench
from .observer import residual


class Structure(Description):
    """What controllers, observers and designers ask of a model."""

    def christoffel(self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """c(q), (..., n, n, n) [kg m2]: C_ij = sum over k of c_ijk qd_k, c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2.

        Lagrangian lecture, "Let's plug it all together"; structure lecture, property 4.
        """
        return self._call("christoffel", (q,), parameters, out)

    def coriolis_transpose(self, q: ArrayLike, qd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None) -> Array:
        """C(q, qd)^T qd = dT/dq, (..., n) [N m|N], without the matrix. De Luca and Mattone 2003, eq. (6)."""
        return self._call("coriolis_transpose", (q, qd), parameters, out)

    def momentum_rate(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """dp/dt = tau + C^T qd - g - friction, (..., n) [N m|N]: without contact. What a collision observer compares with the momentum.

        De Luca and Mattone 2003, eq. (7).
        """
        return self._call("momentum_rate", (q, qd, tau), parameters, out)

    def momentum_residual(
        self, t: ArrayLike, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, gain: ArrayLike = 25.0, *, out: Array | None = None
    ) -> Array:
        """The torque that the environment applied, (N, n) [N m|N], seen through a low-pass of `gain` [1/s]: zero without contact.

        t (N,) [s]; q, qd, tau (N, n). From the generalised momentum, so no acceleration is needed. De Luca and Mattone 2003, eq. (9).
        """
        times, torques = np.asarray(t, dtype=float), np.asarray(tau, dtype=float)
        momentum, rate = self._call("momentum", (q, qd), None, None), self.momentum_rate(q, qd, torques)
        return residual(times, momentum, rate, np.asarray(gain, dtype=float), out)

    def slotine_li_torque(
        self, q: ArrayLike, qd: ArrayLike, qrd: ArrayLike, qrdd: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """M(q) qrdd + C(q, qd) qrd + g(q) + friction(qd), (..., n) [N m|N], with the reference velocity qrd and acceleration qrdd.

        Slotine and Li 1987, eq. (6).
        """
        return self._call("slotine_li", (q, qd, qrd, qrdd), parameters, out)

    def slotine_li_regressor(self, q: ArrayLike, qd: ArrayLike, qrd: ArrayLike, qrdd: ArrayLike, *, out: Array | None = None) -> Array:
        """Y_r(q, qd, qrd, qrdd), (..., n, p), with Y_r @ parameters = slotine_li_torque. Slotine and Li 1987, eq. (7)."""
        return self._call("slotine_li_regressor", (q, qd, qrd, qrdd), None, out)

    def wrench_torque(self, q: ArrayLike, wrench: Wrench, *, out: Array | None = None) -> Array:
        """J^T h, (..., n) [N m|N]: the joint torques that wrenches cause, given as in `inverse_dynamics`."""
        return self._call("wrench_torque", (q,), None, out, wrench)

    def joint_reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: Wrench | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """What each joint passes on to its link in a motion, (..., bodies, 6): force [N], then moment [N m], in the link's own frame
        about its origin.

        The drive gives the part about (or along) the axis, the bearing the rest. Lecture "Newton-Euler formulation", algorithm 2, lines 7
        and 8.
        """
        return self._call("joint_reactions", (q, qd, qdd), parameters, out, wrench)

    def forward_reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: Wrench | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """The same under given torques, (..., bodies, 6). Recursive direct dynamics lecture, phase
        3.
        """
        return self._call("forward_reactions", (q, qd, tau), parameters, out, wrench)

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: Wrench | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Any = None,
    ) -> tuple[Array, Array, Array]:
        """(dtau/dq, dtau/dqd, M), each (..., n, n), exact, friction and drives included; sign() has derivative zero.

        Carpentier and Mansard 2018; here from the graph of Newton-Euler.
        """
        return self._call("inverse_dynamics_derivatives", (q, qd, qdd), parameters, out, wrench)

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: Wrench | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Any = None,
    ) -> tuple[Array, Array, Array]:
        """(dqdd/dq, dqdd/dqd, dqdd/dtau = M^-1), each (..., n, n): minus M^-1 times those of the torque. Carpentier and Mansard 2018, eq.
        (11).
        """
        return self._call("forward_dynamics_derivatives", (q, qd, tau), parameters, out, wrench)
