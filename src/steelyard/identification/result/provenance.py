"""Provenance: what a fit was made from and with, and results as plain data."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ...content_digest import content_digest
from ...robot import Robot
from ...signals.log import Log
from ...version import __version__


def provenance(robot: Robot, logs: Sequence[Log]) -> dict[str, Any]:
    """Return versions and digests of robot and logs.

    Two fits with equal provenance and options are equal.
    """
    return versions(robot) | {
        "logs": [{"source": one.source, "samples": one.N, "sha256": digest(one)} for one in logs]
    }


def versions(robot: Robot) -> dict[str, Any]:
    """Return the versions of what computes, and the fingerprint of the robot."""
    return {
        "steelyard": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "robot": {"name": robot.name, "fingerprint": robot.fingerprint},
    }


def digest(log: Log) -> str:
    """Return the SHA-256 of a log.

    Of all its fields but those with `compare=False`, where it comes from and remarks.
    """
    return content_digest(
        {f.name: getattr(log, f.name) for f in fields(log) if f.compare}, hashlib.sha256
    )


def plain(value: Any) -> Any:
    """Return numbers, strings, lists and dictionaries only.

    Numbers that are not finite become None.
    """
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if isinstance(value, (bool, str, int)) or value is None else str(value)


def table_rows(**columns: Iterable[Any]) -> list[dict[str, Any]]:
    """Return a table, given by its columns, as one dictionary for each row."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
