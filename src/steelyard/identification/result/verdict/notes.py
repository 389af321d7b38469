"""Notes of a verdict: sentences that do not change its word."""

from __future__ import annotations

from collections.abc import Iterator

from ..result_thresholds import THRESHOLDS
from .inputs import VerdictInputs
from .torque_errors import ValidationErrors
from .verdict import TRUSTED, Reason


def validation_sentence(validation: ValidationErrors, name: str) -> str:
    """Return the errors on another log in a sentence: inside and outside the region."""
    inside, outside = validation.inside, validation.outside
    if not inside.samples:
        where = "no sample inside the region, so that it does not test the error there"
        return f"{name} has {where}; outside, the error is {outside.relative:.1%}."
    outer = f"; outside {outside.relative:.1%}." if outside.samples else "."
    if inside.samples < THRESHOLDS.least_validation_samples:
        few = f"{inside.samples} of {validation.total.samples} samples inside the region"
        return f"{name} has {few}, too few to test the error there{outer}"
    share = f"{validation.share_inside:.0%} of {validation.total.samples} samples inside the region"
    return f"{name} has {share}, with an error of {inside.relative:.1%}{outer}"


def notes(inputs: VerdictInputs) -> Iterator[Reason]:
    """Yield the notes on findings, excitation, errors on the own samples, rest and torque scale."""
    texts = (*remarks(inputs), *unseen(inputs), *on_own_samples(inputs), *at_rest(inputs))
    for text in (*texts, *scale(inputs)):
        yield Reason(TRUSTED, text)


def remarks(inputs: VerdictInputs) -> Iterator[str]:
    """Yield remarks of the doctor, and its unlikely faults."""
    for finding in inputs.log.findings:
        if finding.severity != "fault" or finding.certainty < THRESHOLDS.likely_fault:
            yield finding.sentence


def unseen(inputs: VerdictInputs) -> Iterator[str]:
    """Yield the base parameters that are not excited, and those not different from zero."""
    known = inputs.excitation
    if known.unexcited:
        few = known.rank < known.n_base
        moved = f"The motion excites {known.rank} of {known.n_base} directions; " if few else ""
        count = (
            f"{len(known.unexcited)} of {known.n_base} base parameters keep their described values"
        )
        share = THRESHOLDS.least_information_share
        cause = f"the log has less than {share:.0%} of the information on them"
        yield f"{moved}{count}, since {cause}: {', '.join(known.unexcited)}."
    if known.weak:
        count = f"{len(known.weak)} of {known.n_base} base parameters"
        yield f"{count} are not significantly different from zero: {', '.join(known.weak)}."


def at_rest(inputs: VerdictInputs) -> Iterator[str]:
    """Yield the errors at rest, where friction is anywhere within the stiction."""
    errors = [
        f"{joint.name} {joint.resting:.3g} {joint.unit}"
        for joint in inputs.joints
        if joint.resting is not None
    ]
    if errors:
        yield (
            "Errors are of moving joints; at rest, where friction is anywhere within the stiction,"
            f" they are: {', '.join(errors)}."
        )


def on_own_samples(inputs: VerdictInputs) -> Iterator[str]:
    """Yield notes on the fit's own samples: described robot, noise floor, slow residuals."""
    errors = inputs.errors
    if errors.described is not None and errors.described < errors.own:
        yield (
            f"The described robot has a smaller error, {errors.described:.1%} against"
            f" {errors.own:.1%}."
        )
    if errors.noise_floor is not None:
        noise = f"torques of its periods differ by {errors.noise_floor:.2%} of the torque"
        yield f"The motion repeats: {noise}; this part of the error of {errors.own:.2%} is noise."
    slow = [joint.name for joint in inputs.joints if joint.whiteness > THRESHOLDS.slow_correlation]
    if slow:
        cause = "friction beyond this model, elasticity or temperature"
        yield (
            f"The residuals of {', '.join(slow)} vary slowly: {cause}; the uncertainties account"
            " for it."
        )


def scale(inputs: VerdictInputs) -> Iterator[str]:
    """Yield the uncertainty of the torque scale, which a log alone does not identify."""
    masses = inputs.masses
    if masses.scale_std:
        mass = masses.identified
        yield (
            f"The torque scale is known to ± {200 * masses.scale_std:.2g} % (two standard"
            f" deviations), and so is the total mass, {mass:.3g} ±"
            f" {2 * masses.scale_std * mass:.2g} kg. Predicted torques do not depend on it."
        )
    elif not masses.descriptions_not_used:
        yield (
            "The overall torque scale cannot be identified from a log; it depends on sensor "
            f"calibration. The links weigh {masses.identified:.3g} kg, described "
            f"{masses.described:.3g} kg."
        )
