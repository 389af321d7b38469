"""Elasticity: stiffness and damping of joints, as an identification found them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.numbers import with_uncertainty
from ...drawing.table import Column, Table

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Elasticity:
    """Stiffness [N m/rad|N/m] and damping [N m s/rad|N s/m] of joints, with deviations, (k,).

    Stiffness is infinite where the deflection does not follow the torque. `shift` (k,) [s] is the
    coefficient of the velocity, from clocks of two encoders or friction behind the spring.
    `lost_motion` (k,) [rad|m] is the coefficient of its sign, and `rms` (k,) [rad|m] the residual
    deflection.
    """

    joint_names: tuple[str, ...]
    stiffness: Array
    stiffness_std: Array
    damping: Array
    damping_std: Array
    shift: Array
    lost_motion: Array
    rms: Array
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """Return stiffness and damping with two standard deviations, joint by joint."""
        columns = (
            Column("joint", numeric=False),
            Column("stiffness", "N m/rad|N/m"),
            Column("± 2σ"),
            Column("damping", "N m s/rad|N s/m"),
        )
        rows = []
        for k, name in enumerate(self.joint_names):
            stiff, damped = (
                (self.stiffness[k], self.stiffness_std[k]),
                (self.damping[k], self.damping_std[k]),
            )
            cells = [
                with_uncertainty(float(x), 2 * float(s)) if np.isfinite(x) else ("–", "–")
                for x, s in (stiff, damped)
            ]
            rows.append((name, *cells[0], *cells[1]))
        return Table("Elastic joints", (*columns, Column("± 2σ")), tuple(rows))

    def to_dict(self) -> list[dict[str, Any]]:
        """Return one row of plain data per joint."""
        fields = (
            "stiffness",
            "stiffness_std",
            "damping",
            "damping_std",
            "shift",
            "lost_motion",
            "rms",
        )
        return [
            {"joint": name} | {f: float(getattr(self, f)[k]) for f in fields}
            for k, name in enumerate(self.joint_names)
        ]
