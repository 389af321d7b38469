"""Prior knowledge that a user states: a Gaussian prior of parameters, and linear equalities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arguments import numbers, real_number, short_repr
from ...errors import CallError, suggest

Array = NDArray[np.float64]
PRIOR = "parameter_prior"
EQUALITIES = "constraints"
PRIOR_FORM = "{'link3.m': (mean, std)}, or a mean (p,) and a covariance (p, p)"
EQUALITY_FORM = "({'link2.m': 1, 'link3.m': 1}, 9.5), several of them, or A (k, p) and b (k,)"


@dataclass(frozen=True, eq=False)
class NamedRows:
    """Rows (k, m) over named parameters with targets (k,): rows pi = target."""

    names: tuple[str, ...]
    rows: Array
    target: Array

    def over(self, names: Sequence[str]) -> Array:
        """Return the rows over all parameters of a model, (k, p)."""
        every = np.zeros((len(self.rows), len(names)))
        where = {name: i for i, name in enumerate(names)}
        every[:, [where[name] for name in self.names]] = self.rows
        return every


def prior_rows_of(prior: Any, robot: Sequence[str], model: Sequence[str]) -> NamedRows | None:
    """Return the rows of a Gaussian prior, in units of its standard deviations; None for none.

    Parameters
    ----------
    prior : name -> (mean, std), or mean (p,) and covariance (p, p) of the robot's parameters
    robot : parameter names of the robot as given
    model : parameter names of the model
    """
    if prior is None:
        return None
    if isinstance(prior, Mapping):
        pairs = {name: pair_of(name, value) for name, value in prior.items()}
        names = known_names(PRIOR, tuple(pairs), model)
        mean, std = (np.array([pairs[name][k] for name in names]) for k in (0, 1))
        return NamedRows(names, np.diag(1.0 / std), mean / std)
    mean, covariance = matrices(PRIOR, prior, PRIOR_FORM)
    if mean.shape != (len(robot),) or covariance.shape != (len(robot), len(robot)):
        raise wrong_form(PRIOR, PRIOR_FORM, f"p = {len(robot)} parameters, found {mean.shape}")
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    if not np.allclose(covariance, covariance.T) or values[0] <= 0:
        raise CallError(f"{PRIOR}: the covariance is not positive definite", argument=PRIOR)
    root = (vectors / np.sqrt(values)).T
    return NamedRows(known_names(PRIOR, tuple(robot), model), root, root @ mean)


def equality_rows_of(value: Any, robot: Sequence[str], model: Sequence[str]) -> NamedRows | None:
    """Return the rows of linear equalities A pi = b; None without any.

    Parameters
    ----------
    value : (name -> coefficient, value), several of them, or A (k, p) and b (k,)
    robot : parameter names of the robot as given
    model : parameter names of the model
    """
    if value is None or (isinstance(value, Sequence) and len(value) == 0):
        return None
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise wrong_form(EQUALITIES, EQUALITY_FORM, short_repr(value))
    if isinstance(value[0], Mapping):
        return equality_rows_of([value], robot, model)
    if not (isinstance(value[0], Sequence) and value[0] and isinstance(value[0][0], Mapping)):
        A, b = matrices(EQUALITIES, value, EQUALITY_FORM)
        if A.ndim != 2 or A.shape != (*b.shape, len(robot)):
            raise wrong_form(EQUALITIES, EQUALITY_FORM, f"p = {len(robot)}, found {A.shape}")
        return NamedRows(known_names(EQUALITIES, tuple(robot), model), A, b)
    names = tuple(dict.fromkeys(name for row in value for name in equality_of(row)[0]))
    known_names(EQUALITIES, names, model)
    rows, target = np.zeros((len(value), len(names))), np.zeros(len(value))
    for k, row in enumerate(value):
        coefficients, target[k] = equality_of(row)
        for name, factor in coefficients.items():
            rows[k, names.index(name)] = factor
    return NamedRows(names, rows, target)


def equality_of(row: Any) -> tuple[dict[str, float], float]:
    """Return coefficients by name and the value of one equality; CallError for anything else."""
    try:
        coefficients, value = row
        items = dict(coefficients)
    except (TypeError, ValueError):
        raise wrong_form(EQUALITIES, EQUALITY_FORM, short_repr(row)) from None
    right = real_number(f"{EQUALITIES}: the value of a sum", value)
    return {
        name: real_number(f"{EQUALITIES}: the factor of {name!r}", x) for name, x in items.items()
    }, right


def pair_of(name: str, value: Any) -> tuple[float, float]:
    """Return mean and standard deviation of a parameter; CallError for anything else."""
    try:
        mean, std = value
    except (TypeError, ValueError):
        raise wrong_form(PRIOR, PRIOR_FORM, f"{name!r}: {short_repr(value)}") from None
    spread = real_number(f"{PRIOR}: the standard deviation of {name!r}", std, 0.0)
    if spread == 0:
        raise CallError(
            f"{PRIOR}: the standard deviation of {name!r} is 0; hold={{{name!r}: {mean}}} fixes it",
            argument=PRIOR,
        )
    return real_number(f"{PRIOR}: the mean of {name!r}", mean), spread


def matrices(what: str, value: Any, form: str) -> tuple[Array, Array]:
    """Return two arrays of finite numbers; CallError for anything else."""
    try:
        one, other = value
    except (TypeError, ValueError):
        raise wrong_form(what, form, short_repr(value)) from None
    return numbers(what, one), numbers(what, other)


def known_names(what: str, names: tuple[str, ...], model: Sequence[str]) -> tuple[str, ...]:
    """Return names of parameters; CallError for one that the model does not have."""
    for name in names:
        if name not in model:
            raise CallError(
                f"{what}: no parameter is called {name!r}; {suggest(str(name), model)}",
                argument=what,
            )
    return names


def wrong_form(what: str, form: str, shown: str) -> CallError:
    """Return the error for a value that cannot be read."""
    return CallError(f"{what} must be {form}; {shown}", argument=what)


@dataclass(frozen=True, eq=False)
class BaseEqualities:
    """Base parameters that equalities leave: base = origin + N y, N (b, k) orthonormal."""

    origin: Array
    N: Array

    def reduced(self, triangle: Array) -> Array:
        """Return the factor of [Y N, tau - Y origin] from the factor (b + 1, b + 1) of [Y tau]."""
        right = triangle[:, -1] - triangle[:, :-1] @ self.origin
        R = np.linalg.qr(np.column_stack([triangle[:, :-1] @ self.N, right]), mode="r")
        return np.asarray(R)


def base_equalities(rows: Array, target: Array, base_matrix: Array) -> BaseEqualities | None:
    """Return the equalities rows pi = target (k, p) as far as base parameters show them.

    `base_matrix` (b, p) has base = base_matrix pi. A row is shown if it is a combination of its
    rows; None if no row is.
    """
    C = np.linalg.lstsq(base_matrix.T, rows.T, rcond=None)[0].T
    gap = np.linalg.norm(C @ base_matrix - rows, axis=1)
    shown = gap <= 1e-8 * np.maximum(np.linalg.norm(rows, axis=1), 1e-300)
    if not shown.any():
        return None
    origin = np.linalg.pinv(C[shown]) @ target[shown]
    _, values, Vt = np.linalg.svd(C[shown])
    rank = int(np.sum(values > 1e-10 * max(float(values[0]), 1e-300)))
    return BaseEqualities(origin, Vt[rank:].T)
