"""A robot on paper and on disk: URDF, TOML, C, closed form."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..mechanism.edit import tips
from .description import Described

if TYPE_CHECKING:
    from ..closed_form import Symbolic


class Files(Described):
    """What leaves the program."""

    def to_urdf(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write a URDF: the file it was loaded from with the numbers of this robot in it, all else untouched; or a new one."""
        from ..mechanism.formats.urdf.write_urdf import write_urdf

        write_urdf(self.mechanism, path, overwrite=overwrite)

    def to_toml(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write a TOML description that `load` reads back exactly."""
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
        """Write C99 for a controller, <name>.h and <name>.c in double or float, both or neither. Returns their paths.

        Kinematics are those of `frame`, the end-effector by default; a robot with several tips has none unless it is named. Functions of
        forces take a wrench at each of the frames named in `wrench`. See docs/c.md.
        """
        from ..c_export import module, write_c

        branched = frame is None and functions is None and len(tips(self.mechanism)) != 1  # then kinematics are left out
        at = None if branched else self._frame(frame)
        made = module(self.tree, self.name, at, real=real, functions=functions, fingerprint=self.fingerprint, wrench=wrench)
        return write_c(made, directory, overwrite)

    def symbolic(
        self, parameters: str = "symbolic", geometry: str | None = None, names: Mapping[str, str] | None = None, form: str | None = None
    ) -> Symbolic:
        """The closed form in SymPy: T, U, L, M, C, g, tau, Y with symbols ("symbolic", "all", "barycentric") or numbers ("numeric").

        For up to three joints as a textbook has it, for longer arms in named common terms. See docs/closed_form.md; Lagrangian lecture.
        """
        from ..closed_form import symbolic

        return symbolic(self.tree, self.name, parameters=parameters, geometry=geometry, names=names, form=form)
