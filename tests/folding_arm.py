"""A flat arm of three links whose last can fold onto its first, as URDF with collision shapes of
every kind.
"""

from __future__ import annotations

from pathlib import Path

import steelyard as sy

LINK = """<link name="{name}"><inertial><origin xyz="0.2 0 0"/><mass value="{mass}"/>
<inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial>{shape}</link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{at} 0 0"/>
<axis xyz="0 1 0"/><limit lower="{lower}" upper="2.9" velocity="4" effort="{effort}"/></joint>"""
BOX = (
    '<collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.06 0.06"/></geometry></collision>'
)
CYLINDER = (
    '<collision><origin xyz="0.2 0 0" rpy="0 1.5707963267948966 0"/><geometry><cylinder'
    ' radius="0.03" length="0.4"/></geometry></collision>'
)
BALL = '<collision><origin xyz="0.4 0 0"/><geometry><sphere radius="0.05"/></geometry></collision>'
MESH = '<collision><geometry><mesh filename="package://arm/absent.stl"/></geometry></collision>'


def urdf(shapes: bool = True, lower: float = -2.9) -> str:
    """The text of the description; elbow and wrist bend by at least `lower` [rad]."""
    rows = [("one", 4.0, BOX), ("two", 3.0, CYLINDER), ("three", 2.0, BALL + BOX)]
    links = ['<link name="base">' + (MESH if shapes else "") + "</link>"]
    links += [
        LINK.format(name=name, mass=mass, shape=shape if shapes else "")
        for name, mass, shape in rows
    ]
    places = [
        ("shoulder", "base", "one", 0.0, 2000),
        ("elbow", "one", "two", 0.4, 1000),
        ("wrist", "two", "three", 0.4, 500),
    ]
    joints = [
        JOINT.format(name=a, parent=b, child=c, at=d, effort=e, lower=lower if d else -2.9)
        for a, b, c, d, e in places
    ]
    return f'<robot name="folding">{"".join(links + joints)}</robot>'


def folding_arm(folder: Path, shapes: bool = True, lower: float = -2.9) -> sy.Robot:
    """The arm, loaded from a file in a folder."""
    path = folder / "folding.urdf"
    path.write_text(urdf(shapes, lower))
    return sy.load(path)
