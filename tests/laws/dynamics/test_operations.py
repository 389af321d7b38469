"""How an algorithm is spelled decides what it costs: operation counts on real arms may fall, never rise unnoticed.

Additions, subtractions, multiplications, divisions and negations after tracing; sines and cosines apart.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.compiler.ir.program import Operand, trace
from steelyard.dynamics.aba import articulated
from steelyard.dynamics.coriolis import coriolis_matrix
from steelyard.dynamics.crba import mass_matrix
from steelyard.dynamics.customise.base_inertias import regrouped
from steelyard.dynamics.customise.canonical_frames import canonical
from steelyard.dynamics.customise.right_angles import settled
from steelyard.dynamics.forward_by_crba import composite_forward
from steelyard.dynamics.gravity import gravity_torque
from steelyard.dynamics.parametric import parameter_vector
from steelyard.dynamics.regressor import regressor
from steelyard.dynamics.rnea import newton_euler
from steelyard.mechanism.formats.urdf.read_urdf import read_urdf
from steelyard.mechanism.model import Friction
from steelyard.mechanism.near_integers import snapped
from steelyard.mechanism.reduce import reduce
from steelyard.mechanism.tree import Tree

FILES = {"ur5": "ur_description/urdf/ur5_robot.urdf", "xarm7": "xarm_description/urdf/xarm7.urdf"}
TAKES = {
    newton_euler: 3,
    mass_matrix: 1,
    composite_forward: 3,
    articulated: 3,
    coriolis_matrix: 2,
    gravity_torque: 1,
    regressor: 3,
}
AS_READ = {
    ("ur5", newton_euler): 355,
    ("ur5", mass_matrix): 185,
    ("ur5", articulated): 741,
    ("ur5", regressor): 806,
    ("xarm7", newton_euler): 858,
    ("xarm7", regressor): 1993,
}
CUSTOMISED = {
    ("ur5", newton_euler): 264,
    ("ur5", mass_matrix): 143,
    ("ur5", composite_forward): 481,
    ("ur5", articulated): 575,
    ("ur5", coriolis_matrix): 583,
    ("ur5", gravity_torque): 28,
    ("xarm7", newton_euler): 741,
    ("xarm7", mass_matrix): 655,
    ("xarm7", composite_forward): 1611,
    ("xarm7", coriolis_matrix): 2183,
}


def count(algorithm, tree: Tree) -> int:
    n, p = tree.n, len(parameter_vector(tree))
    shape = {mass_matrix: (n, n), coriolis_matrix: (n, n), regressor: (n, p)}.get(algorithm, (n,))
    inputs = [Operand(name, (n,)) for name in ("q", "qd", "third")[: TAKES[algorithm]]]
    return trace(algorithm.__name__, lambda *arrays: algorithm(tree, *arrays), inputs, [Operand("out", shape)]).operations


@pytest.fixture(params=FILES)
def arm(request, example_robots) -> tuple[str, Tree]:
    """An arm without the friction that its file happens to give."""
    path = example_robots / FILES[request.param]
    tree = settled(reduce(snapped(read_urdf(path.read_text(encoding="utf-8"), str(path)))))
    return request.param, replace(tree, friction=(Friction(),) * tree.n)


def check(name: str, tree: Tree, pinned: dict) -> None:
    counts = {algorithm.__name__: count(algorithm, tree) for robot, algorithm in pinned if robot == name}
    limits = {algorithm.__name__: limit for (robot, algorithm), limit in pinned.items() if robot == name}
    assert all(counts[key] <= limits[key] for key in limits), f"counted {counts}, pinned {limits}"


def test_as_read(arm):
    check(*arm, AS_READ)


def test_in_canonical_frames_with_regrouped_inertias(arm):
    name, tree = arm
    check(name, regrouped(canonical(tree)), CUSTOMISED)


def test_a_count_that_rises_is_noticed(arm):
    name, tree = arm
    with pytest.raises(AssertionError, match="counted"):
        check(name, tree, {(name, newton_euler): 100})
