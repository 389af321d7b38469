"""The expected accuracy of a motion: standard deviations of parameters and torques."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...drawing.numbers import percent, short
from ...drawing.parameter_table import parameter_table, relative_std
from ...drawing.table import Column, Table

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PredictedAccuracy:
    """Expected standard deviations of an identification from one recording of a motion.

    `names`, `expressions` (b,) are the base parameters, `values` (b,) their values in the
    description, `std` (b,) the standard deviations. `parameters_std` (p,) belongs to
    `parameter_names`; infinite where the recording does not identify a parameter by itself.
    `torque_std` (n,) [N m|N] is the RMS standard deviation of predicted torques over random states
    of the region, whose RMS torque is `torque` (n,). `noise` (n,) [N m|N] is the assumed noise of a
    sample, white, with an exact model; `rate` [Hz] times `seconds` is their number. `assumed` is
    True if nobody stated the noise.
    """

    names: tuple[str, ...]
    expressions: tuple[str, ...]
    values: Array
    std: Array
    parameter_names: tuple[str, ...]
    parameters_std: Array
    joint_names: tuple[str, ...]
    torque: Array
    torque_std: Array
    noise: Array
    rate: float
    seconds: float
    assumed: bool = False

    @property
    def relative_std(self) -> Array:
        """std / |value| of each base parameter, (b,), a fraction.

        Infinite where the description has zero.
        """
        return relative_std(self.std, self.values)

    @property
    def torque_relative_std(self) -> Array:
        """torque_std / torque of each joint, (n,), a fraction."""
        return relative_std(self.torque_std, self.torque)

    def table(self) -> Table:
        """Return the base parameters with their expected standard deviations as a table."""
        kind = "an assumed" if self.assumed else "the stated"
        note = (
            f"white noise of {kind} level, {self.rate:g} Hz for {self.seconds:g} s, exact model: a"
            " real log leaves more"
        )
        return parameter_table(
            "To be expected of one recording",
            self.names,
            self.values,
            self.std,
            self.expressions,
            note,
        )

    def torque_table(self) -> Table:
        """Return the predicted torques with their expected standard deviations as a table."""
        columns = (
            Column("joint", numeric=False),
            Column("noise"),
            Column("torque"),
            Column("σ"),
            Column("σ/torque", "%"),
        )
        rows = zip(
            self.joint_names,
            self.noise,
            self.torque,
            self.torque_std,
            self.torque_relative_std,
            strict=True,
        )
        cells = tuple(
            (name, short(noise), short(tau), short(std), percent(share, 2))
            for name, noise, tau, std, share in rows
        )
        note = "N m or N, root mean square over random states of the region"
        data = {
            "joint": self.joint_names,
            "noise": self.noise,
            "torque": self.torque,
            "std": self.torque_std,
        }
        return Table("Torque of the identified model", columns, cells, note, data=data)

    def __str__(self) -> str:
        return f"{self.table().to_text()}\n\n{self.torque_table().to_text()}"
