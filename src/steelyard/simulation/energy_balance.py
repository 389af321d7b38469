"""Energy and momentum of a run, and the balance of energy, work and heat."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algebra import vector as v3
from ..algebra.scalar import Scalars
from ..compiler.ir.program import Operand, Program, trace
from ..compiler.runtime.kernel import Kernel
from ..dynamics.forward.free_base import free_energy, free_momentum
from ..kernels import kernel_of
from ..mechanism.tree import Tree
from ..robot import Robot
from .free_base import rotation, to_base_axes
from .simulation_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EnergyBalance:
    """Energy of a run, with the work and heat that changed it, (..., T) [J] each.

    Parameters
    ----------
    energy : kinetic and potential energy, energy stored in drives included
    kinetic : kinetic energy
    work : work of the drives since the start
    heat : energy that friction and known torques have dissipated since the start
    """

    energy: Array
    kinetic: Array
    work: Array
    heat: Array

    @property
    def error(self) -> Array:
        """Return energy + heat - work - energy at the start [J], zero for exact integration."""
        return self.energy + self.heat - self.work - self.energy[..., :1]

    def drift(self, finite: NDArray[np.bool_]) -> float:
        """Return the largest error over the largest exchanged energy, of the runs that are finite.

        Exchanged energy is kinetic energy, heat, work or change of energy. The error of a robot at
        rest is relative to its energy. NaN where no run is finite.
        """
        if not np.any(finite):
            return float("nan")
        with np.errstate(all="ignore"):  # of runs that diverged
            error, change = self.error, self.energy - self.energy[..., :1]
        terms = (self.kinetic, self.heat, self.work, change)
        exchanged = max(float(np.max(np.abs(x[finite]))) for x in terms)
        total = float(np.max(np.abs(self.energy[finite])))
        size = exchanged if exchanged > THRESHOLDS.still_energy * total else total
        return float(np.max(np.abs(error[finite])) / max(size, np.finfo(float).tiny))


def free_base_kernel(robot: Robot) -> Kernel:
    """Return the kernel of energy [J] and momentum about the world's origin of a free robot.

    (q, qd, base_pose, base_twist) -> (energy, momentum (6,)).
    """
    return kernel_of(free_base_program, robot.tree)


def free_base_program(tree: Tree) -> Program:
    """Return the program of the energy and momentum of a free tree."""
    inputs = [
        Operand("q", (tree.n,)),
        Operand("qd", (tree.n,)),
        Operand("base_pose", (7,)),
        Operand("base_twist", (6,)),
    ]
    outputs = [Operand("energy", ()), Operand("momentum", (6,))]
    return trace("energy_and_momentum", partial(_energy_and_momentum, tree), inputs, outputs)


def _energy_and_momentum(tree: Tree, q: Scalars, qd: Scalars, pose: Scalars, twist: Scalars) -> Any:
    """Compute energy, and momentum and angular momentum in world axes, on scalars."""
    R, p, base_twist = rotation(pose[3:]), v3.vector(pose), to_base_axes(pose, twist)
    to_base = v3.transpose(R)
    position, gravity = v3.apply(to_base, p), v3.apply(to_base, tree.gravity)
    energy = free_energy(tree, q, qd, base_twist, position, gravity)
    momentum = free_momentum(tree, q, qd, base_twist)
    linear = v3.apply(R, v3.vector(momentum))
    return energy, [*linear, *v3.add(v3.apply(R, v3.vector(momentum[3:])), v3.cross(p, linear))]
