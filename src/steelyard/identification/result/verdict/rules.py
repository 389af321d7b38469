"""The rules of the verdict on a fit: one function decides, with validations or without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..result_thresholds import THRESHOLDS
from .inputs import MassInputs, VerdictInputs
from .joint_rules import joint_reasons, joint_verdicts
from .next_steps import doctor_line, mass_line, next_step, record_line, typed
from .notes import notes, validation_sentence
from .torque_errors import TorqueErrors, ValidationErrors, pooled
from .verdict import DOUBTFUL, REFUSED, TRUSTED, WITHIN, WORDS, Reason, Verdict


def decide(inputs: VerdictInputs, validations: Sequence[ValidationErrors] = ()) -> Verdict:
    """Decide on a fit.

    The word is the worst that a reason leaves, for the fit and for each joint. A validation adds
    reasons and takes none away, so that it never raises a word. Errors inside the region follow
    from samples inside it, errors outside from samples outside.

    Parameters
    ----------
    inputs : what is known of the fit
    validations : errors on logs that the fit has not seen

    Returns
    -------
    Verdict
    """
    error = inside_error(inputs.errors.within, validations)
    usual = inside_error(inputs.errors.usual, validations)
    reasons = sorted(all_reasons(inputs, validations, usual), key=lambda reason: -reason.level)
    level = max((reason.level for reason in reasons), default=TRUSTED)
    outside = pooled([each.outside for each in validations])
    return Verdict(
        word=WORDS[level],
        joints=joint_verdicts(inputs, validations, reasons),
        region=inputs.region,
        error=float(np.inf) if level == REFUSED else error,
        outside_error=None if outside is None else outside.relative,
        reasons=tuple(dict.fromkeys(reason.text for reason in reasons)),
        findings=inputs.log.findings,
        next_step=next_step(inputs, validations, reasons, level),
        validations=tuple(validations),
    )


def inside_error(expected: float, validations: Sequence[ValidationErrors]) -> float:
    """Return |e| / |tau| inside the region: the expected one, or measured there if larger."""
    measured = [each.inside.relative for each in validations if decides(each.inside)]
    return max([expected, *measured])


def decides(errors: TorqueErrors) -> bool:
    """Return whether there are enough samples to decide something."""
    return errors.samples >= THRESHOLDS.least_validation_samples and bool(errors.rows.sum())


def all_reasons(
    inputs: VerdictInputs, validations: Sequence[ValidationErrors], error: float
) -> Iterator[Reason]:
    """Yield every reason; `error` is the average one inside the region."""
    yield from no_explanation(inputs)
    yield from large_error(inputs, error)
    for text in filter(None, (inputs.log.odd_log, inputs.log.too_short)):
        yield Reason(DOUBTFUL, text, record_line(inputs))
    yield from faults(inputs)
    for number, each in enumerate(validations, 1):
        name = f"validation log {number}" if len(validations) > 1 else "the validation log"
        yield from contradicted(inputs, each, name)
    yield from other_mass(inputs)
    yield from unused_joints(inputs)
    yield from little_excitation(inputs)
    yield from impossible_links(inputs)
    yield from no_physical_robot(inputs)
    yield from narrow(inputs)
    yield from scale_unknown(inputs)
    yield from joint_reasons(inputs, validations)
    for number, each in enumerate(validations, 1):
        name = f"Validation log {number}" if len(validations) > 1 else "The validation log"
        yield Reason(TRUSTED, validation_sentence(each, name))
    yield from notes(inputs)


def no_explanation(inputs: VerdictInputs) -> Iterator[Reason]:
    """Refuse a fit if the torque of too many joints does not follow from their motion."""
    bad = [joint.name for joint in inputs.joints if joint.r2 < THRESHOLDS.explained_r2]
    if len(bad) > THRESHOLDS.unexplained_joints * len(inputs.joints):
        text = f"No model explains what was measured of {', '.join(bad)}: check units and signs."
        yield Reason(REFUSED, text, doctor_line(inputs))


def large_error(inputs: VerdictInputs, error: float) -> Iterator[Reason]:
    """Refuse or doubt a fit whose error inside the region is a large part of the torque."""
    measured = error > inputs.errors.usual
    what, where = (
        ("A", "measured on the validation log")
        if measured
        else ("An average", "expected on unseen motion")
    )
    text = f"{what} torque error of {error:.0%} is {where} inside the region."
    if error > THRESHOLDS.refused_error:
        step = doctor_line(inputs)
        yield Reason(REFUSED, text, step)
    elif error > THRESHOLDS.doubtful_error:
        step = record_line(inputs)
        yield Reason(DOUBTFUL, text, step)


def faults(inputs: VerdictInputs) -> Iterator[Reason]:
    """Doubt a fit of a log with a likely fault."""
    for finding in inputs.log.findings:
        if finding.severity == "fault" and finding.certainty >= THRESHOLDS.likely_fault:
            correctable = finding.fix and not finding.hypotheses
            step = f"Fix the log: {finding.fix}" if correctable else doctor_line(inputs)
            text = f"{finding.sentence} {finding.remedy}".strip()
            yield Reason(DOUBTFUL, text, step, finding.joints)


def contradicted(
    inputs: VerdictInputs, validation: ValidationErrors, name: str
) -> Iterator[Reason]:
    """Doubt a fit with a larger error on another log than expected; limit it if it is outside."""
    errors, step = inputs.errors, doctor_line(inputs)
    inside, outside = validation.inside, validation.outside
    if decides(inside) and inside.relative > THRESHOLDS.contradicted_ratio * errors.within:
        numbers = (
            f"{inside.relative:.1%}, more than {THRESHOLDS.contradicted_ratio:g} times the"
            f" expected {errors.within:.1%}"
        )
        yield Reason(DOUBTFUL, f"Inside the region the error on {name} is {numbers}.", step)
    if not decides(outside):
        return
    if outside.relative > THRESHOLDS.contradicted_ratio * errors.anywhere:
        level = REFUSED if outside.relative > THRESHOLDS.refused_error else DOUBTFUL
        numbers = (
            f"{outside.relative:.1%}, more than {THRESHOLDS.contradicted_ratio:g} times the"
            f" expected {errors.anywhere:.1%}"
        )
        yield Reason(level, f"Outside the region the error on {name} is {numbers}.", step)
    elif outside.relative > THRESHOLDS.outside_ratio * errors.within:
        numbers = f"{outside.relative:.1%}, expected inside {errors.within:.1%}"
        yield Reason(WITHIN, f"Outside the region the error on {name} is {numbers}.")


def other_mass(inputs: VerdictInputs) -> Iterator[Reason]:
    """Doubt a fit of another total mass than described: the torque may be in another unit."""
    masses = inputs.masses
    if masses.placeholder or masses.descriptions_not_used or masses.known or not differ(masses):
        return
    numbers = f"{masses.identified:.3g} kg, described {masses.described:.3g} kg"
    text = (
        f"Identified mass of the links: {numbers}. Check the unit and the constants of the torque."
    )
    yield Reason(DOUBTFUL, text, mass_line(inputs))


def differ(masses: MassInputs) -> bool:
    """Return whether identified and described mass differ by more than the factor `mass_ratio`."""
    described = masses.described
    return (
        described > 0
        and not 1 / THRESHOLDS.mass_ratio < masses.identified / described < THRESHOLDS.mass_ratio
    )


def unused_joints(inputs: VerdictInputs) -> Iterator[Reason]:
    """Doubt a fit with joints of which nothing was measured."""
    unused = tuple(joint.name for joint in inputs.joints if not joint.used)
    if unused:
        text = f"No sample of {', '.join(unused)} is in use: its error is not known."
        line = typed(inputs, "identify", "--mask 0", "sy.identify(robot, log, mask=0)")
        yield Reason(DOUBTFUL, text, f"Identify with a lower mask: {line}", unused)


def little_excitation(inputs: VerdictInputs) -> Iterator[Reason]:
    """Doubt a fit whose base parameters are mostly not excited."""
    rank, n_base = inputs.excitation.rank, inputs.excitation.n_base
    if n_base - rank > THRESHOLDS.unexcited_share * n_base:
        text = f"The motion excites {rank} of {n_base} base parameters."
        yield Reason(DOUBTFUL, text, record_line(inputs))


def impossible_links(inputs: VerdictInputs) -> Iterator[Reason]:
    """Doubt a fit with physically inconsistent links; estimators never return any."""
    if inputs.masses.impossible:
        names = ", ".join(inputs.masses.impossible)
        yield Reason(DOUBTFUL, f"The inertia of {names} is not physically consistent.")


def no_physical_robot(inputs: VerdictInputs) -> Iterator[Reason]:
    """Doubt a fit whose log is predicted far better by parameters that no physical robot has."""
    predicted, consistent = inputs.errors.predicted, inputs.errors.consistent
    if predicted is None or consistent is None:
        return
    matters = consistent - predicted > THRESHOLDS.consistency_cost
    if matters and consistent > THRESHOLDS.consistency_ratio * predicted:
        text = (
            f"Held-out torque is predicted to {predicted:.1%} by parameters that no physical robot"
            f" has, to {consistent:.1%} by the physically consistent robot: a torque constant or"
            " the geometry is wrong, a term is missing, or the effort is not measured."
        )
        yield Reason(DOUBTFUL, text, doctor_line(inputs))


def narrow(inputs: VerdictInputs) -> Iterator[Reason]:
    """Limit a fit to its region if the error elsewhere is larger or not known."""
    errors = inputs.errors
    if errors.anywhere > THRESHOLDS.outside_ratio * errors.within:
        text = f"Elsewhere within the joint limits errors of {errors.anywhere:.1%} are expected."
        yield Reason(WITHIN, text, record_line(inputs))
    elif errors.worst_part > THRESHOLDS.uneven_ratio * errors.usual:
        text = f"One part of the log has an error of {errors.worst_part:.1%} of the torque there."
        yield Reason(WITHIN, text, record_line(inputs))
    elif errors.usual > THRESHOLDS.good_error:
        text = f"With an average error of {errors.usual:.1%} the model lacks something."
        yield Reason(WITHIN, text, record_line(inputs))


def scale_unknown(inputs: VerdictInputs) -> Iterator[Reason]:
    """Limit a fit whose torque scale is not confirmed by a described or known mass."""
    masses = inputs.masses
    aside = 2 * len(masses.descriptions_not_used) > masses.links
    if (aside or (masses.placeholder and differ(masses))) and not masses.known:
        cause = "was not used" if aside else "has placeholder inertias that contradict the log"
        text = f"The description {cause}: give known_mass= to fix the torque scale."
        yield Reason(WITHIN, text, mass_line(inputs))
