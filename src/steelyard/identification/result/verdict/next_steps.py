"""What to do next after a verdict: an imperative sentence with the line to type."""

from __future__ import annotations

from collections.abc import Sequence

from ....names import shell_word
from .inputs import VerdictInputs
from .torque_errors import ValidationErrors
from .verdict import DOUBTFUL, Reason


def next_step(
    inputs: VerdictInputs,
    validations: Sequence[ValidationErrors],
    reasons: Sequence[Reason],
    level: int,
) -> str:
    """Return what to do next, with the line to type."""
    if level >= DOUBTFUL:
        steps = [reason.step for reason in reasons if reason.level == level and reason.step]
        return steps[0] if steps else doctor_line(inputs)
    if not validations:
        line = "fit.validate(sy.read_log('other.csv', robot)).verdict"
        return (
            "Validate on a log of another motion:"
            f" {typed(inputs, 'identify', '--validate other.csv', line)}"
        )
    line = "fit.robot.to_urdf('identified.urdf')"
    return f"Use the identified model: {typed(inputs, 'identify', '-o results', line)}"


def typed(inputs: VerdictInputs, command: str, options: str, python: str) -> str:
    """Return a command line where the files are known, else a line of Python."""
    if not (inputs.log.robot and inputs.log.log):
        return python
    files = f"{shell_word(inputs.log.robot)} {shell_word(inputs.log.log)}"
    return f"steelyard {command} {files} {options}".strip()


def doctor_line(inputs: VerdictInputs) -> str:
    """Return the step that examines the log, or checks the description where it cannot be."""
    if not inputs.log.examinable:
        return "Check units and signs of the log against the description: print(log)"
    return f"Examine the log: {typed(inputs, 'doctor', '', 'print(sy.doctor(robot, log))')}"


def record_line(inputs: VerdictInputs) -> str:
    """Return the step that designs a motion to record."""
    robot = inputs.log.robot
    command = f"steelyard excite {shell_word(robot)} -o motion.csv"
    line = command if robot else "sy.excite(robot).write('motion.csv')"
    return f"Record a longer motion made for identification: {line}"


def mass_line(inputs: VerdictInputs) -> str:
    """Return the step that gives a known mass."""
    line = typed(inputs, "identify", "--known-mass KG", "sy.identify(robot, log, known_mass=...)")
    return f"Weigh the moving links and give their mass: {line}"
