"""Export of a robot: URDF, TOML, C, closed form."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import SteelyardWarning
from ..mechanism import edit
from .description import Array
from .loops.constrained_dynamics import ConstrainedDynamicsMethods

if TYPE_CHECKING:
    from ..closed_form import Symbolic
    from ..mechanism.formats.urdf.write_urdf import ExtensionTerm


class ExportMethods(ConstrainedDynamicsMethods):
    """Methods that write files and closed forms."""

    def to_urdf(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write a URDF: the original file with this robot's numbers, or a new one.

        Everything else in the original file stays as it is.

        Parameters
        ----------
        path : file to write; its ending selects the format where there are several.
        overwrite : whether an existing file may be replaced.

        Returns
        -------
        Nothing.

        Examples
        --------
        >>> sy.load("planar_2r").to_urdf("arm.urdf")
        >>> sy.load("arm.urdf").joint_names
        ('joint1', 'joint2')
        """
        from ..mechanism.formats.urdf.write_urdf import write_urdf

        unread = write_urdf(self.mechanism, path, overwrite=overwrite)
        if unread:
            warnings.warn(self._missed_by_others(unread), SteelyardWarning, stacklevel=2)

    def _missed_by_others(self, unread: Sequence[ExtensionTerm]) -> str:
        """Return a sentence about joint terms that other programs ignore, with their torque."""
        plain = type(self)(
            edit.without_terms(self.mechanism, {(each.joint, each.term) for each in unread})
        )
        ours, theirs = (
            robot._call("inverse_dynamics", self._motions(), None, None) for robot in (self, plain)
        )
        missed = np.abs(ours - theirs).max(axis=0)
        worst = int(np.argmax(missed))
        owners = {each.term: [e.joint for e in unread if e.term == each.term] for each in unread}
        everywhere = [joint.name for joint in self.mechanism.joints if joint.kind != "fixed"]
        terms = "; ".join(
            f"{key} of {'all joints' if names == everywhere else ', '.join(names)}"
            for key, names in owners.items()
        )
        size = (
            f"{missed[worst]:.3g} {'N' if self._slides(worst) else 'N m'} at"
            f" {self.joint_names[worst]}"
        )
        return (
            f"URDF has no element for {terms}: only steelyard reads it from this file; the "
            f"torques of other programs differ by up to {size}"
        )

    def _motions(self, samples: int = 64) -> tuple[Array, Array, Array]:
        """Return random q, qd, qdd (samples, n) within the limits.

        Without limits, at most half a turn and 1 rad/s.
        """
        rng = np.random.default_rng(0)
        lower = np.array([max(limits.lower, -np.pi) for limits in self.tree.limits])
        upper = np.array([min(limits.upper, np.pi) for limits in self.tree.limits])
        speed = np.array(
            [
                limits.velocity if np.isfinite(limits.velocity) else 1.0
                for limits in self.tree.limits
            ]
        )
        q, qd, qdd = rng.uniform(-1.0, 1.0, (3, samples, self.n))
        return lower + (upper - lower) * (q + 1.0) / 2.0, speed * qd, speed * qdd

    def _slides(self, coordinate: int) -> bool:
        return next(
            body.kind == "prismatic" for body in self.tree.bodies if body.coordinate == coordinate
        )

    def to_toml(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write a TOML description that `load` reads back exactly.

        Parameters
        ----------
        path : file to write; its ending selects the format where there are several.
        overwrite : whether an existing file may be replaced.

        Returns
        -------
        Nothing.

        Examples
        --------
        >>> robot = sy.load("planar_2r")
        >>> robot.to_toml("arm.toml")
        >>> sy.load("arm.toml") == robot
        True
        """
        from ..mechanism.formats.toml.write_toml import write_toml

        write_toml(self.mechanism, path, overwrite=overwrite)

    def to_c(
        self,
        directory: str | os.PathLike[str],
        real: str = "double",
        functions: Sequence[str] | None = None,
        frame: str | None = None,
        overwrite: bool = False,
        wrench: Sequence[str] = (),
    ) -> tuple[Path, Path]:
        """Write C99 for a controller, <name>.h and <name>.c in double or float, both or neither.

        Returns their paths.

        Kinematics are for `frame`, the end-effector by default; a robot with several tips has
        none unless it is named. Functions of forces take a wrench at each of the frames named in
        `wrench`. See docs/c.md.

        Parameters
        ----------
        directory : folder for the two files.
        real : "double" or "float".
        functions : names of functions; all by default.
        frame : name of a frame, one of `frame_names`; the end-effector by default.
        overwrite : whether existing files may be replaced.
        wrench : names of frames with a wrench (6,) [N, N m].

        Returns
        -------
        Paths of the header and the source.

        Examples
        --------
        >>> [path.name for path in sy.load("planar_2r").to_c("generated")]
        ['planar_2r.h', 'planar_2r.c']
        """
        from ..c_export import FRAMED, module, write_c

        framed = functions is None or any(name in FRAMED for name in functions)
        # then kinematics are left out
        open_ended = functions is None and len(edit.tips(self.mechanism)) != 1
        frame_name = (
            self._frame(frame) if frame is not None or (framed and not open_ended) else None
        )
        tree = self.closed_tree if self.tree.loops else self.tree
        c_module = module(
            tree,
            self.name,
            frame_name,
            real=real,
            functions=functions,
            fingerprint=self.fingerprint,
            wrench=wrench,
        )
        return write_c(c_module, directory, overwrite)

    def symbolic(
        self,
        parameters: str = "symbolic",
        geometry: str | None = None,
        names: Mapping[str, str] | None = None,
        form: str | None = None,
    ) -> Symbolic:
        """Return the closed form in SymPy: T, U, L, M, C, g, tau, Y.

        With symbols ("symbolic", "all", "barycentric") or numbers ("numeric"). Up to three joints
        in textbook form, longer arms in named common terms. See docs/closed_form.md; Lagrangian
        lecture.

        Parameters
        ----------
        parameters : "symbolic", "all", "barycentric" or "numeric".
        geometry : "symbolic" or "numeric" lengths [m].
        names : symbol -> other symbol.
        form : "textbook" or "common terms".

        Returns
        -------
        A `Symbolic`: expressions in the units of the robot.

        Examples
        --------
        >>> sy.load("planar_2r").symbolic().M[1, 1]
        I_zz2
        """
        from ..closed_form import symbolic

        return symbolic(
            self.tree, self.name, parameters=parameters, geometry=geometry, names=names, form=form
        )
