"""A picture of a motion."""

from __future__ import annotations

from ...drawing.figure import Axis, Curve, Figure, Panel
from ...drawing.svg_renderer import to_svg
from ...files import Content
from .sampled_motion import SampledMotion


def svg(motion: SampledMotion, name: str) -> Content:
    """Return the positions of all joints over time [s], one strip each [rad|m]."""
    unit = Axis(title="rad or m" if motion.sliding else "rad")
    panels = [(Panel(marks=(Curve(x=motion.t, y=motion.q[:, i]),), y=unit, title=label),) for i, label in enumerate(motion.labels)]
    title = f"{name}: {motion.n} joints, {motion.duration:g} s"
    return to_svg(Figure(name="motion", rows=tuple(panels), title=title))
