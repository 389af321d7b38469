"""Rotors that spin on moving bodies, against robots in which every rotor is a body of its own, tied by its gear ratio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.algebra.spatial import Inertia, Pose
from steelyard.algebra.vector import IDENTITY, ZERO, Symmetric
from steelyard.compiler.ir.graph import flatten
from steelyard.dynamics.aba import articulated
from steelyard.dynamics.coriolis import coriolis_matrix
from steelyard.dynamics.crba import mass_matrix
from steelyard.dynamics.customise.base_inertias import regrouped
from steelyard.dynamics.customise.canonical_frames import canonical
from steelyard.dynamics.energy import kinetic_energy
from steelyard.dynamics.forward_by_crba import composite_forward
from steelyard.dynamics.momentum import momentum
from steelyard.dynamics.regressor import regressor
from steelyard.dynamics.rnea import inverse_dynamics
from steelyard.errors import ModelError
from steelyard.mechanism.parameter_vector import parameters
from steelyard.mechanism.tree import Body, Gear, Tree
from tests.random_robots import BATCH, random_state, random_tree, unit

SEEDS = range(12)


def geared(seed: int) -> tuple[Tree, Tree]:
    """A random tree with rotors, and the same with rotors as bodies: (gears, explicit)."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, bodies=5, tied=seed % 3 == 0)
    armature = tuple(float(x) for x in rng.uniform(0.2, 2.0, tree.n))
    gears, rotors = [], []
    bodies = list(tree.bodies)
    for i, body in enumerate(tree.bodies):
        leads = body.multiplier == 1.0 and body.offset == 0.0 and not any(g.coordinate == body.coordinate for g in gears)
        if leads:
            mount = body.parent if rng.random() < 0.7 or body.parent < 0 else tree.bodies[body.parent].parent
            axis = tuple(float(x) for x in unit(rng.normal(size=3)))
            ratio = float(rng.choice([-1.0, 1.0]) * rng.uniform(2.0, 120.0))
            gears.append(Gear(body.coordinate, mount, ratio, axis))
            rotors.append(rotor_body(i, gears[-1], armature[body.coordinate] / ratio**2))
    free = tuple(None if any(g.coordinate == c for g in gears) else a for c, a in enumerate(armature))
    for rotor, gear in zip(rotors, gears, strict=True):
        if gear.mount >= 0:  # the augmented link holds the rotor as if it were locked; the explicit one does not
            own = bodies[gear.mount]
            bodies[gear.mount] = replace(own, inertia=own.inertia + negative(rotor.inertia))
    with_gears = replace(tree, armature=armature, gears=tuple(gears))
    return with_gears, replace(tree, bodies=(*bodies, *rotors), armature=free)


def rotor_body(i: int, gear: Gear, inertia: float) -> Body:
    x, y, z = gear.axis
    I = Symmetric(*(inertia * v for v in (x * x, x * y, x * z, y * y, y * z, z * z)))  # noqa: E741
    body = Inertia(0.0, ZERO, I)
    return Body(f"rotor{i}", f"motor{i}", gear.mount, "revolute", Pose(IDENTITY, ZERO), gear.axis, body, gear.coordinate, gear.ratio)


def negative(inertia: Inertia) -> Inertia:
    return Inertia(-inertia.m, ZERO, Symmetric(*(-x for x in inertia.I)))


def close(a: object, b: object) -> None:
    a, b = (np.array([np.broadcast_to(v, BATCH) for v in flatten(x)], dtype=float) for x in (a, b))
    assert np.abs(a - b).max() <= 1e-9 * max(np.abs(b).max(), 1.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_gears_equal_rotors_as_bodies(seed: int) -> None:
    """Lecture "Newton-Euler formulation", augmented link: algorithms 1 (line 11) and 2 (lines 8 and 9)."""
    gears, explicit = geared(seed)
    q, qd, qdd = (list(x) for x in random_state(np.random.default_rng(seed), gears))
    tau = inverse_dynamics(gears, q, qd, qdd)
    close(tau, inverse_dynamics(explicit, q, qd, qdd))
    close(mass_matrix(gears, q), mass_matrix(explicit, q))
    close(coriolis_matrix(gears, q, qd), coriolis_matrix(explicit, q, qd))
    close(momentum(gears, q, qd), momentum(explicit, q, qd))
    close([kinetic_energy(gears, q, qd)], [kinetic_energy(explicit, q, qd)])
    close(composite_forward(gears, q, qd, tau), qdd)


@pytest.mark.parametrize("seed", SEEDS)
def test_regressor_has_the_columns_of_the_rotors(seed: int) -> None:
    gears, _ = geared(seed)
    q, qd, qdd = (list(x) for x in random_state(np.random.default_rng(seed), gears))
    pi = parameters(gears)
    close([sum(y * p for y, p in zip(row, pi, strict=True)) for row in regressor(gears, q, qd, qdd)], inverse_dynamics(gears, q, qd, qdd))


@pytest.mark.parametrize("seed", SEEDS)
def test_customised_gears_give_the_same_torques(seed: int) -> None:
    gears, _ = geared(seed)
    q, qd, qdd = (list(x) for x in random_state(np.random.default_rng(seed), gears))
    close(inverse_dynamics(regrouped(canonical(gears)), q, qd, qdd), inverse_dynamics(gears, q, qd, qdd))


def test_the_seeds_cover_rotors_on_moving_bodies() -> None:
    """Most random robots couple; without this the laws above could hold for want of a case."""
    assert sum(any(g.mount >= 0 for g in geared(seed)[0].gears) for seed in SEEDS) >= 8


def test_articulated_bodies_refuse_coupled_rotors() -> None:
    gears = next(g for g in (geared(seed)[0] for seed in SEEDS if seed % 3) if any(gear.mount >= 0 for gear in g.gears))
    with pytest.raises(ModelError, match="composite_forward"):
        articulated(gears, *random_state(np.random.default_rng(0), gears))
