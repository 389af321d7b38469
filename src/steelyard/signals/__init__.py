"""Logs of a robot's motion: read them, find and mend their faults, smooth them, filter them, write them."""

from __future__ import annotations

from .clean.clean import clean
from .clean.delay import Delay, estimate_delay
from .clean.faults import examine
from .clean.resample import advanced, resample
from .clean.transmission import Transmission
from .log import Log
from .read.mapping import Mapping, read_mapping
from .read.read_log import read_log
from .smooth.filters import butterworth, decimate, differences, lowpass
from .smooth.kalman import Smoother
from .smooth.noise import Noise
from .smooth.smooth import Smoothed, smooth
from .write import to_csv, to_npz, to_parquet

__all__ = [
    "Log", "read_log", "Mapping", "read_mapping", "Transmission", "to_csv", "to_npz", "to_parquet",
    "examine", "clean", "resample", "advanced",
    "smooth", "Smoothed", "Smoother", "Noise", "butterworth", "lowpass", "differences", "decimate", "estimate_delay", "Delay",
]  # fmt: skip
