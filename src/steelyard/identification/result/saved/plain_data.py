"""A fit as plain data, for fit.json: everything but the samples, with units."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....drawing.html import card
from ....drawing.numbers import short, with_uncertainty
from ....drawing.table import Column, Table
from ..links import LinkEstimates
from ..provenance import plain, table_rows
from ..validation import Validation
from .saved_model import model_data


def fit_data(fit: Any, validation: Validation | None = None) -> dict[str, Any]:
    """Return a Fit, and a validation on another log, as plain data for JSON.

    Numbers that are not finite are None. Errors are fractions of the torque; other units are beside
    the values.
    """
    units = fit.robot.parameter_units
    base_units = [units[column] for column in fit.base.columns]
    base = {"value": fit.base_values, "standard_deviation": fit.base_std}
    widths = dict(zip(fit.robot.joint_names, fit.model.shape("width"), strict=True))
    wide = [widths.get(name, 0.0) for name in fit.model.row_names]
    nuisance: dict[str, Iterable[float]] = {"delay": fit.pipeline.delay, "coulomb_width": wide}
    verdict = fit.verdict if validation is None else fit.judged(validation)
    data: dict[str, Any] = plain(
        {
            "robot": fit.robot.name,
            "estimator": fit.estimator,
            "verdict": verdict.to_dict(),
            "verdict_inputs": fit.verdict_inputs.to_dict(),
            "region": fit.region.to_dict(),
            "validation": (
                None if validation is None else validation_data(validation, fit.model.row_units)
            ),
            "parameters": table_rows(
                name=fit.parameter_names,
                unit=units,
                value=fit.parameters,
                standard_deviation=fit.parameters_std,
            ),
            "links": link_rows(fit.links),
            "base_parameters": table_rows(
                name=fit.base.names, expression=fit.base.expressions, unit=base_units, **base
            ),
            "base_covariance": fit.covariance,
            "joints": table_rows(**joint_errors(fit.validation, fit.model.row_units), **nuisance),
            "residual_split": fit.residual_split.to_dict(),
            "drift": fit.drift,
            "friction_terms": [
                {"joint": joint, "term": word} for joint, word in fit.friction_terms
            ],
            "elasticity": None if fit.elasticity is None else fit.elasticity.to_dict(),
            "archive": None if fit.archive is None else fit.archive.to_dict(),
            "drive_gains": fit.drive_gains,
            "drive_gain_std": fit.drive_gain_std,
            "total_relative_error": fit.total_relative_error,
            "before": None if fit.before is None else fit.before.total_relative_error,
            "samples": len(fit.t),
            "rank": fit.rank,
            "singular_values": fit.singular_values,
            "condition": fit.condition,
            "unseen": fit.unseen,
            "status": fit.status,
            "check": (str(verdict), *verdict.reasons),
            "options": fit.options.as_dict(),
            "details": fit.details,
            "provenance": fit.provenance,
            "model": model_data(fit),
        }
    )
    return data


def joint_errors(validation: Validation, units: tuple[str, ...]) -> dict[str, Iterable[Any]]:
    """Return the errors of each joint as columns.

    Name, unit of the torque, rms, relative error, r2.
    """
    errors = {
        "rms": validation.rms,
        "relative_error": validation.relative_error,
        "r2": validation.r2,
    }
    return {"name": validation.joint_names, "unit": units, **errors}


def validation_data(validation: Validation, units: tuple[str, ...]) -> dict[str, Any]:
    """Return a validation on another log.

    Errors in all and of each joint, and the share of its states that the fit's region covers.
    """
    return {
        "total_relative_error": validation.total_relative_error,
        "before": None if validation.before is None else validation.before.total_relative_error,
        "samples": len(validation.t),
        "inside": None if validation.inside is None else validation.errors.share_inside,
        "joints": table_rows(**joint_errors(validation, units)),
    }


def link_rows(links: LinkEstimates) -> list[dict[str, Any]]:
    """Return mass [kg] and centre of mass [m] of each link, with standard deviations."""
    centres = {"com": links.com, "com_standard_deviation": links.com_std}
    return table_rows(
        name=links.names, mass=links.mass, mass_standard_deviation=links.mass_std, **centres
    )


def fit_text(fit: Any) -> str:
    """Return verdict and reasons of a fit, and tables of joints, links and base parameters."""
    head = (
        f"{fit.robot.name}: {fit.options.estimator.name}, {len(fit.validation.t)} samples, rank"
        f" {fit.rank} of {fit.base.n_base} base parameters, condition"
        f" {fit.uncertainty.excitation.condition:.3g}"
    )
    verdict = [str(fit.verdict), *(f"- {line}" for line in fit.verdict.lines)]
    tables = [
        fit.verdict.table().to_text(),
        "",
        str(fit.validation),
        "",
        fit.links.table().to_text(),
        "",
        *fit.uncertainty.lines(),
    ]
    tables += [] if fit.elasticity is None else ["", fit.elasticity.table().to_text()]
    return "\n".join([head, "", *verdict, "", *tables, *fit.estimate.notes])


def latex_table(fit: Any, which: str) -> Table:
    """Return the table of a fit for a paper: "base" or "all" parameters, or "links"."""
    if which == "links":
        table: Table = fit.links.table()
        return table
    units = fit.robot.parameter_units
    if which == "base":
        names, values, std = fit.base.names, fit.base_values, fit.base_std
        units = [units[column] for column in fit.base.columns]
    else:
        names, values, std = fit.parameter_names, fit.parameters, fit.parameters_std
    rows = tuple(
        (name, *value_and_deviation(float(x), float(s)), unit)
        for name, x, s, unit in zip(names, values, std, units, strict=True)
    )
    columns = (
        Column("parameter", numeric=False),
        Column("value"),
        Column("std"),
        Column("unit", numeric=False),
    )
    title = "Base parameters" if which == "base" else "Parameters"
    return Table(f"{title} of {fit.robot.name}", columns, rows)


def value_and_deviation(value: float, std: float) -> tuple[str, str]:
    """Return a value and one standard deviation as text; "-" for one that is not shown."""
    return with_uncertainty(value, std) if 0 < std < float("inf") else (short(value), "-")


def fit_card(fit: Any) -> str:
    """Return a fit as HTML for notebooks: verdict, reasons, and tables of joints and links."""
    tables = (fit.verdict.table(), fit.validation.table(), fit.links.table())
    return card(str(fit.verdict), repr(fit), tables, (*fit.verdict.lines, *fit.status))


def fit_line(fit: Any) -> str:
    """Return a fit in one line."""
    return (
        f"Fit({fit.robot.name!r}, {fit.options.estimator.name}: rank {fit.rank} of"
        f" {fit.base.n_base} base parameters, {len(fit.validation.t)} samples, total relative error"
        f" {fit.total_relative_error:.2%})"
    )
