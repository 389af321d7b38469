"""Joint terms of a coordinate that moves several joints: q_i = k_i q + o_i, so tau = sum of k_i tau_i."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .mechanism import Friction, Joint, Limits

Member = tuple[Joint, float]  # a joint and its multiplier


def folded_friction(group: Sequence[Member]) -> Friction:
    """Friction at the coordinate: Fv = sum k^2 Fv_i, Fc = sum |k| Fc_i, F0 = sum k F0_i. A term that no joint has stays absent.

    The shapes (width, Stribeck velocity) are those of the leading joint, which is the first.
    """
    weights = (lambda k: k * k, abs, lambda k: k, abs, abs)
    terms = [_total((joint.friction.terms[i], weight(k)) for joint, k in group) for i, weight in enumerate(weights)]
    leader = next(joint for joint, k in group if joint.mimic is None)
    return leader.friction.with_terms(terms)


def folded_armature(group: Sequence[Member]) -> float | None:
    """Rotor inertia at the coordinate [kg m2|kg]: Ia = sum k^2 Ia_i."""
    return _total((joint.armature, k * k) for joint, k in group)


def folded_limits(group: Iterable[tuple[Joint, float, float]]) -> Limits:
    """Limits of the coordinate under which every joint (joint, k, o) respects its own; the effort is that of the leading joint."""
    lower, upper, velocity, effort = Limits().lower, Limits().upper, Limits().velocity, Limits().effort
    for joint, k, o in group:
        ends = sorted(((joint.limits.lower - o) / k, (joint.limits.upper - o) / k))
        lower, upper = max(lower, ends[0]), min(upper, ends[1])
        velocity = min(velocity, joint.limits.velocity / abs(k))
        effort = joint.limits.effort if joint.mimic is None else effort
    return Limits(lower, upper, velocity, effort)


def _total(terms: Iterable[tuple[float | None, float]]) -> float | None:
    present = [value * weight for value, weight in terms if value is not None]
    return sum(present) if present else None
