"""Fleet: the model of a robot type, the deviation of each robot from it, and outliers."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...drawing.numbers import percent, short
from ...drawing.table import Column, Table
from ...errors import CallError, suggest
from ...files import write_atomic
from ...floating_point import default_errstate_methods
from ...identification.estimators.least_squares import Estimate
from ...identification.make_fit import to_physical
from ...identification.model.accumulator import Accumulator, on_one_core
from ...identification.out_of_core.archive_problem import ArchiveProblem
from ...identification.result.fit import Fit
from ...identification.result.provenance import plain
from ...robot import Robot
from .outliers import Deviation
from .partial_pooling import Bools, Pooled

Array = NDArray[np.float64]


@default_errstate_methods
@dataclass(frozen=True, eq=False, repr=False)
class Fleet:
    """Robots of one type, identified together.

    `type` is the fit of all logs, `names` (R) are the robots. `pooled` has the base parameters of
    the type and the deviation of each robot with its standard deviation. `outliers` are parts of
    robots that deviate more than on other robots, the least likely first. `factors` are the factors
    of each robot's logs, `samples` (R,) their number of samples, `weights` (n,) [1/(N m)|1/N] the
    weights of the joints.

    Examples
    --------
    >>> arm = sy.load("planar_2r").with_friction(viscous=1.0, coulomb=1.0)
    >>> motion = sy.excite(arm, seconds=4, starts=1)
    >>> logs = {f"arm{k}": sy.record(sy.perturbed(arm, k), motion, rate=100) for k in range(4)}
    >>> fleet = sy.identify_fleet(arm, logs, diagnose=False)
    >>> len(fleet.names), fleet.robot("arm2").n
    (4, 2)
    """

    type: Fit
    names: tuple[str, ...]
    pooled: Pooled
    outliers: tuple[Deviation, ...]
    free: Bools
    factors: tuple[Accumulator, ...]
    samples: NDArray[np.intp]
    weights: Array

    def __repr__(self) -> str:
        return (
            f"Fleet({len(self.names)} x {self.type.robot.name!r}, {int(self.samples.sum())}"
            f" samples, {len(self.outliers)} outliers)"
        )

    @property
    def base_values(self) -> Array:
        """The base parameters (R, b) of each robot [kg, kg m, kg m2, N m, ...]."""
        return self.pooled.values

    @property
    def base_std(self) -> Array:
        """Standard deviation (R, b) of each robot's base parameters [kg, kg m, kg m2, N m, ...].

        It includes the standard deviation of the type's parameters.
        """
        return self.pooled.values_std

    def number(self, name: str) -> int:
        """Return which robot has this name; CallError with the names if none has.

        Parameters
        ----------
        name : of a robot.

        Returns
        -------
        A `int`.

        Examples
        --------
        >>> fleet.number("arm2")
        2
        """
        if name not in self.names:
            raise CallError(
                f"no robot of the fleet is called {name!r}; {suggest(str(name), self.names)}"
            )
        return self.names.index(name)

    @on_one_core
    def robot(self, name: str) -> Robot:
        """Return the model of one robot.

        The type with the robot's deviation; every link is physically consistent.

        Parameters
        ----------
        name : of a robot.

        Returns
        -------
        A `Robot`.

        Examples
        --------
        >>> fleet.robot("arm2").joint_names
        ('joint1', 'joint2')
        """
        number, model = self.number(name), self.type.model
        problem = ArchiveProblem(model, (), cells=(self.factors[number],), ends=(1,))
        estimate = to_physical(problem, Estimate(self.base_values[number], self.weights))
        assert estimate.parameters is not None
        return model.identified(estimate.parameters)

    @cached_property
    def errors(self) -> Array:
        """|e| / |tau| over each robot's own logs, with its own model, (R,), a fraction."""
        pairs = zip(self.factors, self.base_values, strict=True)
        return np.array(
            [
                np.sqrt(f.residual_squares(base).sum() / max(f.torque_squares().sum(), 1e-300))
                for f, base in pairs
            ]
        )

    @cached_property
    def type_errors(self) -> Array:
        """|e| / |tau| over each robot's own logs, with the model of the type, (R,), a fraction."""
        center = self.pooled.center
        return np.array(
            [
                np.sqrt(f.residual_squares(center).sum() / max(f.torque_squares().sum(), 1e-300))
                for f in self.factors
            ]
        )

    def table(self) -> Table:
        """Return samples, errors and outlying parts of every robot.

        Errors are given with the robot's own model and with the model of the type.

        Returns
        -------
        A table with names and units of its columns; `to_pandas()` and `to_polars()` make data
        frames.

        Examples
        --------
        >>> len(fleet.table().rows)
        4
        """
        columns = (
            Column("robot", numeric=False),
            Column("samples"),
            Column("error", "%"),
            Column("of the type", "%"),
        )
        parts = {name: [d.part for d in self.outliers if d.robot == name] for name in self.names}
        order = sorted(
            range(len(self.names)), key=lambda k: (-len(parts[self.names[k]]), -self.type_errors[k])
        )
        rows = tuple(
            (
                self.names[k],
                str(self.samples[k]),
                percent(self.errors[k]),
                percent(self.type_errors[k]),
                ", ".join(parts[self.names[k]]),
            )
            for k in order
        )
        note = "error: |τ − τ̂| / |τ| with the robot's own model, and with the model of the type."
        return Table("Robots", (*columns, Column("outliers", numeric=False)), rows, note)

    def deviation_table(self) -> Table:
        """Return the outliers as a table.

        Robot, part, parameter, its value and the value of the type, and how unlikely it is.

        Returns
        -------
        A table with names and units of its columns; `to_pandas()` and `to_polars()` make data
        frames.

        Examples
        --------
        >>> fleet.deviation_table().columns[0].name
        'robot'
        """
        words = ("robot", "part", "parameter")
        columns = (
            *(Column(word, numeric=False) for word in words),
            Column("value"),
            Column("σ"),
            Column("of the type"),
            Column("score"),
            Column("probability"),
        )
        rows = tuple(
            (
                d.robot,
                d.part,
                d.parameter,
                short(d.value),
                short(d.std),
                short(d.usual),
                short(d.score),
                f"{d.probability:.0e}",
                d.unit,
            )
            for d in self.outliers
        )
        note = (
            "σ: of the difference to the type; score: the difference in standard deviations of the"
            " fleet; probability: of such a difference at a usual robot."
        )
        return Table("Outliers", (*columns, Column("unit", numeric=False)), rows, note)

    def summary(self) -> str:
        """Return the outliers in sentences, and both tables.

        Returns
        -------
        Text.

        Examples
        --------
        >>> "Robots" in fleet.summary()
        True
        """
        lines = [d.sentence for d in self.outliers] or ["No robot is an outlier."]
        tables = [self.deviation_table().to_text()] if self.outliers else []
        return "\n".join(
            [repr(self), "", *lines, "", *tables, "", self.table().to_text(), "", *self.type.status]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the samples as plain data.

        Values are in the units of the parameters, errors are fractions.

        Returns
        -------
        A dictionary of plain data.

        Examples
        --------
        >>> sorted(fleet.to_dict())
        ['base_parameters', 'outliers', 'robots', 'type']
        """
        pooled, base = self.pooled, self.type.base
        units = [self.type.robot.parameter_units[column] for column in base.columns]
        each = zip(base.names, base.expressions, units, pooled.center, pooled.spread, strict=True)
        parameters = [
            {"name": a, "expression": b, "unit": c, "type": d, "spread": e}
            for a, b, c, d, e in each
        ]
        robots = [
            {
                "name": name,
                "samples": self.samples[k],
                "error": self.errors[k],
                "type_error": self.type_errors[k],
                "values": values,
                "std": std,
            }
            for k, (name, values, std) in enumerate(
                zip(self.names, self.base_values, self.base_std, strict=True)
            )
        ]
        out = [vars(d) | {"sentence": d.sentence} for d in self.outliers]
        data: dict[str, Any] = plain(
            {
                "type": self.type.to_dict(),
                "base_parameters": parameters,
                "robots": robots,
                "outliers": out,
            }
        )
        return data

    def to_json(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write `to_dict()` as JSON, atomically.

        An existing file is replaced only with `overwrite`.

        Parameters
        ----------
        path : file to write; its ending selects the format where there are several.
        overwrite : whether an existing file may be replaced.

        Returns
        -------
        Nothing.

        Examples
        --------
        >>> fleet.to_json("fleet.json")
        """
        write_atomic(
            path,
            (
                json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
            ).encode(),
            overwrite,
        )
