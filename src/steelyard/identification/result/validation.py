"""How well predicted torques meet measured ones, joint by joint and in all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Validation:
    """Predicted against measured torque (N, n) [N m|N], over the rows that `keep` marks.

    rms [N m|N], relative_error = |e| / |tau| and r2 = 1 - |e|^2 / |tau - mean|^2 are per joint (n,), as fractions; totals over all joints.
    `whiteness` (n,) is the correlation of neighbouring residuals: 0 for white noise, near 1 where the model lacks something slow.
    `before` is the same for the robot as it was given, `other` for another model that was named.
    """

    t: Array
    predicted: Array
    measured: Array
    keep: NDArray[np.bool_]
    joint_names: tuple[str, ...]
    before: Validation | None = None
    other: Validation | None = None

    @property
    def residuals(self) -> Array:
        """Measured less predicted, (N, n); zero in the rows that do not count."""
        return np.where(self.keep, self.measured - self.predicted, 0.0)

    @property
    def rms(self) -> Array:
        """Root mean square residual per joint, (n,) [N m|N]."""
        return np.sqrt(np.sum(self.residuals**2, axis=0) / np.maximum(self.keep.sum(axis=0), 1))

    @property
    def relative_error(self) -> Array:
        """|e_j| / |tau_j|, (n,); infinite where the torque is zero and the residual is not."""
        return ratio(np.linalg.norm(self.residuals, axis=0), np.linalg.norm(self.measured * self.keep, axis=0))

    @property
    def total_relative_error(self) -> float:
        """|e| / |tau| over all joints stacked."""
        return float(ratio(np.linalg.norm(self.residuals), np.linalg.norm(self.measured * self.keep)))

    @property
    def r2(self) -> Array:
        """Share of each joint's torque variance that is explained, (n,)."""
        count = np.maximum(self.keep.sum(axis=0), 1)
        mean = np.sum(self.measured * self.keep, axis=0) / count
        spread = np.linalg.norm((self.measured - mean) * self.keep, axis=0)
        return np.asarray(1.0 - ratio(np.linalg.norm(self.residuals, axis=0), spread) ** 2)

    @property
    def total_r2(self) -> float:
        """1 - |e|^2 / |tau - mean|^2 over all joints, means per joint."""
        count = np.maximum(self.keep.sum(axis=0), 1)
        mean = np.sum(self.measured * self.keep, axis=0) / count
        return float(1.0 - ratio(np.linalg.norm(self.residuals), np.linalg.norm((self.measured - mean) * self.keep)) ** 2)

    @property
    def whiteness(self) -> Array:
        """Correlation of each residual with the next one, (n,)."""
        e = self.residuals
        return np.asarray(np.sum(e[1:] * e[:-1], axis=0) / np.maximum(np.sum(e**2, axis=0), 1e-300))

    def __str__(self) -> str:
        wide = max(len("in all"), *(len(name) for name in self.joint_names))
        head = f"{'joint':<{wide}}  RMS [N m|N]  relative    R2   whiteness"
        lines = [head + ("   before" if self.before else "") + ("    other" if self.other else "")]
        for j, name in enumerate(self.joint_names):
            text = f"{name:<{wide}}  {self.rms[j]:11.4g}  {self.relative_error[j]:8.2%}  {self.r2[j]:6.3f}  {self.whiteness[j]:8.2f}"
            text += "".join(f"  {v.relative_error[j]:8.2%}" for v in (self.before, self.other) if v)
            lines.append(text)
        tail = f"{'in all':<{wide}}  {'':11}  {self.total_relative_error:8.2%}  {self.total_r2:6.3f}  {'':8}"
        return "\n".join([*lines, tail + "".join(f"  {v.total_relative_error:8.2%}" for v in (self.before, self.other) if v)])


def ratio(a: ArrayLike, b: ArrayLike) -> Array:
    """a / b with 0 / 0 = 0."""
    x, y = np.asarray(a, float), np.asarray(b, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x == 0, 0.0, x / y)
