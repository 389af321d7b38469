"""An identification on the terminal: one screen, or with --full every table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...drawing.numbers import NOTHING, percent, short
from ...drawing.table import Column, Table
from ...reporting import base_table, error_table
from ...reporting.tables import region_table, results_of
from ..output import output
from .terminal import STYLES

if TYPE_CHECKING:
    from ...identification import Fit, Validation, Verdict
    from ...identification.result.links import LinkEstimates
    from ...identification.result.verdict.verdict import JointError, JointVerdict

WORST = 10  # logs of many that are shown
REASONS = 3  # of a trusted verdict on one screen
NAMES = 2  # of a longer list in a reason on one screen
LONG = 150  # characters of a reason on one screen, two lines of 80 columns
ROWS = 8  # joints or links on one screen
NAME = r"[\w/-]+(?:\.[\w/-]+)*(?: \([^()]*\))?"
LISTED = re.compile(rf"(?:{NAME}, ){{{NAMES + 1},}}{NAME}")
FRICTION = (("Fv", "viscous", "N m s/rad"), ("Fc", "Coulomb", "N m"))


def show_fit(
    fit: Fit, judged: Verdict, validation: Validation | None = None, full: bool = False
) -> None:
    """Show the verdict, torque errors of every joint, masses and friction.

    With `full` all reasons, the region, links, base parameters, and what the identification chose
    by itself: friction terms, the weight of the description, delays.
    """
    screen = output()
    screen.record(fit=fit.to_dict(validation))
    if full:
        show_verdict(judged, full=True)
        screen.show(
            region_table(fit.region), error_table(fit, validation), fit.links.table(),
            base_table(fit),
        )  # fmt: skip
        if fit.archive is not None:
            screen.show(fit.archive.table(WORST))
        screen.show(*(f"• {note}" for note in fit.status))
        return
    show_verdict(judged, worst_errors(fit, validation))
    screen.show(total_errors(fit, validation), masses(fit.links))
    if fit.archive is not None:
        screen.show(*fit.archive.notes())
    table = friction_table(fit)
    if table is not None:
        screen.show(table)


def show_verdict(
    judged: Verdict, largest: Sequence[tuple[float, float]] = (), full: bool = False
) -> None:
    """Show the verdict on a fit with its reasons, and the word and torque errors of the joints.

    Parameters
    ----------
    judged : the verdict
    largest : largest error [N m|N] and its time [s] of each joint, () where they are not shown
    full : whether to show all reasons, word by word, and every column
    """
    screen = output()
    reasons = judged.lines if full else screen_reasons(judged)
    screen.judge(str(judged), judged.trusted, reasons, STYLES[judged.word])
    screen.record(verdict={"good": judged.trusted, **judged.to_dict()})
    screen.show(judged.table() if full else joint_errors(judged, largest))


def show_next(judged: Verdict, more: str = "", full: bool = False) -> None:
    """Show the next step of a verdict; with `full` it stands among the reasons.

    `more` are options that end a command line in it, so that it reads the log in the same way.
    """
    if not full:
        step = judged.next_step
        output().next(step + more if ": steelyard " in step else step)


def screen_reasons(judged: Verdict) -> list[str]:
    """Return the reasons for one screen.

    The most important ones of a trusted verdict, long lists of names in short; all of any other.
    """
    if not judged.trusted:
        return list(judged.reasons)
    reasons = [shortened(each) for each in judged.reasons[:REASONS]]
    more = len(judged.reasons) - len(reasons)
    if more > 0:
        reasons[-1] += f" ({more} more {'reasons' if more > 1 else 'reason'}: --full)"
    return reasons


def shortened(sentence: str) -> str:
    """Return a sentence in which a long list of names ends in '... and 4 more'.

    A sentence that is longer than LONG still ends at its first semicolon.
    """

    def few(match: re.Match[str]) -> str:
        names = match.group().split(", ")
        return f"{', '.join(names[:NAMES])} and {len(names) - NAMES} more"

    text = LISTED.sub(few, sentence)
    return text if len(text) <= LONG else f"{text.partition('; ')[0].rstrip('.')}."


def worst_errors(fit: Fit, validation: Validation | None) -> list[tuple[float, float]]:
    """Return the largest error [N m|N] and its time [s] of each joint.

    On the validation log where there is one. Empty where logs were folded one by one.
    """
    result = fit.validation if validation is None else validation
    if fit.archive is not None and validation is None:
        return []
    errors = np.where(result.keep, np.abs(result.measured - result.predicted), 0.0)
    samples = errors.argmax(axis=0)
    return [(float(errors[k, j]), float(result.t[k])) for j, k in enumerate(samples.tolist())]


def joint_errors(judged: Verdict, largest: Sequence[tuple[float, float]] = ()) -> Table:
    """Return the torque errors of each joint, in its unit and in percent of the rated torque.

    Of more than ROWS joints the worst.
    """
    joints = judged.joints
    chosen = _worst_joints(judged)
    words = {joint.word for joint in joints} != {judged.word}
    units = sorted({joint.unit for joint in joints})
    columns = [Column("joint", numeric=False)]
    columns += [Column("word", numeric=False)] * words
    columns += [Column("unit", numeric=False)] * (len(units) > 1)
    columns += [Column("inside"), Column("rated", "%"), Column("outside"), Column("rated", "%")]
    columns += [Column("largest"), Column("at", "s")] if largest else []
    rows = []
    for j in chosen:
        joint = joints[j]
        row = [joint.name, *([joint.word] * words), *([joint.unit] * (len(units) > 1))]
        row += [*_error_cells(joint.inside), *_error_cells(joint.outside)]
        if largest:
            row += [short(largest[j][0]), f"{largest[j][1]:.2f}"]
        rows.append(tuple(row))
    unit = f" [{units[0]}]" if len(units) == 1 else ""
    log = "measured on the validation log" if judged.validations else "expected of other motion"
    note = "RMS in and outside the region of the log; rated: effort limit"
    note += "; largest: this log" if largest and not judged.validations else ""
    note += f"; {len(joints) - len(rows)} better joints: --full" if len(rows) < len(joints) else ""
    resting = [_resting(joint) for joint in joints if joint.resting is not None]
    note += f"; at rest: {', '.join(resting)}" if resting else ""
    return Table(f"Torque error{unit}, {log}", tuple(columns), tuple(rows), note)


def _worst_joints(judged: Verdict) -> list[int]:
    """Return the indices of at most ROWS joints in order, the worst of more."""
    from ...identification.result.verdict.verdict import WORDS

    def badness(j: int) -> tuple[int, float]:
        joint = judged.joints[j]
        errors = [each for each in (joint.inside, joint.outside) if each is not None]
        shares = [each.percent_of_rated or each.percent_of_torque or 0.0 for each in errors]
        return WORDS.index(joint.word), max(shares, default=0.0)

    order = sorted(range(len(judged.joints)), key=badness, reverse=True)
    return sorted(order[:ROWS])


def _error_cells(error: JointError | None) -> tuple[str, str]:
    """Return an error and its share of the rated torque as text."""
    if error is None:
        return NOTHING, NOTHING
    return short(error.error), short(error.percent_of_rated)


def _resting(joint: JointVerdict) -> str:
    """Return the error of a joint at rest in words."""
    assert joint.resting is not None
    return f"{joint.name} {short(joint.resting.error)} {joint.unit}"


def total_errors(fit: Fit, validation: Validation | None) -> str:
    """Return the relative torque errors |e| / |tau| over all joints, before and after."""
    shares = [
        f"{percent(float(result.total_relative_error), 2)} % {label}"
        for label, result in results_of(fit, validation)
    ]
    return f"Relative torque error of all joints: {', '.join(shares)}."


def masses(links: LinkEstimates) -> str:
    """Return the masses that the log shows, with two standard deviations, in one sentence."""
    from ...identification.result.links import shown

    seen = [k for k, std in enumerate(links.mass_std) if np.isfinite(std) and std > 0]
    texts = [
        f"{links.names[k]} {' ± '.join(shown(links.mass[k], links.mass_std[k], ''))}"
        for k in seen[:ROWS]
    ]
    more = len(seen) - len(texts)
    texts += [f"{more} more with --full"] if more else []
    others = len(links.names) - len(seen)
    rest = f"{others} of {len(links.names)} as described" if others else ""
    return f"Masses [kg], ± 2σ: {'; '.join([*texts, *([rest] if rest else [])])}."


def friction_table(fit: Fit) -> Table | None:
    """Return viscous and Coulomb friction of the first joints; None where there is neither."""
    from ...identification.result.links import DESCRIBED, shown

    index = {name: k for k, name in enumerate(fit.parameter_names)}
    indices = {
        name: [index.get(f"{name}.{symbol}") for symbol, _, _ in FRICTION]
        for name in fit.robot.joint_names
    }
    indices = {name: each for name, each in indices.items() if any(k is not None for k in each)}
    if not indices:
        return None
    units = fit.robot.parameter_units
    columns = [Column("friction of", numeric=False)]
    for j, (_, word, unit) in enumerate(FRICTION):
        kinds = {units[k] for each in indices.values() if (k := each[j]) is not None}
        columns += [Column(word, unit if kinds <= {unit} else ""), Column("± 2σ")]
    rows = []
    for name, each in list(indices.items())[:ROWS]:
        cells = [
            (NOTHING, "")
            if k is None
            else shown(float(fit.parameters[k]), float(fit.parameters_std[k]), DESCRIBED)
            for k in each
        ]
        rows.append((name, *(text for pair in cells for text in pair)))
    more = len(indices) - len(rows)
    return Table("", tuple(columns), tuple(rows), f"{more} more joints: --full" if more else "")
