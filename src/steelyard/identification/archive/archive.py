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
from .sources import listed

Array = NDArray[np.float64]
FEWEST = 8  # logs from which one can stand out
APART = 6.0  # times the spread of the logarithm of the others' errors, and
TIMES = 1.5  # times their median, from which the error of a log stands out


@dataclass(frozen=True, eq=False)
class Archive:
    """The logs of a fit: names, samples (L,), errors |e_j| / |tau_j| of each joint (L, n) and in all (L,), as fractions.

    `left_out` are logs that could not be used, with the reason; `copies` are those with the content of another, which count once.
    `reused` of the factors were found beside the logs; `rejected` are logs whose kept factor was not used, with the reason. `not_kept`
    says why factors are not kept, '' where they are.
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
    not_kept: str = ""

    @property
    def stands_out(self) -> NDArray[np.bool_]:
        """Which logs fit much worse than the others, (L,)."""
        if len(self.names) < FEWEST:
            return np.zeros(len(self.names), bool)
        logs = np.log(np.maximum(self.errors, 1e-300))
        middle = float(np.median(logs))
        spread = 1.4826 * float(np.median(np.abs(logs - middle)))
        return np.asarray((logs > middle + APART * spread) & (logs > middle + np.log(TIMES)))

    def notes(self) -> tuple[str, ...]:
        """Return sentences on the logs: how many there were, which were left out, and which stand out."""
        count = f"{int(self.samples.sum())} samples of {len(self.names)} logs were folded"
        again = f", {self.reused} of which had their factor kept beside them" if self.reused else ""
        made = [f"{count}{again}; residuals, curves and bands of torque are those of a few stretches of them."]
        if self.rejected:
            reasons = listed([f"{name} ({why})" for name, why in self.rejected])
            made.append(f"Kept factors of {len(self.rejected)} logs were not used, and these logs folded again: {reasons}.")
        if self.not_kept:
            made.append(f"Factors are neither read nor kept: {self.not_kept}.")
        if self.copies:
            made.append(f"Copies of other logs count once: {listed(self.copies)}.")
        if self.left_out:
            made.append(f"Left out: {listed([f'{name} ({why})' for name, why in self.left_out])}.")
        if self.stands_out.any():
            odd = [f"{self.names[k]} ({percent(self.errors[k])} %)" for k in np.flatnonzero(self.stands_out)]
            usual = percent(float(np.median(self.errors)))
            made.append(f"Logs that fit much worse than the others, whose error is {usual} %: {listed(odd)}.")
        return tuple(made)

    def table(self, most: int | None = None) -> Table:
        """Return samples and errors [%] of every log, or of the `most` worst, the worst first.

        Example:
            >>> fit.archive.table().columns[0].name
            'log'
        """
        columns = (Column("log", numeric=False), Column("samples"), Column("error", "%"), *(Column(j, "%") for j in self.joint_names))
        order = np.argsort(-self.errors, kind="stable")[:most]
        rows = [(self.names[k], str(self.samples[k]), percent(self.errors[k]), *map(percent, self.joint_errors[k])) for k in order]
        title = "Logs" if len(order) == len(self.names) else f"The {len(order)} worst of {len(self.names)} logs"
        return Table(title, columns, tuple(rows), "error: |τ − τ̂| / |τ| of the model of all logs.")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; errors are fractions.

        Example:
            >>> sorted(fit.archive.to_dict())
            ['copies', 'joints', 'left_out', 'logs', 'not_kept', 'rejected', 'reused']
        """
        each = zip(
            self.names, self.samples.tolist(), self.errors.tolist(), self.joint_errors.tolist(), self.stands_out.tolist(), strict=True
        )
        logs = [{"log": a, "samples": b, "error": c, "joint_errors": d, "stands_out": e} for a, b, c, d, e in each]
        left_out = [{"log": name, "reason": why} for name, why in self.left_out]
        rejected = [{"log": name, "reason": why} for name, why in self.rejected]
        made = {"logs": logs, "joints": list(self.joint_names), "left_out": left_out, "copies": list(self.copies), "reused": self.reused}
        return made | {"rejected": rejected, "not_kept": self.not_kept}


def archive_of(
    factors: Sequence[LogFactor],
    base: Array,
    joint_names: tuple[str, ...],
    left_out: dict[str, str],
    copies: Sequence[str],
    not_kept: str = "",
) -> Archive:
    """Return the logs behind base parameters (b,) with their errors, which follow from their factors."""
    wholes = [merge_tree(factor.parts) for factor in factors]
    residual = np.array([whole.residual_squares(base) for whole in wholes])
    torque = np.maximum(np.array([whole.torque_squares() for whole in wholes]), 1e-300)
    total = np.sqrt(residual.sum(axis=1) / torque.sum(axis=1))
    names, samples = tuple(factor.name for factor in factors), np.array([factor.samples for factor in factors])
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
        not_kept=not_kept,
    )
