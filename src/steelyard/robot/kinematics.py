"""Where frames are and how fast they move."""

from __future__ import annotations

from numpy.typing import ArrayLike

from .description import Array, Description


class Kinematics(Description):
    """Poses and Jacobians of any frame."""

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
