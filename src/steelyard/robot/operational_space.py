"""Task space of a frame: pose, Jacobians, inertia, null space, manipulability, centre of mass."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from ..errors import SteelyardWarning
from .description import Array, Description
from .single_call import checked_by

# times the mass of the robot: larger inertias mean a direction in which the frame can hardly move
SINGULAR = 1e6


def warn_of_singularity(robot: Description, inertia: Array) -> Array:
    """Return task inertias (..., 6, 6) unchanged.

    Warn of those that a nearby singularity makes huge.
    """
    diagonal = np.einsum("...ii->...i", inertia)
    mass = sum(abs(body.inertia.m) for body in robot.tree.bodies)
    if not mass or not (diagonal > SINGULAR * mass).any():
        return inertia
    huge = (diagonal > SINGULAR * mass).any(axis=-1)
    warnings.warn(
        f"task_inertia: {int(huge.sum())} of {huge.size} configurations are near a singularity,"
        " where the frame can hardly move in some direction: the inertia reaches"
        f" {float(diagonal[huge].max()):.2g} kg|kg m2, of which few digits are significant. Leave"
        " these configurations out (robot.manipulability), or damp: sy.joint_velocity(robot, q,"
        " twist)",
        SteelyardWarning,
        stacklevel=3,
    )
    return inertia


class OperationalSpaceMethods(Description):
    """Task-space quantities of a frame, the end-effector by default. q (..., n) [rad|m]."""

    def forward_kinematics(
        self, q: ArrayLike, frame: str | None = None, *, out: Array | None = None
    ) -> Array:
        """Compute the pose of a frame in the base frame (..., 4, 4), homogeneous.

        Rotation [-] and position [m]; the end-effector by default. Lynch and Park 2017, section
        4.1.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        frame : name of a frame, one of `frame_names`; the end-effector by default.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., 4, 4) [-|m].

        Examples
        --------
        >>> sy.load("planar_2r").forward_kinematics([np.pi / 2, 0.0]).round(3)
        array([[ 0., -1.,  0.,  0.],
               [ 1.,  0.,  0.,  1.],
               [ 0.,  0.,  1.,  0.],
               [ 0.,  0.,  0.,  1.]])
        """
        return self._call("forward_kinematics", (q,), None, out, frame=self._frame(frame))

    def jacobian(
        self, q: ArrayLike, frame: str | None = None, *, out: Array | None = None
    ) -> Array:
        """Compute the geometric Jacobian J(q) (..., 6, n) in the base frame.

        J qd is the linear velocity of the frame's origin [m/s], then the angular velocity [rad/s].
        Siciliano et al. 2009, section 3.1 (geometric Jacobian).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        frame : name of a frame, one of `frame_names`; the end-effector by default.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., 6, n) [m|rad] per [rad|m].

        Examples
        --------
        >>> sy.load("planar_2r").jacobian([0.0, np.pi / 2]).round(3)[:2]
        array([[-0.,  0.],
               [ 1.,  0.]])
        """
        return self._call("jacobian", (q,), None, out, frame=self._frame(frame))

    def jacobian_rate(
        self, q: ArrayLike, qd: ArrayLike, frame: str | None = None, *, out: Array | None = None
    ) -> Array:
        """Compute dJ/dt (..., 6, n) along qd: the frame accelerates by J qdd + dJ/dt qd.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        qd : (..., n) joint velocities [rad/s|m/s].
        frame : name of a frame, one of `frame_names`; the end-effector by default.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., 6, n) [1/s].

        Examples
        --------
        >>> sy.load("planar_2r").jacobian_rate([0.0, np.pi / 2], [1.0, 0.0]).round(3)[:2]
        array([[-1.,  0.],
               [-0.,  0.]])
        """
        return self._call("jacobian_rate", (q, qd), None, out, frame=self._frame(frame))

    @checked_by(warn_of_singularity)
    def task_inertia(
        self,
        q: ArrayLike,
        frame: str | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute the task-space inertia Lambda(q) = (J M^-1 J^T)^-1 (..., 6, 6) [kg, kg m, kg m2].

        In the base frame. Directions are taken in the order x, y, z, rx, ry, rz as far as they are
        independent; rows and columns of the others are zero. Next to a singularity the inertia
        grows without bound; a SteelyardWarning counts such configurations. Khatib 1987, eq. (5).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        frame : name of a frame, one of `frame_names`; the end-effector by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., 6, 6) [kg, kg m, kg m2].

        Examples
        --------
        >>> sy.load("elbow_6r").task_inertia([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).shape
        (6, 6)
        """
        return self._call("task_inertia", (q,), parameters, out, frame=self._frame(frame))

    def dynamically_consistent_inverse(
        self,
        q: ArrayLike,
        frame: str | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute the dynamically consistent inverse M^-1 J^T Lambda (..., n, 6).

        It maps accelerations of the frame to joint accelerations of least kinetic energy. Khatib
        1987, eq. (36).

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        frame : name of a frame, one of `frame_names`; the end-effector by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n, 6) [rad|m] per [m|rad].

        Examples
        --------
        >>> sy.load("elbow_6r").dynamically_consistent_inverse([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).shape
        (6, 6)
        """
        return self._call(
            "dynamically_consistent_inverse", (q,), parameters, out, frame=self._frame(frame)
        )

    def nullspace_projector(
        self,
        q: ArrayLike,
        frame: str | None = None,
        *,
        parameters: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Compute the null-space projector N(q) = 1 - M^-1 J^T Lambda J (..., n, n).

        N qd does not move the frame, torques N^T tau do not accelerate it. Khatib 1987.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        frame : name of a frame, one of `frame_names`; the end-effector by default.
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., n, n) [-].

        Examples
        --------
        >>> N = sy.load("elbow_6r").nullspace_projector([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
        >>> bool(np.abs(N).max() < 1e-9)  # six joints, six directions
        True
        """
        return self._call("nullspace_projector", (q,), parameters, out, frame=self._frame(frame))

    def manipulability(
        self, q: ArrayLike, frame: str | None = None, *, out: Array | None = None
    ) -> Array:
        """Compute the manipulability w = sqrt(det(J J^T)) (...), zero at singularities.

        sqrt(det(J^T J)) where fewer than six joints move the frame. Yoshikawa 1985.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        frame : name of a frame, one of `frame_names`; the end-effector by default.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (...) [-].

        Examples
        --------
        >>> round(float(sy.load("elbow_6r").manipulability([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])), 4)
        0.1573
        """
        return self._call("manipulability", (q,), None, out, frame=self._frame(frame))

    def analytic_jacobian(
        self, q: ArrayLike, frame: str | None = None, *, out: Array | None = None
    ) -> Array:
        """Compute the analytic Jacobian J_A(q) (..., 6, n): rates of x, y, z and roll, pitch, yaw.

        [m/s] and [rad/s], infinite at pitch +-90 deg. Siciliano et al. 2009, section 3.6.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        frame : name of a frame, one of `frame_names`; the end-effector by default.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., 6, n) [m|rad] per [rad|m].

        Examples
        --------
        >>> sy.load("elbow_6r").analytic_jacobian([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).shape
        (6, 6)
        """
        return self._call("analytic_jacobian", (q,), None, out, frame=self._frame(frame))

    def center_of_mass(
        self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """Compute the centre of mass c(q) (..., 3) [m] of all moving bodies in the base frame.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., 3) [m].

        Examples
        --------
        >>> sy.load("planar_2r").center_of_mass([0.0, 0.0]).round(3)
        array([0.917, 0.   , 0.   ])
        """
        return self._call("center_of_mass", (q,), parameters, out)

    def com_jacobian(
        self, q: ArrayLike, *, parameters: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """Compute the Jacobian of the centre of mass J_c(q) (..., 3, n), which moves at J_c qd.

        Wieber 2006, section 2.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        parameters : (..., p) parameters in place of the robot's own, in the order and units of
            `parameter_names`.
        out : array, or tuple of arrays, that the result is written to; a new one by default.

        Returns
        -------
        (..., 3, n) [m] per [rad|m].

        Examples
        --------
        >>> sy.load("planar_2r").com_jacobian([0.0, 0.0]).round(3)
        array([[-0.   , -0.   ],
               [ 0.917,  0.185],
               [ 0.   ,  0.   ]])
        """
        return self._call("com_jacobian", (q,), parameters, out)
