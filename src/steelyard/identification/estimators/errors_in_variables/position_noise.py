"""What the noise of positions does to the torques that a model expects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....cached import cached_property
from ....signals.filters import decimated_index
from ...model.linear_model import Model
from ...model.problem import Block, Problem
from ...samples.decimation import decimated
from ...samples.samples import Samples

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PositionNoise:
    """Covariance of the torques due to noise of the positions, for parameters pi (p,).

    d tau = J (dq, dqd, dqdd) for links and rotors, with the exact derivatives J of inverse
    dynamics. Friction, which jumps, is evaluated one standard deviation of the velocity above and
    below.
    """

    model: Model
    pi: Array

    def covariance(self, states: tuple[Array, ...], errors: Array) -> Array:
        """Return J C J^T and what friction adds, (N, n, n) [(N m)^2|N^2], at states.

        Errors (n, 3, 3) is C of each joint.
        """
        q, qd, qdd, *base = states
        moving = base[0] if base else None
        J = np.stack(
            self.model.plain.inverse_dynamics_derivatives(
                q, qd, qdd, base=moving, parameters=self._links
            ),
            axis=-1,
        )
        S = np.einsum("tajk,jkl,tbjl->tab", J, errors, J, optimize=True)
        n = range(self.model.n)
        S[:, n, n] += self.friction_variance(q, qd, np.sqrt(errors[:, 1, 1]))
        return np.asarray(S)

    def friction_variance(self, q: Array, qd: Array, sigma: Array) -> Array:
        """Return the variance (N, n) of friction under noise sigma (n,) of the velocity.

        The mean of both sides.
        """
        here = self.friction(q, qd)
        return 0.5 * (
            (self.friction(q, qd + sigma) - here) ** 2 + (self.friction(q, qd - sigma) - here) ** 2
        )

    def friction(self, q: Array, qd: Array) -> Array:
        """Return the torques (N, n) of all joint terms that are not inertial."""
        inner = 10 * len(self.model.robot.tree.bodies)
        friction_columns = [
            c for c in range(inner, len(self.pi)) if not self.model.term(c).row.inertial
        ]
        return (
            np.asarray(
                self.model.columns(q, qd, np.zeros_like(q), friction_columns)
                @ self.pi[friction_columns]
            )
            if friction_columns
            else np.zeros_like(q)
        )

    @cached_property
    def _links(self) -> Array:
        """The parameters of the plain robot, with friction set to zero."""
        inner, values = (
            10 * len(self.model.robot.tree.bodies),
            np.zeros(len(self.model.plain.parameters)),
        )
        for column, index in self.model.plain_columns.items():
            if column < inner or self.model.term(column).row.inertial:
                values[index] = self.pi[column]
        return values


def state_errors(samples: Samples, factor: int) -> Array:
    """Return the covariance (n, 3, 3) of the errors of q, qd and qdd after decimation."""
    if samples.errors is None:
        return np.zeros((samples.q.shape[1], 3, 3))
    drawn = samples.errors.transpose(1, 2, 0)
    low_passed = decimated(drawn, factor, 0, -(-len(drawn) // factor))
    return np.asarray(np.einsum("tjk,tjl->jkl", low_passed, low_passed) / len(low_passed))


def blocks_with_states(problem: Problem) -> Iterator[tuple[Block, tuple[Array, ...]]]:
    """Yield every block of a problem with the states of its kept samples."""
    indices = [decimated_index(s.t, problem.decimate) for s in problem.samples]
    done = [0] * len(indices)
    for block in problem.blocks():
        index = indices[block.log][done[block.log] : done[block.log] + len(block.t)]
        done[block.log] += len(block.t)
        yield block, tuple(x[index] for x in problem.samples[block.log].states)
