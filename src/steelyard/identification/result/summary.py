"""A fit as a table for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .fit import Fit


def summary(fit: Fit) -> str:
    """Joints, then base parameters with two standard deviations, then what was not seen."""
    names = fit.base.names
    wide = max(len(name) for name in names)
    head = (
        f"{fit.robot.name}: {fit.estimator}, {len(fit.t)} samples, rank {fit.rank} of {fit.base.n_base} base parameters, "
        f"condition {fit.condition:.3g}"
    )
    lines = [head, "", str(fit.validation), "", f"{'base parameter':<{wide}}  {'value':>12}  {'± 2 sigma':>10}  {'relative':>8}  is"]
    rows = zip(names, fit.base_values, fit.base_standard_deviation, fit.base_relative_std, fit.base.expressions, strict=True)
    for name, value, std, rel, text in rows:
        lines.append(f"{name:<{wide}}  {value:12.6g}  {number(2 * std):>10}  {percent(rel):>8}  {text}")
    lines += [f"{name:<{wide}}  {value:12.6g}" for name, value in fit.extra.items() if name not in names]
    lines += ["", f"not shown by these samples: {', '.join(fit.unseen) or 'nothing'}"]
    return "\n".join([*lines, *fit.status])


def number(value: float) -> str:
    return "not seen" if math.isinf(value) else f"{value:.2g}"


def percent(value: float) -> str:
    return "-" if not math.isfinite(value) else f"{value:.1%}" if value < 10 else ">1000%"
