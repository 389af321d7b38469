"""The tables of a fit as LaTeX and Markdown, to be pasted into a paper.

Run: python examples/tables_for_a_paper.py
"""

from __future__ import annotations

import steelyard as sy
from steelyard.reporting import base_table, error_table

robot = sy.load("elbow_6r")
real = sy.perturbed(robot, seed=3)
log = sy.record(real, sy.excite(robot, seconds=20, harmonics=8, candidates=30), rate=250)
fit = sy.identify(robot, log)

print(error_table(fit).to_latex())
print(base_table(fit).to_markdown())
