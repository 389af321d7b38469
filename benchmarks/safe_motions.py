"""Safe motions: arms without meshes, many seeds, checked at 1 kHz by independent code.

Of UR10 and Panda the meshes, which the design did not have, are checked at 50 Hz by coal.

python -m benchmarks.safe_motions  20 seeds of UR10e, UR10 and Panda
python -m benchmarks.safe_motions --seeds 2    fewer of them
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

import steelyard as sy
from tests.bare_arms import PlainArm, installed_text, judge, ur10e
from tests.mesh_arms import MeshArm

CLEARANCE, RATE, MESH_RATE, ROUNDING = 0.02, 1000.0, 50.0, 1e-9
MESHES = {  # URDFs whose meshes are installed: motions that were designed without them meet them
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
}
ARMS: dict[str, Callable[[], str]] = {
    "ur10e": ur10e,
    "ur10": lambda: installed_text(MESHES["ur10"]),
    "panda": lambda: installed_text(MESHES["panda"]),
}


def study(name: str, seeds: int, starts: int, folder: Path) -> bool:
    """Design motions of one arm, print the worst of the check, and return whether all are safe."""
    path = folder / f"{name}.urdf"
    path.write_text(ARMS[name](), encoding="utf-8")
    robot = sy.load(path)
    arm = PlainArm(path.read_text(encoding="utf-8"), robot.joint_names)
    meshes = MeshArm(MESHES[name], robot.joint_names) if name in MESHES else None
    lower, upper, velocity = np.array([(x.lower, x.upper, x.velocity) for x in robot.tree.limits]).T
    lowest, nearest, apart, share, unchecked, used = np.inf, np.inf, np.inf, 0.0, 0, 0.0
    for seed in range(seeds):
        begin = process_time()
        motion = sy.excite(robot, seconds=10, seed=seed, starts=starts)
        used += process_time() - begin
        fine = motion.sample(RATE)
        found = judge(arm, lower, upper, fine.q)
        if meshes is not None:
            apart = min(apart, meshes.nearest(lower, upper, fine.q[:: int(RATE / MESH_RATE)])[0])
        lowest, nearest = min(lowest, found.lowest), min(nearest, found.nearest)
        share = max(share, float((np.abs(fine.qd) / velocity).max()))
        unchecked += not motion.excitation.checked  # type: ignore[union-attr]
    safe = (
        lowest >= -ROUNDING
        and nearest >= CLEARANCE
        and apart > 0
        and share <= 0.5 + ROUNDING
        and not unchecked
    )
    meshes_words = "" if meshes is None else f" nearest meshes {1000 * apart:.1f} mm,"
    print(
        f"{name}: {seeds} seeds, lowest frame {lowest:.4f} m, nearest links {1000 * nearest:.1f}"
        f" mm,{meshes_words} {100 * share:.1f} % of velocity limits, {unchecked} not checked, CPU"
        f" {used / seeds:.1f} s each: {'safe' if safe else 'NOT SAFE'}",
        flush=True,
    )
    return safe


def main() -> int:
    """Run the study; 0 if all motions are safe."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument("--arms", nargs="+", default=list(ARMS), choices=ARMS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", sy.SteelyardWarning)
    with TemporaryDirectory() as folder:
        safe = [study(name, options.seeds, options.starts, Path(folder)) for name in options.arms]
    return 0 if all(safe) else 1


if __name__ == "__main__":
    sys.exit(main())
