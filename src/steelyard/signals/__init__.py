"""Logs of a robot's motion: read them, find and mend their faults, smooth them, filter them, write them."""

from __future__ import annotations

from .clean import clean
from .delay import Delay, estimate_delay
from .examine import examine
from .filters import butterworth, decimate, differences, lowpass
from .kalman import Smoother
from .log import Log
from .mapping import Mapping, read_mapping
from .noise import Noise
from .read import read_log
from .resample import advanced, resample
from .smooth import Smoothed, smooth
from .transmission import Transmission
from .write import to_csv, to_npz, to_parquet

__all__ = [
    "Log", "read_log", "Mapping", "read_mapping", "Transmission", "to_csv", "to_npz", "to_parquet",
    "examine", "clean", "resample", "advanced",
    "smooth", "Smoothed", "Smoother", "Noise", "butterworth", "lowpass", "differences", "decimate", "estimate_delay", "Delay",
]  # fmt: skip
