"""A joint term is one row of one table.

With a row added to a copy of the package, everything that uses terms has it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.house.sources import PACKAGE

ROWS = """
    JointTerm("cubic", "F3", "cubic friction", ("N m s3/rad3", "N s3/m3"), "F_{3}",
              lambda v, s: s.qd * s.qd * s.qd, lambda k: k**4),
    JointTerm("ripple", "Fr", "load ripple", ("1", "1"), "F_{r}",
              lambda v, s: s.load * scalar.sin(s.q), abs, reads=("q", "load")),
"""
SCRIPT = """
import pathlib, sys, warnings
import numpy as np
import steelyard as sy
from steelyard.apps.show.robot import robot_summary
from steelyard.apps.show.terminal import console

warnings.simplefilter("ignore", sy.SteelyardWarning)
folder = pathlib.Path(sys.argv[1])
plain = sy.load("planar_2r").with_friction(viscous=1.0)
robot = plain.with_friction(cubic=[2.0, 3.0], ripple=0.5).with_rotors(0.1)
names = [n for n in robot.parameter_names if n.startswith("joint2")]
assert names == ["joint2.Ia", "joint2.Fv", "joint2.F3", "joint2.Fr"]
assert dict(zip(robot.parameter_names, robot.parameter_units))["joint1.F3"] == "N m s3/rad3"

rng = np.random.default_rng(0)
q, qd, qdd = rng.uniform(0.3, 1.0, (3, 7, 2))
tau = robot.inverse_dynamics(q, qd, qdd)
expected = plain.inverse_dynamics(q, qd, qdd) + 0.1 * qdd + [2.0, 3.0] * qd**3
expected += 0.5 * plain.gravity_torque(q) * np.sin(q)
np.testing.assert_allclose(tau, expected, rtol=1e-12)
np.testing.assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, rtol=1e-9)
np.testing.assert_allclose(robot.regressor(q, qd, qdd) @ robot.parameters, tau, rtol=1e-12)
h = 1e-6
for k, e in enumerate(np.eye(2)):
    for place, found in enumerate(robot.inverse_dynamics_derivatives(q, qd, qdd)[:2]):
        up, down = ([x + s * h * e * (i == place) for i, x in enumerate((q, qd))] for s in (1, -1))
        ends = (robot.inverse_dynamics(*state, qdd) for state in (up, down))
        derivative = np.subtract(*ends) / (2 * h)
        np.testing.assert_allclose(found[..., k], derivative, rtol=1e-6, atol=1e-6)

for suffix, write in (("toml", robot.to_toml), ("urdf", robot.to_urdf)):
    write(folder / f"robot.{suffix}")
    assert sy.load(folder / f"robot.{suffix}").tree.terms == robot.tree.terms, suffix
header, _ = robot.to_c(folder / "c")
assert "joint1.F3 = 2 N m s3/rad3" in header.read_text()
assert {"F_31", "F_r2"} <= {str(s) for s in robot.symbolic().symbols}
with (out := console()).capture() as shown:
    out.print(robot_summary(robot))
assert "F3 cubic friction" in " ".join(shown.get().split())
try:
    robot.friction_torque(qd)
except sy.CallError as error:
    assert "joint1.Fr" in str(error)
else:
    raise AssertionError("friction that depends on the position needs it")

from steelyard.apps.completions import friction_terms
from steelyard.apps.table_words import friction_words
from steelyard.reporting.saved_fit import SavedFit, saved_fit
assert friction_terms("cub") == ["cubic"] and "cubic" in friction_words()
true = plain.with_friction(cubic=[2.0, 3.0])
m = sy.excite(plain, seconds=4, starts=1).sample(rate=100)
tau = true.inverse_dynamics(m.q, m.qd, m.qdd)
log = sy.Log(t=m.t, q=m.q, qd=m.qd, qdd=m.qdd, tau=tau, joint_names=plain.joint_names)
fixed = {"diagnose": False, "delay": 0, "smoothing": None, "decimate": 1}
fit = sy.identify(plain, log, "wls", friction=["viscous", "cubic"], **fixed)
values = dict(zip(fit.robot.parameter_names, fit.parameters))
np.testing.assert_allclose([values["joint1.F3"], values["joint2.F3"]], [2.0, 3.0], rtol=1e-6)
fit.to_json(folder / "fit.json")
assert saved_fit(folder / "fit.json").parameter_names == SavedFit.of(fit).parameter_names
assert "joint2.F3" in SavedFit.of(fit).parameter_names
sy.report(fit, folder / "report.html")
assert "F3" in (folder / "report.html").read_text(encoding="utf-8")
described = sy.identify(robot, log, "wls", **fixed)
terms = "Friction: viscous, Coulomb and offset, and cubic, ripple as described;"
assert any(note.startswith(terms) for note in described.status), described.status
print("one row was enough")
"""


def test_a_row_is_all_that_a_new_term_needs(tmp_path: Path) -> None:
    shutil.copytree(
        PACKAGE, tmp_path / "src" / "steelyard", ignore=shutil.ignore_patterns("__pycache__")
    )
    table = tmp_path / "src" / "steelyard" / "mechanism" / "joint_terms.py"
    text = table.read_text(encoding="utf-8")
    before = "    *_RIPPLE,\n"
    assert text.count(before) == 1
    table.write_text(text.replace(before, before + ROWS.lstrip("\n")), encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "src"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "one row was enough" in run.stdout
