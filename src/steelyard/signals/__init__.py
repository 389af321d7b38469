"""Logs of a robot's motion: read them, find and mend their faults (`clean`), estimate velocities (`smooth`), write them."""

from __future__ import annotations

from typing import Any

from ..documented import documented
from .archive.find_logs import find_logs
from .archive.log_file import LogFile
from .clean import Correction, Delay, Transmission, estimate_delay, find_faults
from .corrected_mapping import corrected_mapping
from .filters import decimate, differences, lowpass
from .log import Log
from .read.mapping import Mapping, read_mapping
from .read.read_log import read_log
from .resample import advanced
from .schema import LOG_FIELDS, Payload, rows
from .smooth import Noise, Smoothed, Smoother, butterworth
from .write import to_csv, to_npz, to_pandas, to_parquet, to_polars

__all__ = [
    "Log", "LogFile", "Payload", "find_logs", "read_log", "Mapping", "read_mapping", "corrected_mapping", "Correction", "Transmission",
    "to_csv", "to_npz", "to_pandas", "to_parquet", "to_polars",
    "find_faults", "Smoothed", "Smoother", "Noise", "butterworth", "lowpass", "differences", "decimate", "advanced",
    "estimate_delay", "Delay",
]  # fmt: skip

documented(Log, arguments={f"Log.{name}": row.described for name, row in rows(Log).items()} | LOG_FIELDS)
documented(read_log)
documented(LogFile)


def __getattr__(name: str) -> Any:
    if name == "examine":
        import warnings

        warnings.warn("steelyard.signals.examine is now find_faults", DeprecationWarning, stacklevel=2)
        return find_faults
    raise AttributeError(f"module 'steelyard.signals' has no attribute {name!r}; it has {', '.join(sorted(__all__))}")
