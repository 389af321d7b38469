"""Joint terms of a coordinate that moves several joints, such as a joint and its mimics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ModelError
from .joint_terms import BY_KEY, COUNTERPART, JOINT_TERMS, Terms


def folded(group: Sequence[tuple[Terms, float]], owner: str = "") -> Terms:
    """Return the terms of a coordinate that moves several joints, each k times as fast.

    value = sum of fold(k) value_i, with (terms, k) per joint. By virtual work the coordinate's
    torque is k times the torque of a joint that moves at k qd. Raises ModelError if the joints'
    shapes differ.
    """
    completed = [(_completed(values, group), k) for values, k in group]
    total: dict[str, Any] = {}
    for values, k in completed:
        other = {key: COUNTERPART[key] for key in COUNTERPART if k < 0 and _asymmetric(key, values)}
        total |= {key: total.get(key, 0.0) for key in other}
        for row in JOINT_TERMS:
            if row.key in values and row.linear:
                key = other.get(row.key, row.key)
                total[key] = total.get(key, 0.0) + row.fold(k) * values[row.key]
    return Terms.of({**total, **_folded_shapes(completed, owner)})


def _asymmetric(key: str, values: Terms) -> bool:
    """Return whether a joint has different values of a term for the two directions."""
    return any(BY_KEY[each].otherwise and each in values for each in (key, COUNTERPART[key]))


def _completed(values: Terms, group: Sequence[tuple[Terms, float]]) -> Terms:
    """Return a joint's terms, with terms of the group that it has under another name."""
    missing = {
        row.key: values[row.otherwise]
        for row in JOINT_TERMS
        if row.otherwise in values
        and row.key not in values
        and any(row.key in other for other, _ in group)
    }
    return values.changed(missing) if missing else values


def _folded_shapes(group: Sequence[tuple[Terms, float]], owner: str) -> dict[str, Any]:
    shapes: dict[str, Any] = {}
    for row in JOINT_TERMS:
        if row.linear:
            continue
        users = [
            (values, k)
            for values, k in group
            if row.key in values or any(row.key in BY_KEY[key].shapes for key in values)
        ]
        folded = [
            None if values.get(row.key) is None else row.fold(k) * values[row.key]
            for values, k in users
        ]
        if any(
            (x is None) != (folded[0] is None)
            or (x is not None and abs(x - folded[0]) > 1e-9 * abs(x))
            for x in folded
        ):
            raise ModelError(
                f"joints that move together with {owner!r} differ in the {row.meaning} ({row.key}):"
                " give them the same one"
            )
        if folded and folded[0] is not None:
            shapes[row.key] = folded[0]
    return shapes
