"""What a robot's description lacks or cannot be, in sentences: inertias that no body has, links without mass, joints without friction."""

from __future__ import annotations

from ..kernels.massless import massless_joints
from ..mechanism.check import is_physical
from ..robot import Robot


def findings(robot: Robot) -> tuple[str, ...]:
    """One sentence per finding; none where every link is a real body and every joint has what a drive has."""
    return (*_bodies(robot), *_missing(robot), *_singular(robot))


def _bodies(robot: Robot) -> list[str]:
    """Links whose pseudo-inertia is not positive semidefinite. Wensing, Kim and Slotine 2018, theorem 1."""
    links = [link for link in robot.mechanism.links if link.inertia is not None and not is_physical(link.inertia)]
    return [
        f"link '{link.name}' has an inertia that no real body has: its torques may be right, its simulation cannot be" for link in links
    ]


def _missing(robot: Robot) -> list[str]:
    sentences = []
    bare = [body.name for body in robot.tree.bodies if robot.mechanism.link(body.name).inertia is None]
    if bare:
        sentences.append(f"{len(bare)} moving links have no inertial: {', '.join(bare)}")
    rubbing = {use.owner for use in robot.tree.joint_terms if not use.row.inertial and use.value}
    idle = [name for name in robot.joint_names if name not in rubbing]
    if idle:
        sentences.append(f"{len(idle)} of {robot.n} joints have no friction: {', '.join(idle)}")
    return sentences


def _singular(robot: Robot) -> list[str]:
    joints = massless_joints(robot.tree)
    if not joints:
        return []
    return [f"joints that move no mass: {', '.join(joints)}; the mass matrix is singular, forward dynamics and its derivatives are refused"]
