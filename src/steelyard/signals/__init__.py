"""Logs of a robot's motion: read them, find and mend their faults, smooth them, filter them, write them."""

from __future__ import annotations

from steelyard.signals.clean import clean
from steelyard.signals.delay import Delay, estimate_delay
from steelyard.signals.examine import examine
from steelyard.signals.filters import butterworth, decimate, differences, lowpass
from steelyard.signals.kalman import Smoother
from steelyard.signals.log import Log
from steelyard.signals.mapping import Mapping, read_mapping
from steelyard.signals.noise import Noise
from steelyard.signals.read import read_log
from steelyard.signals.resample import advanced, resample
from steelyard.signals.smooth import Smoothed, smooth
from steelyard.signals.transmission import Transmission
from steelyard.signals.write import to_csv, to_npz, to_parquet

__all__ = [
    "Log", "read_log", "Mapping", "read_mapping", "Transmission", "to_csv", "to_npz", "to_parquet",
    "examine", "clean", "resample", "advanced",
    "smooth", "Smoothed", "Smoother", "Noise", "butterworth", "lowpass", "differences", "decimate", "estimate_delay", "Delay",
]  # fmt: skip
