"""Random perturbation of a robot's parameters that keeps them physically consistent."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..errors import CallError, require_robot
from ..floating_point import default_errstate
from ..parameters.pseudo_inertia import from_pseudo_inertia, pseudo_inertia
from ..robot import Robot

Array = NDArray[np.float64]


@default_errstate
def perturbed(robot: Robot, seed: int = 0, spread: float = 0.15) -> Robot:
    """Return a robot with random parameter errors: links, rotors and friction.

    A link's pseudo-inertia P (4, 4) becomes s A P A^T, where A is an affine map of space near the
    identity and s a factor near 1, so that physical consistency is kept. `spread` is the
    standard deviation of the logarithms; joint terms get twice as much, offsets half the Coulomb
    friction. Wensing, Kim and Slotine, IEEE Robotics and Automation Letters 3 (2018), p. 60
    (pseudo-inertia).

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    seed : number that random draws start from; equal seeds give equal results.
    spread : standard deviation of the logarithms of inertial parameters [-]; joint terms get twice
        as much.

    Returns
    -------
    A `Robot`.

    Examples
    --------
    >>> sy.perturbed(sy.load("planar_2r"), seed=1).parameters[0].round(2)
    np.float64(19.7)
    """
    require_robot(robot, "perturbed")
    if not (math.isfinite(spread) and 0 <= spread <= 1):
        raise CallError(f"spread = {spread!r}; expected a number from 0 to 1, such as 0.15")
    rng = np.random.default_rng(seed)
    pi, names = robot.parameters.copy(), robot.parameter_names
    coulomb = {
        name[: -len(".Fc")]: value
        for name, value in zip(names, pi.tolist(), strict=True)
        if name.endswith(".Fc")
    }
    bodies = len(robot.tree.bodies)
    for i in range(bodies):
        pi[10 * i : 10 * i + 10] = from_pseudo_inertia(
            _deformed(pseudo_inertia(pi[10 * i : 10 * i + 10]), spread, rng)
        )
    for k in range(10 * bodies, len(pi)):
        joint, term = names[k].rsplit(".", 1)
        if term == "F0":
            pi[k] += 0.5 * coulomb.get(joint, 0.0) * rng.normal()
        else:
            pi[k] *= math.exp(2 * spread * rng.normal())
    return robot.with_parameters(pi)


def _deformed(P: Array, spread: float, rng: np.random.Generator) -> Array:
    """Return s A P A^T with A = [[G, d], [0, 1]]: G a random stretch, d a random shift."""
    stretch, shift, weight = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal()
    if P[3, 3] <= 0:
        return P
    c = P[:3, 3] / P[3, 3]
    size = math.sqrt(max(np.trace(P[:3, :3]) / P[3, 3] - c @ c, 0.0))
    A = np.eye(4)
    values, vectors = np.linalg.eigh((stretch + stretch.T) / 2)
    A[:3, :3] = (vectors * np.exp(spread * values / 2)) @ vectors.T
    A[:3, 3] = spread * size * shift
    return math.exp(spread * weight) * A @ P @ A.T
