"""The terms of a joint as a mapping from name to value, the form in which files hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace

from ..model import Friction, Joint

FRICTION = tuple(field.name for field in fields(Friction))
TERMS = ("armature", *FRICTION)  # [kg m2|kg], then the units that `Friction` states
Terms = Mapping[str, float]


def joint_terms(joint: Joint) -> dict[str, float]:
    """The terms that a joint has; absent ones are left out, ones that are zero are not."""
    values = {"armature": joint.armature} | {name: getattr(joint.friction, name) for name in FRICTION}
    return {name: value for name, value in values.items() if value is not None}


def with_joint_terms(joint: Joint, terms: Terms) -> Joint:
    """The joint with these terms and no others."""
    return replace(joint, armature=terms.get("armature"), friction=Friction(**{name: terms.get(name) for name in FRICTION}))


def same_joint(wanted: Joint, found: Joint, tolerance: float) -> bool:
    """Whether a joint was read back: equal, with the rotation of its origin and the size of its terms within the tolerance."""
    pairs = zip(sum(wanted.origin.R, ()), sum(found.origin.R, ()), strict=True)
    turned = max(abs(a - b) for a, b in pairs)
    a, b = joint_terms(wanted), joint_terms(found)
    close = a.keys() == b.keys() and all(math.isclose(a[name], b[name], rel_tol=tolerance) for name in a)
    return turned <= tolerance and close and replace(with_joint_terms(found, a), origin=found.origin._replace(R=wanted.origin.R)) == wanted
