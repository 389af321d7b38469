"""Logs of a robot's motion.

Read them, detect and repair faults (`clean`), estimate velocities (`smooth`), write them.
"""

from __future__ import annotations

from .clean import Correction, Delay, Transmission, estimate_delay, find_faults
from .corrected_mapping import corrected_mapping
from .filters import decimate, differences, lowpass
from .log import Log
from .log_files.find_logs import find_logs
from .log_files.log_file import LogFile
from .read.mapping import Mapping, read_mapping
from .read.read_log import read_log
from .resample import without_delay
from .schema import Payload
from .smooth import Noise, Smoothed, Smoother, butterworth
from .write import to_csv, to_npz, to_pandas, to_parquet, to_polars

__all__ = [
    "Correction",
    "Delay",
    "Log",
    "LogFile",
    "Mapping",
    "Noise",
    "Payload",
    "Smoothed",
    "Smoother",
    "Transmission",
    "without_delay",
    "butterworth",
    "corrected_mapping",
    "decimate",
    "differences",
    "estimate_delay",
    "find_faults",
    "find_logs",
    "lowpass",
    "read_log",
    "read_mapping",
    "to_csv",
    "to_npz",
    "to_pandas",
    "to_parquet",
    "to_polars",
]
