"""The meaning of column names: signal, joint and unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..log import Log
from ..schema import rows
from ..units import ENDINGS, is_unit, spelled

SCHEMA = rows(Log)
QUANTITIES = (*SCHEMA, "effort")
"""What a column may hold. An effort is a torque or a current, as the mapping states."""

EXACT = frozenset(row.name for row in SCHEMA.values() if not row.components and row.name != "t")
"""Signals with a column per joint, by the names under which steelyard writes them."""

MEANING = {word: row.name for row in SCHEMA.values() if not row.beside for word in row.words} | {
    "effort": "effort",
    "efforts": "effort",
}
COMMANDS = {*SCHEMA["reference"].words, "error", "err", "ff", "feedforward"}
"""Words of columns that were commanded or computed, not measured."""
OTHER = {"limit", "limits", "min", "max", "gain", "constant", "gear", "init", "mean", "std"}
"""Words of columns that are not signals."""
NANO = {"nsec", "nsecs", "nanosec", "nanoseconds"}


@dataclass(frozen=True)
class NamedColumn:
    """A column with the meaning of its name.

    `label` names the joint or component, '' for an array of all; `command` marks columns that were
    not measured.
    """

    name: str
    quantity: str | None
    label: str = ""
    unit: str | None = None
    command: bool = False


def parse_column(name: str, joints: Sequence[str] = ()) -> NamedColumn:
    """Parse a column's name, with the joint names where they are known.

    A column named exactly as steelyard writes it, q_JOINT or q.JOINT, has no unit in its name.
    """
    for joint in joints:
        # a header's cells have no spaces at their ends
        signal = name.rstrip().removesuffix(joint.rstrip())
        if signal[-1:] in ("_", ".") and signal[:-1] in EXACT:
            return NamedColumn(name, signal[:-1], joint)
    plain, unit = split_unit(name)
    if (component := parse_component(name, plain, unit)) is not None:
        return component
    for joint in sorted(joints, key=len, reverse=True):
        match = re.search(
            rf"(?<![0-9A-Za-z]){re.escape(joint)}(?![0-9A-Za-z])", plain, re.IGNORECASE
        )
        if match:
            rest = plain[: match.start()] + " " + plain[match.end() :]
            quantity = quantity_of(name_words(rest))
            if quantity not in (None, "t"):
                return NamedColumn(
                    name,
                    quantity,
                    joint,
                    unit or unit_ending(rest),
                    is_command(name_words(rest), quantity),
                )
    tokens = name_words(plain)
    quantity = quantity_of(tokens)
    label = (
        tidy_label(plain)
        if quantity is None
        else tidy_label(UNIT_ENDING.sub("", without_words(plain, tokens, quantity).strip()))
    )
    return NamedColumn(
        name, quantity, label, unit or unit_ending(plain), is_command(tokens, quantity)
    )


def parse_component(name: str, plain: str, unit: str | None) -> NamedColumn | None:
    """Return the column of a signal with components, as `base_wrench_fx`; None for others."""
    for row in SCHEMA.values():
        match = row.components and re.fullmatch(
            rf"{row.name}(?:[_.]({'|'.join(row.components)}))?", plain.lower()
        )
        if match:
            return NamedColumn(name, row.name, match[1] or "", unit)
    return None


def quantity_of(tokens: Sequence[str]) -> str | None:
    """Return the quantity that the words name.

    'current' beside another quantity is an adjective, and so are the words of time.
    """
    if OTHER & set(tokens):
        return None
    if "q" in tokens and ("dot" in tokens or "d" in tokens[:1]):
        return "qd"
    quantities = {MEANING[token] for token in tokens if token in MEANING}
    for weak in ("t", "current"):
        if len(quantities) > 1:
            quantities.discard(weak)
    quantity = quantities.pop() if len(quantities) == 1 else None
    beside = [
        row.name
        for row in SCHEMA.values()
        if row.beside == quantity and quantity and set(row.words) & set(tokens)
    ]
    beside += [
        row.name
        for row in SCHEMA.values()
        if row.beside and quantity is None and tokens[:1] == [row.name]
    ]
    return beside[0] if beside else quantity


def is_command(tokens: Sequence[str], quantity: str | None) -> bool:
    """Return whether the words mark a column that was not measured.

    A commanded position is a signal by itself.
    """
    known = set(SCHEMA["reference"].words) if quantity == "reference" else set()
    return bool(COMMANDS & set(tokens) - known)


def without_words(name: str, tokens: Sequence[str], quantity: str) -> str:
    """Return the name without the words that name the quantity."""
    row = SCHEMA.get(quantity)
    beside = row is not None and row.beside != ""
    naming = [
        token
        for token in tokens
        if MEANING.get(token) == (row.beside if row and beside else quantity)
    ]
    name = separated(name)
    for word in [*(naming[-1:] or ["q"]), *(row.words if row and beside else ())]:
        name = re.sub(rf"(?<![A-Za-z]){word}(?![A-Za-z])", " ", name, count=1, flags=re.IGNORECASE)
    return name


def separated(name: str) -> str:
    """Return the name with spaces between the parts of camelCase and of q1."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.sub(
        rf"(?<![A-Za-z])({'|'.join(sorted(MEANING, key=len, reverse=True))})(?=\d)",
        r"\1 ",
        name,
        flags=re.IGNORECASE,
    )


def name_words(name: str) -> list[str]:
    """Return the words of a name in lower case, without digits and signs."""
    return re.findall(r"[a-z]+", separated(name).lower())


def tidy_label(label: str) -> str:
    """Return a label without signs at its ends and without words that every column has."""
    label = re.sub(r"[^0-9A-Za-z]+$|^[^0-9A-Za-z]+", "", label)
    label = re.sub(
        r"^(joint_?states?|actual|measured|act|meas|motor|mot|current)(?![a-z])[^0-9A-Za-z]*",
        "",
        label,
        flags=re.IGNORECASE,
    )
    return re.sub(r"\s+", "_", label)


def split_unit(name: str) -> tuple[str, str | None]:
    """Split 'q1 [deg]' into 'q1' and 'deg'; brackets that hold no unit stay."""
    match = re.search(
        r"^(.*?)[\s_]*(?:[\[(]\s*([^\])]+?)\s*[\])]|/\s+([^\s/]+(?:/[^\s/]+)?))\s*$", name.strip()
    )
    if match and is_unit(match[2] or match[3]):
        return match[1], spelled(match[2] or match[3])
    return name.strip(), None


UNIT_ENDING = re.compile(rf"_({'|'.join(ENDINGS)})$", re.IGNORECASE)


def unit_ending(name: str) -> str | None:
    """Return the unit that ends a name such as 'act_pos_deg', 'time_ms'; None for none."""
    match = UNIT_ENDING.search(name.strip())
    return spelled(match[1]) if match else None
