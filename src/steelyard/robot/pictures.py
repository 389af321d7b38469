"""Pictures of a robot: a figure in space, and a card for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..algebra import vector as v3
from ..algebra.spatial import Pose
from ..dynamics.kinematics import joint_axes, poses
from ..errors import CallError
from .description import Array
from .exports import ExportMethods

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..drawing.skeleton import Skeleton

MOST_POSITIONS = 50


class PictureMethods(ExportMethods):
    """Pictures of a robot."""

    def plot(
        self,
        q: ArrayLike | None = None,
        *,
        frames: tuple[str, ...] | None = None,
        width: str | float = "column",
    ) -> Figure:
        """Plot the robot at q (n,) [rad|m] with Matplotlib.

        Of several positions (k, n) the last one is drawn in full.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        frames : names of frames drawn with their axes.
        width : "column" or "page" of a paper, or a width in inches.

        Returns
        -------
        A Matplotlib figure, in inches.

        Examples
        --------
        >>> sy.load("puma560").plot([0, -0.8, 0.5, 0, 0.3, 0]).savefig("puma.pdf")
        """
        from ..drawing.skeleton import draw_skeleton

        return draw_skeleton(self._skeletons("plot", q, frames), width, self.name)

    def picture(self, q: ArrayLike | None = None, *, frames: tuple[str, ...] | None = None) -> str:
        """Return an SVG picture of the robot at q (n,) [rad|m]; needs no package.

        Of several positions (k, n) the last one is drawn in full.

        Parameters
        ----------
        q : (..., n) joint positions [rad|m].
        frames : names of frames drawn with their axes.

        Returns
        -------
        Text.

        Examples
        --------
        >>> sy.load("planar_2r").picture([0.3, 0.2]).lstrip()[:4]
        '<svg'
        """
        from ..drawing.skeleton_svg import skeleton_svg

        return skeleton_svg(self._skeletons("picture", q, frames), self.name)

    def _repr_html_(self) -> str:
        from ..drawing.html import card
        from .tables import body_table, facts, joint_table

        return card(self.name, facts(self), (joint_table(self), body_table(self)), self.remarks)

    def _skeletons(
        self, caller: str, q: ArrayLike | None, frames: tuple[str, ...] | None
    ) -> list[Skeleton]:
        """Return the skeleton of the mechanism at each position."""
        positions = np.atleast_2d(self.near_zero if q is None else np.asarray(q, dtype=float))
        if (
            positions.ndim != 2
            or positions.shape[1] != self.n
            or not 1 <= len(positions) <= MOST_POSITIONS
        ):
            raise CallError(
                f"{caller}: q must be ({self.n},) or up to {MOST_POSITIONS} positions (k,"
                f" {self.n}), not {positions.shape}"
            )
        if not np.all(np.isfinite(positions)):
            raise CallError(f"{caller}: q must be finite")
        named = self.drawn_frames if frames is None else tuple(frames)
        for name in named:
            self.tree.frame(name)  # raises CallError for a name that is none
        return [self._skeleton(row, named) for row in positions]

    @property
    def near_zero(self) -> Array:
        """The position (n,) [rad|m] within the limits that is nearest to zero."""
        return np.array([min(max(0.0, limits.lower), limits.upper) for limits in self.tree.limits])

    @property
    def drawn_frames(self) -> tuple[str, ...]:
        """Names of the frames that are drawn by default: the end-effector, if there is one tip."""
        try:
            return (self.end_effector,)
        except CallError:  # several tips
            return ()

    def _skeleton(self, q: Array, frames: tuple[str, ...]) -> Skeleton:
        """Return points, axes and frames of the mechanism at q (n,)."""
        from ..drawing.skeleton import Skeleton

        tree = self.tree
        where = poses(tree, q.tolist())
        origins = np.array([pose.p for pose in where], dtype=float).reshape(-1, 3)
        ends: dict[int, list[Array]] = {i: [] for i in range(-1, len(where))}
        for i, body in enumerate(tree.bodies):
            ends[body.parent].append(origins[i])
        of = {
            name: where[on].compose(pose) if on >= 0 else pose
            for name, (on, pose) in tree.frames.items()
        }
        for name, (on, _) in tree.frames.items():
            if on >= 0 and (not ends[on] or name in frames):
                ends[on].append(np.array(of[name].p, dtype=float))
        begins = {-1: np.zeros(3), **dict(enumerate(origins))}
        links = [
            np.stack([begins[i], end])
            for i, several in ends.items()
            for end in several
            if np.any(begins[i] != end)
        ]
        return Skeleton(
            links=links,
            points=origins,
            axes=np.array(joint_axes(tree, where), dtype=float).reshape(-1, 3),
            names=tuple(body.joint for body in tree.bodies),
            sliding=np.array([body.kind == "prismatic" for body in tree.bodies], dtype=bool),
            centres=np.array(
                [
                    _centre(pose, body.inertia.m, body.inertia.h)
                    for pose, body in zip(where, tree.bodies, strict=True)
                ]
            ).reshape(-1, 3),
            masses=np.array([body.inertia.m for body in tree.bodies]),
            frames={name: _matrix(of[name]) for name in frames},
        )


def _centre(pose: Pose, m: float, h: v3.Vector) -> list[float]:
    """Return the centre of mass [m] of a body in the base frame; its origin without mass."""
    return [float(x) for x in (pose.point(v3.scale(1.0 / m, h)) if m else pose.p)]


def _matrix(pose: Pose) -> Array:
    """Return a pose as a matrix (4, 4)."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = np.array(pose.R, dtype=float), np.array(pose.p, dtype=float)
    return matrix
