"""Parameters that are not identified: held at a value, or known masses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...arguments import real_number
from ...errors import CallError, suggest
from ...mechanism.joint_terms import KNOWN_TORQUE
from ...robot import Robot


def known_masses(
    robot: Robot, known: float | Mapping[str, float] | None
) -> tuple[dict[int, float], float | None]:
    """Return the parameters that are known masses, index -> mass [kg], and the known total.

    Raise CallError for an unknown link.
    """
    if not isinstance(known, Mapping):
        return {}, known
    for link in known:
        if link not in robot.body_names:
            raise CallError(
                f"known_mass: no moving link is called {link!r};"
                f" {suggest(str(link), robot.body_names)}",
                argument="known_mass",
            )
    return {10 * robot.body_names.index(link): mass for link, mass in known.items()}, None


def held_parameters(
    robot: Robot, hold: Sequence[str] | Mapping[str, float | None]
) -> tuple[tuple[int, float], ...]:
    """Return index and value of what is held, given by parameter, link or joint name.

    None keeps the robot's own value.

    The factors of known torques are always held.
    """
    requested: Mapping[str, float | None] = (
        hold if isinstance(hold, Mapping) else dict.fromkeys(hold)
    )
    names = robot.parameter_names
    fixed = {
        i: float(robot.parameters[i])
        for i, name in enumerate(names)
        if name.endswith(f".{KNOWN_TORQUE.symbol}")
    }
    owners = [name.rpartition(".")[0] for name in names]
    for name, value in requested.items():
        hits = [i for i, label in enumerate(names) if name in (label, owners[i])]
        if not hits:
            raise CallError(
                f"hold: no parameter, link or joint is called {name!r};"
                f" {suggest(str(name), (*names, *dict.fromkeys(owners)))}",
                argument="hold",
            )
        fixed |= {
            i: (
                float(robot.parameters[i])
                if value is None
                else real_number(f"hold: the value of {name!r}", value)
            )
            for i in hits
        }
    if len(fixed) == len(names):
        raise CallError(
            "hold: every parameter is held, there is nothing to identify", argument="hold"
        )
    return tuple(sorted(fixed.items()))
