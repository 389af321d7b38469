"""Change: what became of a robot while it worked, in numbers and in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .hypotheses import Hypothesis

Array = NDArray[np.float64]
UNITS = {"m": "kg", "mcx": "kg m", "mcy": "kg m", "mcz": "kg m", "Fv": "N m s/rad", "Fc": "N m", "F0": "N m"}
SLIDING = {"Fv": "N s/m", "Fc": "N", "F0": "N"}


@dataclass(frozen=True, eq=False)
class Change:
    """A change of the robot: `kind` is "load", "friction" or "unexplained", `where` the link or the joint concerned.

    A change is unexplained if the best hypothesis needs friction above the joint's effort limit, or a load
    heavier than the moving links: neither is possible, so that something else changed.

    `begun` and `noticed` are times [s], or numbers of samples where the rate is not known (`unit` says which). `values` (d,) are the
    changes of the parameters called `names`, with `covariance` (d, d): mass [kg] and first moments [kg m] of a load about the link's
    origin, or viscous, Coulomb and constant friction. `torque` [N m|N] is the root mean square of what a joint's torque changed by, for
    the joint where it is largest in units of its noise. `joints` are those concerned.
    """

    kind: str
    where: str
    begun: float
    noticed: float
    unit: str
    names: tuple[str, ...]
    values: Array
    covariance: Array
    torque: float
    joints: tuple[str, ...]
    hypothesis: Hypothesis
    sliding: bool = False

    @property
    def std(self) -> Array:
        """Standard deviations (d,) of `values`."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def __str__(self) -> str:
        late = f"noticed {self.noticed - self.begun:.3g} {self.unit} later"
        when = f"At {self.begun:.6g} {self.unit}" if self.unit == "s" else f"At sample {self.begun:.0f}"
        return f"{when} {self._what()}; {late}."

    def _what(self) -> str:
        numbers = list(zip(self.names, self.values.tolist(), self.std.tolist(), strict=True))
        if self.kind == "unexplained":
            return (
                f"the torque of {', '.join(self.joints)} changed; no possible load or friction explains it: look for "
                "contact, a changed torque sensor or drive, or a blocked joint"
            )
        if self.kind == "load":
            mass, std = abs(numbers[0][1]), numbers[0][2]
            verb = "picked up" if self.values[0] > 0 else "put down"
            centre = ", ".join(f"{value / self.values[0]:.3f}" for value in self.values[1:])
            return f"{self.where} {verb} {mass:.3g} ± {std:.2g} kg, centre ({centre}) m, felt by {', '.join(self.joints)}"
        units = {**UNITS, **(SLIDING if self.sliding else {})}
        listed = ", ".join(f"{name} {value:+.3g} ± {std:.2g} {units[name]}" for name, value, std in numbers)
        return f"the friction of {self.where} changed by {self.torque:.3g} {units['Fc']} ({listed})"
