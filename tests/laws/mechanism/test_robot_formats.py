"""The robot files on the page of formats can be loaded, and say what the page says of them."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.mechanism.joint_terms import FRICTION
from tests.house.sources import ROOT

PAGE = (ROOT / "docs" / "formats" / "robots.md").read_text(encoding="utf-8")
FILES = {
    re.search(r'name = "(\w+)"', text)[1]: text
    for text in re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
}  # type: ignore[index]


@pytest.fixture
def robots(tmp_path: Path) -> dict[str, sy.Robot]:
    results = {}
    for name, text in FILES.items():
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
        results[name] = sy.load(tmp_path / f"{name}.toml")
    return results


def test_the_files_of_the_page_mean_what_it_says(
    robots: dict[str, sy.Robot], tmp_path: Path
) -> None:
    assert set(robots) == {"two_links", "gate", "crank_and_slide"}
    two, gate, crank = robots["two_links"], robots["gate"], robots["crank_and_slide"]
    assert two.joint_names == ("shoulder", "elbow")
    assert two.mechanism.joint("elbow").limits.velocity == pytest.approx(math.pi)
    named = dict(zip(two.parameter_names, two.parameters, strict=True))
    assert (named["shoulder.Ia"], named["elbow.Ia"], named["shoulder.Fv"]) == pytest.approx(
        (1.0, 0.3, 0.1)
    )
    np.testing.assert_allclose(
        two.forward_kinematics([0.0, 0.0])[:3, 3], [1.0, 0.8, 0.5], atol=1e-12
    )
    assert gate.end_effector == "tip"
    assert gate.friction_torque([0.0], [math.pi / 2])[0] == pytest.approx(12.0)
    assert crank.driven_joints == ("crank",)
    np.testing.assert_allclose(crank.closure([0.0, 0.0]), 0.0, atol=1e-12)
    for robot in robots.values():
        robot.to_toml(tmp_path / "again.toml", overwrite=True)
        assert sy.load(tmp_path / "again.toml") == robot


def test_the_panda_of_the_tutorials_stands_where_its_data_sheet_says() -> None:
    panda = sy.load(ROOT / "docs" / "formats" / "panda.toml")
    pose = panda.forward_kinematics(
        [0, -math.pi / 4, 0, -3 * math.pi / 4, 0, math.pi / 2, math.pi / 4]
    )
    np.testing.assert_allclose(pose[:3, 3], [0.30689, 0.0, 0.590282], atol=1e-5)


def test_a_key_that_the_page_does_not_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text(FILES["two_links"].replace("theta = 90", "thetta = 90"), encoding="utf-8")
    with pytest.raises(sy.ModelError, match=r"unknown key 'thetta'; did you mean 'theta'"):
        sy.load(path)


def test_every_friction_term_is_named_on_the_page_that_the_table_refers_to() -> None:
    notation = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    assert not [
        row.key
        for row in FRICTION
        if f"`{row.key}`" not in notation and not row.key.startswith(("sine", "cosine"))
    ]
