"""Identify from files: a URDF and CSV logs whose columns carry the joints' names.

Makes the files first, so that it runs anywhere; with files of your own, only the last part is
needed. Run: python examples/identify_from_files.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import steelyard as sy
from steelyard.signals import to_csv

folder = Path(tempfile.mkdtemp())
model = sy.load("elbow_6r")
model.to_urdf(folder / "arm.urdf")
arm = sy.perturbed(model, seed=3)
for name, seed in (("monday", 1), ("tuesday", 2)):
    motion = sy.excite(model, seconds=20, harmonics=8, seed=seed, candidates=30)
    to_csv(sy.record(arm, motion, rate=250, seed=seed), folder / f"{name}.csv")

# -- with your own files, begin here --
robot = sy.load(folder / "arm.urdf")
monday = sy.read_log(folder / "monday.csv", robot)
tuesday = sy.read_log(folder / "tuesday.csv", robot)
print(*sy.doctor(robot, monday), sep="\n")

fit = sy.identify(robot, monday)
print(fit.summary())
print(fit.validate(tuesday))

both = sy.identify(robot, [monday, tuesday])  # several logs count as one
both.robot.to_urdf(folder / "identified.urdf")  # your own file, with the numbers in it
both.to_json(folder / "fit.json")
print("wrote", *sorted(path.name for path in folder.iterdir()))
