"""Archive: what a fit from many logs was made of, log by log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.numbers import percent
from ...drawing.table import Column, Table
from .archive_problem import merge_tree
from .log_factor import LogFactor
from .out_of_core_thresholds import THRESHOLDS
from .sources import list_names

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Archive:
    """The logs of a fit: names, samples (L,), and errors |e| / |tau| as fractions.

    `joint_errors` (L, n) are by joint, `errors` (L,) of all joints. `left_out` are logs that could
    not be used, with the reason. `copies` have the content of another log and count once. `reused`
    is the number of stored factors that were used; `rejected` are logs whose stored factor was not
    used, with the reason. `not_stored` says why factors are not stored, '' where they are.
    """

    names: tuple[str, ...]
    samples: NDArray[np.intp]
    joint_errors: Array
    errors: Array
    joint_names: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    copies: tuple[str, ...] = ()
    reused: int = 0
    rejected: tuple[tuple[str, str], ...] = ()
    not_stored: str = ""

    @property
    def outliers(self) -> NDArray[np.bool_]:
        """Which logs fit much worse than the others, (L,)."""
        if len(self.names) < THRESHOLDS.least_logs_for_outliers:
            return np.zeros(len(self.names), bool)
        logs = np.log(np.maximum(self.errors, 1e-300))
        middle = float(np.median(logs))
        spread = 1.4826 * float(np.median(np.abs(logs - middle)))
        return np.asarray(
            (logs > middle + THRESHOLDS.outlier_deviations * spread)
            & (logs > middle + np.log(THRESHOLDS.outlier_ratio))
        )

    def notes(self) -> tuple[str, ...]:
        """Return sentences on the logs.

        How many there were, which were left out, and which are outliers.
        """
        count = f"{int(self.samples.sum())} samples of {len(self.names)} logs were folded"
        again = f", {self.reused} of them from stored factors" if self.reused else ""
        notes = [
            f"{count}{again}; residuals, curves and torque bands show a few stretches of them."
        ]
        if self.rejected:
            reasons = list_names([f"{name} ({why})" for name, why in self.rejected])
            notes.append(
                f"Stored factors of {len(self.rejected)} logs were not used, and these logs folded"
                f" again: {reasons}."
            )
        if self.not_stored:
            notes.append(f"Factors are neither read nor stored: {self.not_stored}.")
        if self.copies:
            notes.append(f"Copies of other logs count once: {list_names(self.copies)}.")
        if self.left_out:
            notes.append(
                f"Left out: {list_names([f'{name} ({why})' for name, why in self.left_out])}."
            )
        if self.outliers.any():
            odd = [
                f"{self.names[k]} ({percent(self.errors[k])} %)"
                for k in np.flatnonzero(self.outliers)
            ]
            usual = percent(float(np.median(self.errors)))
            notes.append(
                f"Logs that fit much worse than the others, whose error is {usual} %:"
                f" {list_names(odd)}."
            )
        return tuple(notes)

    def table(self, most: int | None = None) -> Table:
        """Return samples and errors [%] of every log, or of the `most` worst, the worst first.

        Examples
        --------
        >>> fit.archive.table().columns[0].name
        'log'
        """
        columns = (
            Column("log", numeric=False),
            Column("samples"),
            Column("error", "%"),
            *(Column(j, "%") for j in self.joint_names),
        )
        order = np.argsort(-self.errors, kind="stable")[:most]
        rows = [
            (
                self.names[k],
                str(self.samples[k]),
                percent(self.errors[k]),
                *map(percent, self.joint_errors[k]),
            )
            for k in order
        ]
        title = (
            "Logs"
            if len(order) == len(self.names)
            else f"The {len(order)} worst of {len(self.names)} logs"
        )
        return Table(title, columns, tuple(rows), "error: |τ − τ̂| / |τ| of the model of all logs.")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; errors are fractions.

        Examples
        --------
        >>> sorted(fit.archive.to_dict())
        ['copies', 'joints', 'left_out', 'logs', 'not_stored', 'rejected', 'reused']
        """
        each = zip(
            self.names,
            self.samples.tolist(),
            self.errors.tolist(),
            self.joint_errors.tolist(),
            self.outliers.tolist(),
            strict=True,
        )
        logs = [
            {"log": a, "samples": b, "error": c, "joint_errors": d, "outlier": e}
            for a, b, c, d, e in each
        ]
        left_out = [{"log": name, "reason": why} for name, why in self.left_out]
        rejected = [{"log": name, "reason": why} for name, why in self.rejected]
        data = {
            "logs": logs,
            "joints": list(self.joint_names),
            "left_out": left_out,
            "copies": list(self.copies),
            "reused": self.reused,
        }
        return data | {"rejected": rejected, "not_stored": self.not_stored}


def archive_of(
    factors: Sequence[LogFactor],
    base: Array,
    joint_names: tuple[str, ...],
    left_out: dict[str, str],
    copies: Sequence[str],
    not_stored: str = "",
) -> Archive:
    """Return the archive of base parameters (b,); errors follow from the factors."""
    wholes = [merge_tree(factor.parts) for factor in factors]
    residual = np.array([whole.residual_squares(base) for whole in wholes])
    torque = np.maximum(np.array([whole.torque_squares() for whole in wholes]), 1e-300)
    total = np.sqrt(residual.sum(axis=1) / torque.sum(axis=1))
    names, samples = (
        tuple(factor.name for factor in factors),
        np.array([factor.samples for factor in factors]),
    )
    reused = sum(factor.reused for factor in factors)
    return Archive(
        names=names,
        samples=samples,
        joint_errors=np.sqrt(residual / torque),
        errors=total,
        joint_names=joint_names,
        left_out=tuple(left_out.items()),
        copies=tuple(copies),
        reused=reused,
        rejected=tuple((factor.name, factor.rejected) for factor in factors if factor.rejected),
        not_stored=not_stored,
    )
