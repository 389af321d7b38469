"""Use steelyard once, with the dependencies of the core and the report.

What scripts/pythons.sh and scripts/oldest.sh run.

Import, load, single and batch calls, pickles, the disk cache, simulation, identification, the
command line and the report.
Usage: python scripts/smoke.py      in an environment with the dependencies, in a working copy
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHOWN = (
    "numpy",
    "scipy",
    "llvmlite",
    "clarabel",
    "typer",
    "click",
    "rich",
    "tomlkit",
    "threadpoolctl",
    "jinja2",
    "plotly",
)
HELP = ((), ("identify",), ("excite",), ("doctor",), ("simulate",))


def main() -> None:
    """Do everything once in its own folder; an exception names what fails."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["STEELYARD_CACHE"] = f"{folder}/cache"
        os.chdir(folder)
        calls()
        identification()
        cache()
        command_line()
    print(
        f"Python {sys.version.split()[0]}:",
        ", ".join(f"{name} {found}" for name in SHOWN if (found := installed(name))),
    )


def installed(package: str) -> str:
    """Return the version of a package; empty if it is absent."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def calls() -> None:
    """Load robots of several formats and call their methods with one state and with many."""
    import numpy as np

    import steelyard as sy

    robot = sy.load("puma560")
    q = np.full(6, 0.3)
    for _ in range(3):
        single = robot.inverse_dynamics(q, q, q)
    many = robot.inverse_dynamics(np.tile(q, (5000, 1)), q, q)
    np.testing.assert_allclose(many, np.tile(single, (5000, 1)), rtol=1e-12)
    np.testing.assert_allclose(robot.inverse_dynamics(q.tolist(), q, q), single, rtol=1e-12)
    np.testing.assert_allclose(
        robot.regressor(q, q, q) @ robot.parameters, single, rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(robot.interpreted("inverse_dynamics")(q, q, q), single, rtol=1e-9)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(robot.inverse_dynamics))(q, q, q), single
    )
    np.testing.assert_array_equal(robot.kernel("mass_matrix")(q), robot.mass_matrix(q))
    for write, ending in ((robot.to_toml, "toml"), (robot.to_urdf, "urdf")):
        write(f"robot.{ending}")
        np.testing.assert_allclose(
            sy.load(f"robot.{ending}").gravity_torque(q),
            robot.gravity_torque(q),
            rtol=1e-9,
            atol=1e-9,
        )
    assert sy.inverse_kinematics(robot, robot.forward_kinematics(q)).valid.any()


def identification() -> None:
    """Identify a small log, and write the report."""
    import steelyard as sy
    from steelyard.signals import to_csv

    robot = sy.load("planar_2r").with_friction(viscous=2.0, coulomb=1.5)
    motion = sy.excite(robot, seconds=6, harmonics=5, candidates=1, starts=1)
    real = sy.perturbed(robot, 3)
    to_csv(sy.record(real, motion, rate=100), "run.csv")
    fit = sy.identify(robot, sy.read_log("run.csv", robot))
    assert fit.total_relative_error < 0.2, fit.total_relative_error
    assert "</html>" in Path(sy.report(fit, "report.html")).read_text(encoding="utf-8")
    robot.to_toml("planar.toml")


def cache() -> None:
    """Start again: nothing is compiled a second time."""
    script = """
import numpy as np, steelyard as sy
from steelyard.compiler.runtime import jit
jit.compile_object = None
print(sy.load("puma560").inverse_dynamics(np.zeros(6), np.zeros(6), np.zeros(6))[1])
"""
    python("-c", script)


def command_line() -> None:
    """Show the help of commands, the version, and identify the log."""
    for command in HELP:
        assert "Usage" in python("-m", "steelyard", *command, "--help")
    assert "puma560" in python("-m", "steelyard", "robots")
    python("-m", "steelyard", "identify", "planar.toml", "run.csv", "-o", "results")
    assert json.loads(Path("results/fit.json").read_text(encoding="utf-8"))


def python(*arguments: str) -> str:
    """Return what an interpreter prints; its errors are shown."""
    run = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert run.returncode == 0, (
        f"{' '.join(arguments)[:200]} ends with {run.returncode}\n{run.stdout}{run.stderr}"
    )
    return run.stdout


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    warnings.filterwarnings("ignore", message=".*", category=UserWarning)
    main()
