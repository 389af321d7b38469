"""A threshold: a constant or a field of thresholds, and what is decided on either side of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from unittest.mock import patch

PACKAGE = "steelyard.identification"
LAYERS = ("experiments", "motion", "robot", "signals", "simulation")


@dataclass(frozen=True)
class Threshold:
    """A threshold by its `name`, and what `decide()` returns with its value.

    The name is module:constant below steelyard.identification, or module:field of its THRESHOLDS;
    modules of the other layers are named below steelyard.
    """

    name: str
    decide: Callable[[], Any]
    decided: Any = (False, True)

    @property
    def place(self) -> tuple[str, str]:
        module, _, constant = self.name.partition(":")
        package = "steelyard" if module.partition(".")[0] in LAYERS else PACKAGE
        return f"{package}.{module}", constant

    def now(self) -> Any:
        """What is decided now; an error counts as its own decision."""
        try:
            return self.decide()
        except (ArithmeticError, ValueError) as error:
            return type(error)

    @contextmanager
    def moved(self, factor: float) -> Iterator[None]:
        """The constant times a factor, wherever it was imported to; a whole number stays whole."""
        module, constant = self.place
        thresholds = getattr(import_module(module), "THRESHOLDS", None)
        if hasattr(thresholds, constant):
            value = times(getattr(thresholds, constant), factor)
            with patch.dict(vars(thresholds), {constant: value}):
                yield
            return
        value = getattr(import_module(module), constant)
        users = [
            m
            for name, m in list(sys.modules.items())
            if name.startswith(PACKAGE) and vars(m).get(constant) is value
        ]
        patches = [patch.object(user, constant, times(value, factor)) for user in users]
        for each in patches:
            each.start()
        try:
            yield
        finally:
            for each in patches:
                each.stop()


def times(value: Any, factor: float) -> Any:
    """A number, or numbers, times a factor."""
    if isinstance(value, tuple):
        return tuple(times(x, factor) for x in value)
    return int(value * factor) if isinstance(value, int) else value * factor


def sides(decide: Callable[[float], Any], threshold: float) -> Callable[[], tuple[Any, Any]]:
    """What is decided at 0.7 and at 1.4 times a value."""
    return lambda: (decide(0.7 * threshold), decide(1.4 * threshold))
