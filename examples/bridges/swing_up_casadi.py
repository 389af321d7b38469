"""Swing a two-link arm from hanging to upright with the least torque.

Direct transcription with CasADi and IPOPT.

Needs `pip install 'steelyard[casadi]'`. The optimal torques are compared with torques of
steelyard's kernels, and the motion is simulated with them and a weak feedback. Betts, "Practical
Methods for Optimal Control", 2010, chapter 4.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

import steelyard as sy

robot = sy.load("planar_2r").with_friction(viscous=2.0)
# N m: less than half of the 369 N m that hold the arm out level, so that it has to swing
limit = 150.0
seconds, intervals = 3.0, 75
h = seconds / intervals
hanging, upright = np.array([-np.pi / 2, 0.0]), np.array([np.pi / 2, 0.0])

problem = ca.Opti()
q, qd, qdd = (
    problem.variable(2, intervals + 1),
    problem.variable(2, intervals + 1),
    problem.variable(2, intervals),
)
torque = robot.to_casadi().inverse_dynamics.map(intervals)
# at both ends of the intervals
tau = ca.vertcat(torque(q[:, :-1], qd[:, :-1], qdd), torque(q[:, 1:], qd[:, 1:], qdd))
problem.subject_to(ca.vec(qd[:, 1:]) == ca.vec(qd[:, :-1] + h * qdd))
problem.subject_to(ca.vec(q[:, 1:]) == ca.vec(q[:, :-1] + h * qd[:, :-1] + h**2 / 2 * qdd))
problem.subject_to(problem.bounded(-limit, ca.vec(tau), limit))
for at, where in ((0, hanging), (-1, upright)):
    problem.subject_to(q[:, at] == where)
    problem.subject_to(qd[:, at] == 0)
problem.minimize(h * ca.sumsqr(tau / limit))
problem.set_initial(q, np.linspace(hanging, upright, intervals + 1).T)
problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
solution = problem.solve()
Q, Qd, Qdd, torques = (solution.value(x).T for x in (q, qd, qdd, tau))
print(
    f"{solution.stats()['iter_count']} iterations of IPOPT; largest torque"
    f" {np.abs(torques).max():.1f} of {limit:.0f} N m allowed"
)
difference = np.abs(robot.inverse_dynamics(Q[:-1], Qd[:-1], Qdd) - torques[:, :2]).max()
print(f"CasADi and the kernels agree within {difference:.0e} N m")


def follow(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Return the torques of the optimal motion, with feedback to it."""
    k = min(int(t / h + 1e-9), intervals - 1)
    u = t - k * h
    expected, rate = Q[k] + Qd[k] * u + Qdd[k] * u**2 / 2, Qd[k] + Qdd[k] * u
    result: np.ndarray = (
        robot.inverse_dynamics(expected, rate, Qdd[k]) + 400.0 * (expected - q) + 80.0 * (rate - qd)
    )
    return result


run = sy.simulate(robot, follow, q0=hanging, seconds=seconds, step=0.002)
error = np.abs(run.q[-1] - upright).max()
print(
    f"simulated, it arrives within {np.degrees(error):.2f} deg of upright with at most"
    f" {np.abs(run.tau).max():.0f} N m"
)
