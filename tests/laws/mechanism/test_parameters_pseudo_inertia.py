"""The pseudo-inertia says which bodies are physically consistent."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import CallError
from steelyard.mechanism.check import is_physical
from steelyard.parameters import reorder
from steelyard.parameters.orders import CONVENTIONS
from steelyard.parameters.pseudo_inertia import (
    from_pseudo_inertia,
    is_consistent,
    nearest_consistent,
    pseudo_inertia,
)
from tests.random_robots import random_inertia


def cloud(rng, count=6):
    """Masses at points, their ten parameters by definition."""
    x, m = rng.normal(size=(count, 3)), rng.uniform(0.1, 2, count)
    second = np.einsum("k,ki,kj->ij", m, x, x)
    I = np.trace(second) * np.eye(3) - second  # noqa: E741
    return x, m, np.array([m.sum(), *(m @ x), I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]])


def test_it_is_the_second_moment_of_the_mass(rng):
    x, m, pi = cloud(rng)
    points = np.column_stack([x, np.ones(len(m))])
    assert np.allclose(pseudo_inertia(pi), np.einsum("k,ki,kj->ij", m, points, points))
    assert np.allclose(from_pseudo_inertia(pseudo_inertia(pi)), pi)
    assert is_consistent(pi)


def test_batches_come_back_in_shape(rng):
    pi = rng.normal(size=(2, 5, 10))
    assert pseudo_inertia(pi).shape == (2, 5, 4, 4)
    assert np.allclose(from_pseudo_inertia(pseudo_inertia(pi)), pi)
    assert is_consistent(pi).shape == (2, 5)


def test_the_nearest_consistent_is_consistent_and_leaves_real_bodies_alone(rng):
    real = cloud(rng)[2]
    assert np.allclose(nearest_consistent(real), real)
    wild = rng.normal(size=(50, 10))
    near = nearest_consistent(wild)
    assert np.all(is_consistent(near))
    assert np.allclose(nearest_consistent(near), near)


def test_two_definitions_of_a_real_body_agree():
    from steelyard.algebra.spatial import Inertia
    from steelyard.algebra.vector import Symmetric

    rng = np.random.default_rng(5)
    for _ in range(200):
        inertia = random_inertia(rng)
        pi = np.array([inertia.m, *inertia.h, *inertia.I]) + rng.normal(size=10) * 0.3
        body = Inertia(float(pi[0]), tuple(map(float, pi[1:4])), Symmetric(*map(float, pi[4:])))
        assert bool(is_consistent(pi)) == is_physical(body)


@pytest.mark.parametrize("source", CONVENTIONS)
@pytest.mark.parametrize("target", CONVENTIONS)
def test_every_order_converts_to_every_other_and_back(rng, source, target):
    pi = reorder(cloud(rng)[2], "steelyard", source)
    assert np.allclose(reorder(reorder(pi, source, target), target, source), pi)


def test_the_orders_are_those_they_are_named_after(rng):
    pi = cloud(rng)[2]
    m, x, y, z, xx, xy, xz, yy, yz, zz = pi
    assert np.allclose(reorder(pi, "steelyard", "lecture"), [m, x, y, z, xx, -xy, -xz, yy, -yz, zz])
    assert np.allclose(reorder(pi, "steelyard", "structure"), [m, x, y, z, xx, yy, zz, yz, xz, xy])
    assert np.allclose(reorder(pi, "steelyard", "pinocchio"), [m, x, y, z, xx, xy, yy, xz, yz, zz])
    assert np.allclose(reorder(pi, "steelyard", "urdf")[:4], [m, x / m, y / m, z / m])


def test_pinocchio_agrees(rng):
    import pinocchio as pin

    pi = cloud(rng)[2]
    urdf = reorder(pi, "steelyard", "urdf")
    I = np.array(  # noqa: E741
        [[urdf[4], urdf[5], urdf[6]], [urdf[5], urdf[7], urdf[8]], [urdf[6], urdf[8], urdf[9]]]
    )
    dynamic = pin.Inertia(urdf[0], urdf[1:4], I).toDynamicParameters()
    assert np.allclose(dynamic, reorder(pi, "steelyard", "pinocchio"))


def test_bad_calls_are_refused():
    with pytest.raises(CallError, match="ten parameters"):
        pseudo_inertia(np.zeros(9))
    with pytest.raises(CallError, match="did you mean 'pinocchio'"):
        reorder(np.ones(10), "pinochio")
    with pytest.raises(CallError, match="without mass"):
        reorder(np.zeros(10), "steelyard", "urdf")
