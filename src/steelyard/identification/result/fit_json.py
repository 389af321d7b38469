"""Where a fit came from, and the fit as JSON."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...files import write_whole
from ...signals.log import Log
from ...version import __version__

if TYPE_CHECKING:
    from .fit import Fit


def provenance(fit: Fit, log: Log | Sequence[Log]) -> dict[str, Any]:
    """Versions, digests of robot and logs, and the options: enough to say whether two fits are of the same thing."""
    logs = [log] if isinstance(log, Log) else list(log)
    return {
        "steelyard": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "robot": {"name": fit.initial.name, "fingerprint": fit.initial.fingerprint},
        "logs": [{"source": one.source, "samples": one.N, "sha256": digest(one)} for one in logs],
    }


def digest(log: Log) -> str:
    """SHA-256 of a log's numbers."""
    h = hashlib.sha256()
    for name in ("t", *log.signals):
        h.update(name.encode())
        h.update(np.ascontiguousarray(getattr(log, name)).tobytes())
    return h.hexdigest()


def as_dict(fit: Fit) -> dict[str, Any]:
    """The fit as plain data: parameters with uncertainty, errors per joint, what was seen, provenance."""
    prepared = fit.preparation
    rows = zip(fit.parameter_names, fit.parameters, fit.standard_deviation, strict=True)
    base = zip(fit.base.names, fit.base.expressions, fit.base_values, fit.base_standard_deviation, strict=True)
    joints = zip(fit.robot.joint_names, fit.rms, fit.relative_error, fit.r2, fit.delay, fit.model.widths, strict=True)
    return {
        "robot": fit.robot.name,
        "estimator": fit.estimator,
        "parameters": [{"name": n, "value": v, "standard_deviation": s} for n, v, s in rows],
        "base_parameters": [{"name": n, "expression": e, "value": v, "standard_deviation": s} for n, e, v, s in base],
        "base_covariance": fit.base_covariance,
        "joints": [dict(zip(("name", "rms", "relative_error", "r2", "delay", "coulomb_width"), row, strict=True)) for row in joints],
        "drive_gains": fit.drive_gains,
        "total_relative_error": fit.total_relative_error,
        "before": None if fit.before is None else fit.before.total_relative_error,
        "samples": len(fit.t),
        "rank": fit.rank,
        "singular_values": fit.singular_values,
        "condition": fit.condition,
        "unseen": fit.unseen,
        "status": fit.status,
        "check": fit.check(),
        "options": {**fit.options, "smoothing": prepared.smoothing, "cutoff": prepared.cutoff, "mask": dict(prepared.mask)},
        "details": fit.details,
        "provenance": fit.provenance,
    }


def write_json(fit: Fit, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write the fit as JSON; over an existing file only with `overwrite`."""
    text = json.dumps(plain(as_dict(fit)), indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(path, text + "\n", overwrite)


def plain(value: Any) -> Any:
    """Numbers, strings, lists and dictionaries only; what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (bool, str, int)) or value is None:
        return value
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return str(value)
