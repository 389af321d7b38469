"""A picture of a motion."""

from __future__ import annotations

from ...drawing.svg import strips
from ...files import Content
from .sampled_motion import SampledMotion


def svg(motion: SampledMotion, name: str) -> Content:
    """The positions of all joints over time [s], one strip each [rad|m]."""
    signals = [(label, motion.q[:, i]) for i, label in enumerate(motion.labels)]
    return strips(f"{name}: {motion.n} joints, {motion.duration:g} s", motion.t, signals, "rad or m" if motion.sliding else "rad")
