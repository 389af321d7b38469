"""Regressor columns of a load: its ten parameters, and friction that it changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, suggest
from ...identification.model.linear_model import Model
from ...identification.samples.samples import Samples
from ...parameters.pseudo_inertia import load_to_body
from ...robot import Robot

Array = NDArray[np.float64]
# friction that may differ between the runs: gear friction grows with load and temperature
CHANGING = ("Fv", "Fc")


@dataclass(frozen=True)
class LoadFrame:
    """The link that carries a load (`body` is its index), and the frame of the ten parameters."""

    link: str
    frame: str
    body: int


def load_frame(robot: Robot, link: str | None, frame: str | None) -> LoadFrame:
    """Return the link and frame of a load.

    `link` is the end-effector by default; `frame`, whose axes are used, is the link's.

    Raises CallError for names that do not exist, for a link that does not move, and for a frame
    that is not fixed to the link.
    """
    known = robot.tree.frames
    for name, value in (("link", link), ("frame", frame)):
        if value is not None and value not in known:
            raise CallError(
                f"payload: {name} {value!r} does not exist; {suggest(str(value), known)}"
            )
    carrier = link or frame or robot.end_effector
    axes = frame or carrier
    if known[carrier].body < 0:
        raise CallError(
            f"payload: link {carrier!r} does not move, so that torques say nothing about a load"
            " there"
        )
    if known[axes].body != known[carrier].body:
        fixed = [name for name, each in known.items() if each.body == known[carrier].body]
        raise CallError(
            f"payload: frame {axes!r} is not fixed to link {carrier!r}; expected one of"
            f" {', '.join(fixed)}"
        )
    return LoadFrame(carrier, axes, known[carrier].body)


def to_body(robot: Robot, frame: str) -> Array:
    """Return the matrix (10, 10) that moves parameters from a frame to the frame of its body."""
    pose = robot.tree.frames[frame].pose
    return load_to_body(np.array(pose.R, float), np.array(pose.p, float))


@dataclass(frozen=True, eq=False)
class LoadColumns:
    """Regressor columns (N, n, k) of a load, added to the arm's.

    They are zero for logs before `first`.

    First the columns of changed friction, `changing` are their parameters in the model; then, if
    `sides` has the direction (N, n) from which the joints of each log came to rest, the friction at
    rest of every joint, in all logs; then the ten of the load.
    """

    model: Model
    attachment: LoadFrame
    first: int
    changing: tuple[int, ...] = ()
    sides: tuple[Array, ...] = ()

    @property
    def count(self) -> int:
        """How many columns there are."""
        return len(self.changing) + (self.model.n if self.sides else 0) + 10

    def __call__(self, samples: Samples, log: int) -> Array:
        Y = np.zeros((*samples.q.shape, self.count))
        if self.sides:
            signs = self.sides[log][samples.t.astype(int)]
            Y[:, :, -10 - self.model.n : -10] = signs[:, :, None] * np.eye(self.model.n)
        if log >= self.first:
            inner = range(10 * self.attachment.body, 10 * self.attachment.body + 10)
            q, qd, qdd, *base = samples.states
            columns = self.model.columns(q, qd, qdd, (*self.changing, *inner), *base)
            Y[:, :, : len(self.changing)] = columns[:, :, :-10]
            Y[:, :, -10:] = columns[:, :, -10:] @ to_body(self.model.robot, self.attachment.frame)
        return Y


def changing_terms(model: Model) -> tuple[int, ...]:
    """Return the parameters of the model that are viscous or Coulomb friction."""
    return tuple(i for i, name in enumerate(model.names) if name.rpartition(".")[2] in CHANGING)
