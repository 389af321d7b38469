"""Random mechanisms with branches, fixed links, mimic joints, odd names, limits, friction and
rotors, some of each absent.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from steelyard.algebra.spatial import Pose
from steelyard.mechanism import Joint, Limits, Link, Mechanism, Mimic
from steelyard.mechanism.joint_terms import JOINT_TERMS, Terms
from steelyard.mechanism.near_integers import snapped
from tests.random_robots import random_inertia, random_pose, unit

KINDS = ("revolute", "continuous", "prismatic", "fixed")


def random_mechanism(rng: np.random.Generator, links: int = 8) -> Mechanism:
    """A mechanism as a reader would give it: snapped, so that it is what writers write."""
    results = [Link("base & <root>")]
    joints: list[Joint] = []
    for i in range(1, links):
        results.append(Link(f"link {i}", random_inertia(rng) if rng.random() < 0.8 else None))
        joints.append(random_joint(rng, i, results[int(rng.integers(i))].name, results[i].name))
    moving = [joint for joint in joints if joint.kind != "fixed"]
    if len(moving) > 2:
        tied = moving[int(rng.integers(1, len(moving)))]
        mimic = Mimic(moving[0].name, float(rng.uniform(-2, 2)), float(rng.normal()))
        # such friction belongs to the leading joint
        following = tied.terms.changed({row.key: None for row in JOINT_TERMS if row.reads})
        joints = [
            replace(joint, mimic=mimic, terms=following) if joint is tied else joint
            for joint in joints
        ]
    gravity = tuple(float(x) for x in rng.normal(size=3))
    return replace(snapped(Mechanism("näme", tuple(results), tuple(joints), gravity)), remarks=())


def random_joint(rng: np.random.Generator, i: int, parent: str, child: str) -> Joint:
    kind = KINDS[int(rng.choice(4, p=[0.4, 0.2, 0.2, 0.2]))]
    pose = random_pose(rng, quarter_turns=rng.random() < 0.5) if rng.random() < 0.9 else Pose()
    axis = tuple(float(x) for x in unit(rng.normal(size=3)))
    joint = Joint(
        f'joint "{i}"', kind, parent, child, pose, axis if rng.random() < 0.5 else (0.0, -1.0, 0.0)
    )
    if kind == "fixed":
        return joint
    return replace(joint, limits=random_limits(rng, kind), terms=random_terms(rng))


def random_limits(rng: np.random.Generator, kind: str) -> Limits:
    lower, upper = (
        sorted(float(x) for x in rng.normal(size=2))
        if kind != "continuous" and rng.random() < 0.7
        else (-math.inf, math.inf)
    )
    return Limits(lower, upper, maybe(rng, 2.0) or math.inf, maybe(rng, 50.0) or math.inf)


def random_terms(rng: np.random.Generator) -> Terms:
    rows = [row for row in JOINT_TERMS if row.linear and not row.needs]
    return Terms.of({row.key: 0.0 if rng.random() < 0.2 else maybe(rng, 0.5) for row in rows})


def maybe(rng: np.random.Generator, scale: float) -> float | None:
    return float(scale * rng.uniform(0.1, 1.0)) if rng.random() < 0.7 else None
