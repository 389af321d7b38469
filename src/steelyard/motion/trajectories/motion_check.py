"""The check of a motion: what was checked and what was not, as one line for outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...drawing.visible import visible_line


@dataclass(frozen=True, eq=False)
class MotionCheck:
    """The check of a motion for limits, self-collision and ground.

    Parameters
    ----------
    what : what was checked
    unchecked : what was not checked, or checked and not kept; empty for a motion that is checked
    distance : a lower bound of the smallest distance over the whole motion [m]; infinite where no
        distance was looked at
    narrowest : the links, or the link and the wall, of this distance
    remarks : sentences on what the check leaves out by design
    motion : the function of time that was checked; None for poses
    joint_names : the joints that were checked, in order; () where they have no names
    """

    what: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    distance: float = np.inf
    narrowest: str = ""
    remarks: str = ""
    motion: Callable[..., Any] | None = None
    joint_names: tuple[str, ...] = ()

    @property
    def checked(self) -> bool:
        """Whether everything was checked, and kept."""
        return not self.unchecked

    def holding(self, positions: Mapping[str, float]) -> MotionCheck:
        """Return the check with the joints that it takes to stand still, name -> [rad|m]."""
        places = ", ".join(f"{name} at {value:g}" for name, value in positions.items())
        return replace(self, what=(*self.what, f"held: {places}")) if places else self

    @property
    def line(self) -> str:
        """One line for the top of an output or a program."""
        if not self.checked:
            return visible_line(f"NOT CHECKED ({'; '.join(self.unchecked)})")
        parts = [*self.what]
        if np.isfinite(self.distance):
            parts.append(f"smallest distance {_millimetres(self.distance)}: {self.narrowest}")
        return visible_line(f"CHECKED ({'; '.join(parts)})")


NOTHING = MotionCheck(unchecked=("limits", "distances between links", "ground"))
"""The check of a motion that nobody checked."""


def _millimetres(distance: float) -> str:
    """Return a distance, rounded down to 0.1 mm: it is a bound from below."""
    return f"at least {np.floor(1e4 * distance + 1e-6) / 10:g} mm"
