"""Curves of the learned residual: piecewise linear functions with a Gaussian-process prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .residual_thresholds import THRESHOLDS

Array = NDArray[np.float64]
PARTS = ("position", "direction", "speed", "load")


@dataclass(frozen=True, eq=False)
class Curve:
    """A piecewise linear function between values (m,) at even knots from `low` to `high`.

    It is constant beyond both ends.
    """

    low: float
    high: float
    values: Array

    def __call__(self, x: Array) -> Array:
        """Return the function at x (N,)."""
        return np.interp(x, np.linspace(self.low, self.high, len(self.values)), self.values)

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        return {"low": self.low, "high": self.high, "values": self.values.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Curve:
        """Return the curve that `to_dict` wrote."""
        return cls(float(data["low"]), float(data["high"]), np.array(data["values"], float))


@dataclass(frozen=True, eq=False)
class JointCurves:
    """The learned torque of one joint [N m|N], a sum of curves.

    tau = position(q) + speed(qd) + d (direction(q) + load(g)), with the gravity torque g of the
    joint and its direction of motion d = tanh(qd / width).

    Parameters
    ----------
    position : over q [rad|m]
    direction : over q [rad|m], times the direction of motion
    speed : over qd [rad/s|m/s]
    load : over the gravity torque [N m|N], times the direction of motion
    width : speed over which the direction of motion changes [rad/s|m/s]
    """

    position: Curve
    direction: Curve
    speed: Curve
    load: Curve
    width: float

    def torque(self, q: Array, qd: Array, load: Array) -> Array:
        """Return the learned torque (N,) [N m|N] at q, qd and gravity torque, each (N,)."""
        direction = np.tanh(qd / self.width)
        turning = self.direction(q) + self.load(load)
        return np.asarray(self.position(q) + self.speed(qd) + direction * turning)

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as plain data."""
        return {"width": self.width} | {name: getattr(self, name).to_dict() for name in PARTS}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> JointCurves:
        """Return the curves that `to_dict` wrote."""
        position, direction, speed, load = (Curve.from_dict(data[name]) for name in PARTS)
        return cls(position, direction, speed, load, width=float(data["width"]))


@dataclass(frozen=True)
class JointRanges:
    """The ranges of a joint's curves: q [rad|m], largest |qd| [rad/s|m/s], gravity torque [N m|N].

    `load` is (0, 0) for a joint whose gravity torque is constant: it has no curve over the load.
    """

    q: tuple[float, float]
    speed: float
    load: tuple[float, float]

    @property
    def width(self) -> float:
        """The speed over which the direction of motion changes [rad/s|m/s]."""
        return THRESHOLDS.direction_speed * self.speed

    def grids(self) -> tuple[tuple[float, float, int, float], ...]:
        """Return ends, knots and correlation length (a share of the range) of each curve."""
        position = (*self.q, THRESHOLDS.position_knots, THRESHOLDS.position_length)
        speed = (-self.speed, self.speed, THRESHOLDS.speed_knots, THRESHOLDS.speed_length)
        load = (*self.load, THRESHOLDS.load_knots, THRESHOLDS.load_length)
        return position, position, speed, load

    def features(self, q: Array, qd: Array, load: Array) -> Array:
        """Return columns (N, k) in which the learned torque is linear.

        Coefficients of equal variance are the prior: each curve is a Gaussian process with a
        squared exponential covariance, and all have an equal share of the variance. Rasmussen and
        Williams,
        "Gaussian Processes for Machine Learning", 2006, section 8.1 (processes with few basis
        functions).
        """
        direction, even, columns = np.tanh(qd / self.width), np.ones(1), []
        inputs = ((q, even), (q, direction), (qd, even), (load, direction))
        for (x, factor), (low, high, knots, length) in zip(inputs, self.grids(), strict=True):
            if high > low:
                basis = hats(x, low, high, knots) @ prior_root(knots, length)
                columns.append(basis * factor[:, None])
        return np.hstack(columns) / np.sqrt(len(columns))

    def curves(self, coefficients: Array) -> JointCurves:
        """Return the curves of the coefficients (k,) of `features`."""
        parts, first = list[Curve](), 0
        share = 1.0 / np.sqrt(sum(high > low for low, high, *_ in self.grids()))
        for low, high, knots, length in self.grids():
            if not high > low:
                parts.append(Curve(low, low + 1.0, np.zeros(2)))
                continue
            values = share * prior_root(knots, length) @ coefficients[first : first + knots]
            parts.append(Curve(low, high, values))
            first += knots
        position, direction, speed, load = parts
        return JointCurves(position, direction, speed, load, width=self.width)


def hats(x: Array, low: float, high: float, knots: int) -> Array:
    """Return the weights (N, knots) of values at even knots in a linear interpolation at x (N,)."""
    knot = np.clip((x - low) / (high - low), 0.0, 1.0) * (knots - 1)
    before = np.minimum(knot.astype(int), knots - 2)
    weights = np.zeros((len(x), knots))
    rows = np.arange(len(x))
    weights[rows, before] = 1.0 - (knot - before)
    weights[rows, before + 1] = knot - before
    return weights


def prior_root(knots: int, length: float) -> Array:
    """Return a factor L (knots, knots) of the prior covariance L L^T of a curve at its knots.

    exp(-(x - x')^2 / (2 length^2)) over the unit interval, `length` a share of it.
    """
    x = np.linspace(0.0, 1.0, knots)
    covariance = np.exp(-0.5 * ((x[:, None] - x) / length) ** 2)
    return np.asarray(np.linalg.cholesky(covariance + THRESHOLDS.knot_variance * np.eye(knots)))
