"""How an algorithm is spelled decides what it costs.

Operation counts on real arms may fall, never rise unnoticed.

Additions, subtractions, multiplications, divisions and negations after tracing; sines and cosines
apart.
"""

from __future__ import annotations

import pytest

from steelyard.compiler.ir.program import Operand, trace
from steelyard.dynamics.coriolis import coriolis_matrix
from steelyard.dynamics.crba import mass_matrix
from steelyard.dynamics.customise.base_inertias import with_base_inertias
from steelyard.dynamics.customise.canonical_frames import in_canonical_frames
from steelyard.dynamics.customise.right_angles import with_right_angles
from steelyard.dynamics.forward.aba import aba
from steelyard.dynamics.forward.by_crba import forward_by_crba
from steelyard.dynamics.gravity import gravity_torque
from steelyard.dynamics.regressor import regressor
from steelyard.dynamics.rnea import rnea
from steelyard.mechanism.formats.urdf.read_urdf import read_urdf
from steelyard.mechanism.near_integers import snapped
from steelyard.mechanism.parameter_vector import parameters
from steelyard.mechanism.reduce import reduce
from steelyard.mechanism.tree import Tree

FILES = {"ur5": "ur_description/urdf/ur5_robot.urdf", "xarm7": "xarm_description/urdf/xarm7.urdf"}
TAKES = {
    rnea: 3,
    mass_matrix: 1,
    forward_by_crba: 3,
    aba: 3,
    coriolis_matrix: 2,
    gravity_torque: 1,
    regressor: 3,
}
AS_READ = {
    ("ur5", rnea): 355,
    ("ur5", mass_matrix): 185,
    ("ur5", aba): 741,
    ("ur5", regressor): 806,
    ("xarm7", rnea): 858,
    ("xarm7", regressor): 1993,
}
CUSTOMISED = {
    ("ur5", rnea): 264,
    ("ur5", mass_matrix): 143,
    ("ur5", forward_by_crba): 481,
    ("ur5", aba): 575,
    ("ur5", coriolis_matrix): 583,
    ("ur5", gravity_torque): 28,
    ("xarm7", rnea): 741,
    ("xarm7", mass_matrix): 655,
    ("xarm7", forward_by_crba): 1611,
    ("xarm7", coriolis_matrix): 2183,
}


def count(algorithm, tree: Tree) -> int:
    n, p = tree.n, len(parameters(tree))
    shape = {mass_matrix: (n, n), coriolis_matrix: (n, n), regressor: (n, p)}.get(algorithm, (n,))
    inputs = [Operand(name, (n,)) for name in ("q", "qd", "third")[: TAKES[algorithm]]]
    return trace(
        algorithm.__name__,
        lambda *arrays: algorithm(tree, *arrays),
        inputs,
        [Operand("out", shape)],
    ).operations


@pytest.fixture(params=FILES)
def arm(request, example_robots) -> tuple[str, Tree]:
    """An arm without the friction that its file happens to give."""
    path = example_robots / FILES[request.param]
    tree = with_right_angles(
        reduce(snapped(read_urdf(path.read_text(encoding="utf-8"), str(path))))
    )
    return request.param, tree.without_friction()


def check(name: str, tree: Tree, pinned: dict) -> None:
    counts = {
        algorithm.__name__: count(algorithm, tree) for robot, algorithm in pinned if robot == name
    }
    limits = {
        algorithm.__name__: limit for (robot, algorithm), limit in pinned.items() if robot == name
    }
    assert all(counts[key] <= limits[key] for key in limits), f"counted {counts}, pinned {limits}"


def test_as_read(arm):
    check(*arm, AS_READ)


def test_in_canonical_frames_with_regrouped_inertias(arm):
    name, tree = arm
    check(name, with_base_inertias(in_canonical_frames(tree)), CUSTOMISED)


def test_a_count_that_rises_is_noticed(arm):
    name, tree = arm
    with pytest.raises(AssertionError, match="counted"):
        check(name, tree, {(name, rnea): 100})
