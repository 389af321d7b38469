"""What a column's name says: which quantity, of which joint, in which unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..units import UNITS, spelled

QUANTITIES = {
    "t": ("t", "time", "timestamp", "stamp", "timestamps", "sec", "secs", "seconds", "nsec", "nsecs", "nanosec", "nanoseconds"),
    "q": ("q", "pos", "position", "positions", "angle", "angles", "theta"),
    "qd": ("qd", "dq", "qdot", "vel", "velocity", "velocities", "speed", "speeds"),
    "qdd": ("qdd", "ddq", "qddot", "acc", "accel", "acceleration", "accelerations"),
    "tau": ("tau", "torque", "torques", "moment", "trq"),
    "effort": ("effort", "efforts"),
    "current": ("current", "currents", "cur", "amps"),
}
"""The words that name each quantity."""

MEANING = {word: quantity for quantity, words in QUANTITIES.items() for word in words}
COMMANDS = {
    "target",
    "desired",
    "ref",
    "reference",
    "cmd",
    "command",
    "commanded",
    "setpoint",
    "des",
    "goal",
    "error",
    "err",
    "ff",
    "feedforward",
}
"""Words of columns that hold what was asked for, not what was measured."""
OTHER = {"limit", "limits", "min", "max", "gain", "constant", "gear", "init", "mean", "std"}
"""Words of columns that are no signals at all."""
NANO = {"nsec", "nsecs", "nanosec", "nanoseconds"}


@dataclass(frozen=True)
class Column:
    """A column and what its name says. `label` is what the name says of the joint: '' for an array of all of them."""

    name: str
    quantity: str | None
    label: str = ""
    unit: str | None = None
    command: bool = False


def parse(name: str, joints: Sequence[str] = ()) -> Column:
    """What the column's name says, given the names of the joints where they are known."""
    plain, unit = split_unit(name)
    for joint in sorted(joints, key=len, reverse=True):
        found = re.search(rf"(?<![0-9A-Za-z]){re.escape(joint)}(?![0-9A-Za-z])", plain, re.IGNORECASE)
        if found:
            rest = plain[: found.start()] + " " + plain[found.end() :]
            quantity = quantity_of(words(rest))
            if quantity not in (None, "t"):
                return Column(name, quantity, joint, unit or unit_word(rest), bool(COMMANDS & set(words(rest))))
    return parse_unknown(name, plain, unit)


def parse_unknown(name: str, plain: str, unit: str | None) -> Column:
    """The same where no joint's name is in it: what is left beside the quantity's word is the label."""
    tokens = words(plain)
    quantity = quantity_of(tokens)
    unit = unit or unit_word(plain)
    command = bool(COMMANDS & set(tokens))
    if quantity is None:
        return Column(name, None, tidy(plain), unit, command)
    word = quantity_word(tokens, quantity)
    match = re.search(rf"(?<![a-z]){word}(?![a-z])", lowered(plain)) or re.search(word, lowered(plain))
    spread = separated(plain)
    rest = spread[: match.start()] + " " + spread[match.end() :] if match else ""
    return Column(name, quantity, tidy(without_unit_word(rest)), unit, command)


def quantity_of(tokens: Sequence[str]) -> str | None:
    """The one quantity that the words name; 'current' beside another quantity is an adjective, and so are the words of time."""
    if OTHER & set(tokens):
        return None
    if "q" in tokens and ("dot" in tokens or "d" in tokens[:1]):
        return "qd"
    found = {MEANING[token] for token in tokens if token in MEANING}
    for weak in ("t", "current"):
        if len(found) > 1:
            found.discard(weak)
    return found.pop() if len(found) == 1 else None


def quantity_word(tokens: Sequence[str], quantity: str) -> str:
    """The word by which the name says the quantity; the last one where there are several."""
    said = [token for token in tokens if MEANING.get(token) == quantity]
    return said[-1] if said else "q"


def separated(name: str) -> str:
    """camelCase and q1 with spaces between their parts, letters as they are."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.sub(rf"(?<![A-Za-z])({'|'.join(sorted(MEANING, key=len, reverse=True))})(?=\d)", r"\1 ", name, flags=re.IGNORECASE)


def lowered(name: str) -> str:
    """The separated name in lower case, as long as the separated one."""
    return separated(name).lower()


def words(name: str) -> list[str]:
    """The words of a name: letters, without digits and signs."""
    return re.findall(r"[a-z]+", lowered(name))


def tidy(label: str) -> str:
    """A label without signs at its ends and without the words that every column carries."""
    label = re.sub(r"[^0-9A-Za-z]+$|^[^0-9A-Za-z]+", "", label)
    label = re.sub(r"^(joint_?states?|actual|measured|act|meas|motor|mot|current)(?![a-z])[^0-9A-Za-z]*", "", label, flags=re.IGNORECASE)
    return re.sub(r"\s+", "_", label)


def split_unit(name: str) -> tuple[str, str | None]:
    """'q1 [deg]' into 'q1' and 'deg'; brackets that hold no unit are left alone."""
    match = re.search(r"^(.*?)[\s_]*(?:[\[(]\s*([^\])]+?)\s*[\])]|/\s+([^\s/]+(?:/[^\s/]+)?))\s*$", name.strip())
    if match and spelled(match[2] or match[3]) in UNITS:
        return match[1], spelled(match[2] or match[3])
    return name.strip(), None


UNIT_WORD = re.compile(r"_((?:deg|rad)(?:_per_s2?)?|rpm|nm|mnm|ma|ms|us|ns)$", re.IGNORECASE)


def unit_word(name: str) -> str | None:
    """The unit that ends a name such as 'act_pos_deg', 'time_ms'."""
    match = UNIT_WORD.search(name.strip())
    return spelled(match[1]) if match else None


def without_unit_word(name: str) -> str:
    """The name without the unit that ends it."""
    return UNIT_WORD.sub("", name.strip())
