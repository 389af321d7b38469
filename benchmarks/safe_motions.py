"""Safe motions: arms without meshes, many seeds, checked at 1 kHz by independent code.

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
from steelyard.motion.collision.link_capsules import capsules_of_links
from tests.bare_arms import PlainArm, installed_text, judge, ur10e

CLEARANCE, RATE, ROUNDING = 0.02, 1000.0, 1e-9
ARMS: dict[str, Callable[[], str]] = {
    "ur10e": ur10e,
    "ur10": lambda: installed_text("ur_description/urdf/ur10_robot.urdf"),
    "panda": lambda: installed_text("panda_description/urdf/panda.urdf"),
}


def study(name: str, seeds: int, starts: int, folder: Path) -> bool:
    """Design motions of one arm, print the worst of the check, and return whether all are safe."""
    path = folder / f"{name}.urdf"
    path.write_text(ARMS[name](), encoding="utf-8")
    robot = sy.load(path)
    arm, radius = (
        PlainArm(path.read_text(encoding="utf-8"), robot.joint_names),
        capsules_of_links(robot)[0].radius,
    )
    lower, upper, velocity = np.array([(x.lower, x.upper, x.velocity) for x in robot.tree.limits]).T
    lowest, nearest, share, unchecked, used = np.inf, np.inf, 0.0, 0, 0.0
    for seed in range(seeds):
        begin = process_time()
        motion = sy.excite(robot, seconds=10, seed=seed, starts=starts)
        used += process_time() - begin
        fine = motion.sample(RATE)
        found = judge(arm, radius, lower, upper, fine.q)
        lowest, nearest = min(lowest, found.lowest), min(nearest, found.nearest)
        share = max(share, float((np.abs(fine.qd) / velocity).max()))
        unchecked += not motion.excitation.checked  # type: ignore[union-attr]
    safe = (
        lowest >= -ROUNDING and nearest >= CLEARANCE and share <= 0.5 + ROUNDING and not unchecked
    )
    print(
        f"{name}: {seeds} seeds, lowest frame {lowest:.4f} m, nearest links {1000 * nearest:.1f}"
        f" mm, {100 * share:.1f} % of velocity limits, {unchecked} not checked, CPU"
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
