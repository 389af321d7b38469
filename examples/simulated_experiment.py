"""Identify a simulated robot whose parameters differ from its description.

Move it, record it, identify it, validate it.

Writes report.html into the current folder. Run: python examples/simulated_experiment.py
"""

from __future__ import annotations

import steelyard as sy

robot = sy.load("elbow_6r")  # what the maker's description says
real = sy.perturbed(robot, seed=1)  # what the robot really is

# A motion that shows the parameters, within the robot's limits, at rest at both ends; and another
# one to validate on.
motion = sy.excite(robot, seconds=20, starts=2)
other = sy.excite(robot, seconds=20, seed=1, candidates=10)
print(motion)

# What encoders and motor currents would give: quantised, noisy, late, with torque ripple.
sensors = sy.Sensors(torque_noise=0.03, torque_ripple=0.02, delay=0.003)
log = sy.record(real, motion, rate=500, seed=1, sensors=sensors)
other_log = sy.record(real, other, rate=500, seed=2, sensors=sensors)

fit = sy.identify(robot, log)
validation = fit.validate(other_log)
print(
    f"before {fit.before.total_relative_error:.2%}, after {fit.total_relative_error:.2%}, other"
    f" {validation.total_relative_error:.2%}"
)
print(*fit.check(), sep="\n")

# the real robot has no friction offset; the fit looks for one
true = fit.base.values(real.with_friction(offset=0.0).parameters)
inside = abs(fit.base_values - true) <= 2 * fit.base_standard_deviation
print(f"{inside.sum()} of {len(true)} true base parameters lie within two standard deviations")

sy.report(fit, "report.html", validation=validation, true_robot=real, overwrite=True)
