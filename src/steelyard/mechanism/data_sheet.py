"""Published facts about a robot beside its dynamics: sources, estimates, ratings of its joints."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JointRatings:
    """Ratings of a joint that its controller or maker states, beside its limits.

    Parameters
    ----------
    joint : name of the joint.
    acceleration : largest acceleration [rad/s2|m/s2].
    jerk : largest jerk [rad/s3|m/s3].
    effort_rate : largest rate of the torque [N m/s|N/s].
    torque_constant : joint torque per motor current [N m/A|N/A], NaN where it is not published.
    """

    joint: str
    acceleration: float = math.inf
    jerk: float = math.inf
    effort_rate: float = math.inf
    torque_constant: float = math.nan


@dataclass(frozen=True, slots=True)
class DataSheet:
    """Where the numbers of a description come from, and ratings of its joints.

    Parameters
    ----------
    description : what the robot is.
    source : citation of the publications that the numbers are from.
    estimated : which numbers are estimates or were corrected, and how; empty for none.
    ratings : ratings of the joints that have any.
    """

    description: str = ""
    source: str = ""
    estimated: str = ""
    ratings: tuple[JointRatings, ...] = ()

    def torque_constants(self, joint_names: tuple[str, ...]) -> tuple[float, ...] | None:
        """Return the torque constants [N m/A|N/A] of joints; None unless all are known."""
        known = {each.joint: each.torque_constant for each in self.ratings}
        values = tuple(known.get(name, math.nan) for name in joint_names)
        return None if not values or any(map(math.isnan, values)) else values
