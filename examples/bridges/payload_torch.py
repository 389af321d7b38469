"""Learn what an arm carries, mass and centre, from a simulated log with an optimiser of PyTorch.

Needs `pip install 'steelyard[torch]'`. `sy.payload` does this in closed form, with uncertainty;
here it is a module to build on.
"""

from __future__ import annotations

import numpy as np
import torch

import steelyard as sy

rng = np.random.default_rng(0)
robot = sy.load("elbow_6r")
mass, com = 2.5, (0.03, -0.02, 0.12)
real = robot.with_payload(mass, com=com, frame=robot.body_names[-1])
motion = sy.excite(robot, seconds=10, candidates=4)
q, qd, qdd = motion.motion(np.arange(0.0, 10.0, 0.02))
tau = real.inverse_dynamics(q, qd, qdd)
tau = torch.tensor(tau + 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape))


class Carrying(torch.nn.Module):
    """The arm with a point mass in its hand: m, and m c about the origin of the last link."""

    def __init__(self) -> None:
        super().__init__()
        self.inverse_dynamics = robot.to_torch().inverse_dynamics
        self.mass = torch.nn.Parameter(torch.tensor(0.5, dtype=torch.float64))
        self.com = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))

    def forward(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> torch.Tensor:
        """Torques (N, n) [N m] of a motion."""
        m, c = self.mass, self.com
        inertia = m * ((c @ c) * torch.eye(3, dtype=torch.float64) - torch.outer(c, c))  # Steiner
        six = inertia[torch.triu_indices(3, 3).unbind()]
        ten = torch.cat([m[None], m * c, six])
        pi = torch.tensor(robot.parameters)
        last = 10 * (len(robot.body_names) - 1)
        pi = torch.cat([pi[:last], pi[last : last + 10] + ten, pi[last + 10 :]])
        torques: torch.Tensor = self.inverse_dynamics(q, qd, qdd, parameters=pi)
        return torques


model = Carrying()
optimiser = torch.optim.LBFGS(model.parameters(), max_iter=100, line_search_fn="strong_wolfe")
losses = []


def closure() -> torch.Tensor:
    """The mean squared torque error in units of each joint's torque, with its gradient."""
    optimiser.zero_grad()
    loss = (((model(q, qd, qdd) - tau) / tau.std(dim=0)) ** 2).mean()
    loss.backward()
    losses.append(loss.item())
    return loss


optimiser.step(closure)
print(f"loss {losses[0]:.3g} -> {losses[-1]:.3g}")
print(
    f"mass {model.mass.item():.3f} of {mass} kg, centre off by"
    f" {1000 * np.abs(model.com.detach().numpy() - com).max():.1f} mm"
)
