"""What a motion promises: the standard deviations of parameters and torques that its recording will leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...drawing.numbers import percent, short
from ...drawing.parameter_table import parameter_table, relative
from ...drawing.table import Column, Table

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PredictedAccuracy:
    """Standard deviations to be expected of an identification from one recording of a motion, before anything has moved.

    `names`, `expressions` (b,) are the base parameters, `values` (b,) those of the description, `std` (b,) their standard deviations;
    `parameters_std` (p,) are those of every parameter of `parameter_names`, infinite where the recording does not show it by itself.
    `torque_std` (n,) [N m|N] is that of a predicted torque, root mean square over random states of the region, whose root mean square
    torque is `torque` (n,). `noise` (n,) [N m|N] is what was taken for the noise of a sample, `rate` [Hz] times `seconds` their number:
    white noise, an exact model. `assumed` says that nobody stated the noise.
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
        """std / |value| of each base parameter, (b,), a fraction; infinite where the description has zero."""
        return relative(self.std, self.values)

    @property
    def torque_relative_std(self) -> Array:
        """torque_std / torque of each joint, (n,), a fraction."""
        return relative(self.torque_std, self.torque)

    def table(self) -> Table:
        """The base parameters with the standard deviations to be expected."""
        kind = "an assumed" if self.assumed else "the stated"
        note = f"white noise of {kind} level, {self.rate:g} Hz for {self.seconds:g} s, exact model: a real log leaves more"
        return parameter_table("To be expected of one recording", self.names, self.values, self.std, self.expressions, note)

    def torque_table(self) -> Table:
        """The torques that the identified model will predict, with their standard deviations to be expected."""
        columns = (Column("joint", numeric=False), Column("noise"), Column("torque"), Column("σ"), Column("σ/torque", "%"))
        rows = zip(self.joint_names, self.noise, self.torque, self.torque_std, self.torque_relative_std, strict=True)
        cells = tuple((name, short(noise), short(tau), short(std), percent(share, 2)) for name, noise, tau, std, share in rows)
        note = "N m or N, root mean square over random states of the region"
        data = {"joint": self.joint_names, "noise": self.noise, "torque": self.torque, "std": self.torque_std}
        return Table("Torque of the identified model", columns, cells, note, data=data)

    def __str__(self) -> str:
        return f"{self.table().to_text()}\n\n{self.torque_table().to_text()}"
