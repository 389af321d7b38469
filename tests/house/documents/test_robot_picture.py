"""The robot's picture as SVG.

Where things are on the paper follows from where they are in space.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.drawing.skeleton_svg import Camera

SVG = "{http://www.w3.org/2000/svg}"


def parts(text: str, tag: str, kind: str) -> list[ET.Element]:
    return [each for each in ET.fromstring(text).iter(SVG + tag) if each.get("class") == kind]


@pytest.mark.parametrize("name", ["planar_2r", "planar_rp", "puma560", "delta"])
def test_a_picture_has_every_link_joint_mass_and_name(name: str) -> None:
    robot = sy.load(name)
    text = robot.picture()
    bodies = robot.tree.bodies
    assert len(parts(text, "polygon", "sk-cap")) == len(bodies)
    assert len(parts(text, "circle", "sk-mass")) == sum(body.inertia.m > 0 for body in bodies)
    named = [each.text for each in parts(text, "text", "sk-name")]
    assert {body.joint for body in bodies} <= set(named)
    assert "matplotlib" not in text
    assert "NaN" not in text
    assert "nan" not in re.sub(r"<title>.*?</title>", "", text)


def test_links_are_where_forward_kinematics_puts_them() -> None:
    robot = sy.load("planar_2r")
    q = np.array([0.4, 0.7])
    text = robot.picture(q)
    shown = robot._skeletons("picture", q, None)
    camera = Camera(shown)
    tip = camera(robot.forward_kinematics(q)[:3, 3])
    ends = [
        (float(line.get(f"x{k}") or 0), float(line.get(f"y{k}") or 0))
        for line in parts(text, "line", "sk-tube")
        for k in (1, 2)
    ]
    assert np.min(np.linalg.norm(np.array(ends) - tip, axis=1)) < 0.1


def test_everything_is_inside_the_picture() -> None:
    for robot in (sy.load("puma560"), sy.load("stewart"), sy.load("delta")):
        text = robot.picture()
        _, _, width, height = map(float, str(ET.fromstring(text).get("viewBox")).split())
        for each in ET.fromstring(text).iter():
            for key in ("x", "x1", "x2", "cx"):
                assert 0 <= float(each.get(key, 1)) <= width
            for key in ("y", "y1", "y2", "cy"):
                assert 0 <= float(each.get(key, 1)) <= height
        levels = sorted(
            float(str(each.get("y")))
            for each in parts(text, "text", "sk-name")
            if each.get("font-size") is None
        )
        assert np.all(np.diff(levels) > 12), "names do not cover each other"


def test_ghosts_are_faint_and_the_last_position_is_whole() -> None:
    robot = sy.load("puma560")
    several = robot.picture(np.array([np.full(6, 0.2), np.full(6, -0.2), np.zeros(6)]))
    links = len(parts(robot.picture(np.zeros(6)), "line", "sk-tube"))
    assert len(parts(several, "line", "sk-ghost")) == 2 * links
    assert len(parts(several, "line", "sk-tube")) == links


def test_names_are_text_and_not_markup() -> None:
    described = sy.load("planar_2r").mechanism
    joints = tuple(replace(joint, name=f"<b>{joint.name}&") for joint in described.joints)
    text = sy.Robot(replace(described, name='a "<robot>"', joints=joints)).picture()
    assert ET.fromstring(text).get("aria-label") == 'a "<robot>"'
    assert {"<b>joint1&", "<b>joint2&"} <= {each.text for each in parts(text, "text", "sk-name")}


def test_bad_positions_are_named() -> None:
    robot = sy.load("planar_2r")
    with pytest.raises(sy.CallError, match=r"picture: q must be \(2,\)"):
        robot.picture([0.0, 1.0, 2.0])
    with pytest.raises(sy.CallError, match="picture: q must be finite"):
        robot.picture([0.0, np.nan])
    with pytest.raises(sy.CallError, match="hand"):
        robot.picture(frames=("hand",))


def test_no_plotting_library_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert sy.load("planar_2r").picture().startswith("<svg")
