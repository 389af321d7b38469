"""The controllers that the command line and the page offer, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


def _unchanged(kp: float, kd: float) -> tuple[float, float]:
    return kp, kd


def _slotine_li(kp: float, kd: float) -> tuple[float, float]:
    """Return the rate Lambda = kp / kd [1/s] and the gain kd."""
    return (kp / kd if kd else 0.0), kd


class ControllerRow(NamedTuple):
    """A controller: its class in steelyard.simulation, and its gains from kp and kd."""

    class_name: str
    gains: Callable[[float, float], tuple[float, float]] = _unchanged
    needs_gains: bool = False

    def make(self, reference: Any, kp: float, kd: float) -> Any:
        """Return the controller of a reference motion."""
        from .. import simulation

        return getattr(simulation, self.class_name)(reference, *self.gains(kp, kd))


CONTROLLERS = {
    "pd": ControllerRow("PD", needs_gains=True),
    "computed-torque": ControllerRow("ComputedTorque"),
    "feedforward": ControllerRow("FeedForward"),
    "slotine-li": ControllerRow("SlotineLi", _slotine_li, needs_gains=True),
}
