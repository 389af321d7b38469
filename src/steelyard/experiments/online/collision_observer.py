"""CollisionObserver: the torque that the environment applies, from momenta, and whether it is more than the model may be wrong by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import per_joint, real_number
from ...errors import CallError, refuse_loops, require_robot
from ...floating_point import default_errstate_methods
from ...identification.model.linear_model import Model, build_model
from ...identification.result.fit import Fit
from ...robot import Robot
from .hypotheses import least_certain
from .online_identifier import OnlineIdentifier
from .sample_rows import LowPass, SampleRows
from .stream import Stream

Array = NDArray[np.float64]
WARM = 64  # samples until the noise of the velocities is known well enough


@dataclass(frozen=True, eq=False)
class Collision:
    """Contact that was noticed: when [s], at which joints the external torque (n,) [N m|N] passed its threshold (n,)."""

    time: float
    joints: tuple[str, ...]
    external_torque: Array
    threshold: Array
    names: tuple[str, ...]

    def __str__(self) -> str:
        at = [self.names.index(joint) for joint in self.joints]
        felt = ", ".join(f"{self.names[j]} {self.external_torque[j]:.3g} (threshold {self.threshold[j]:.2g})" for j in at)
        return f"At {self.time:.6g} s something pushed the robot: external torque [N m|N] at {felt}."


@default_errstate_methods
class CollisionObserver:
    """The generalised-momentum observer, sample by sample or in blocks: r = F (dp/dt - tau - C^T qd + g + friction), F = gain / (s + gain).

    r is the external torque through a low-pass of `gain` [1/s]; no acceleration is needed. The threshold is z std(r) at every
    sample: the noise of the torque below the gain's bandwidth, the covariance of the parameters carried through the same filter, and
    the noise of the velocities, which is measured as they come, times gain M. z is the normal quantile at which false alarms of all joints
    are `hours` apart. Joints no faster than `rest` may be held by dry friction: their Coulomb friction, as long as the filter remembers
    it, is added.
    De Luca and Mattone 2003, eq. (9); Haddadin, De Luca and Albu-Schaeffer, IEEE Trans. Robotics 33 (2017), p. 1292.

    Parameters:
        model: a `Fit`, an `OnlineIdentifier`, or a `Robot` with `noise`.
        gain: bandwidth of the observer [1/s].
        rate: of the samples [Hz], unless times come with them.
        noise: standard deviation of measured minus modelled torque, white [N m|N]: one or (n,).
        rest: speed below which dry friction may hold a joint [rad/s|m/s].
        hours: mean time between false alarms [h].
    Example:
        >>> robot = sy.load("planar_2r")
        >>> c = sy.CollisionObserver(robot, rate=500.0, noise=0.1)
        >>> held = robot.gravity_torque([0.3, 0.2])
        >>> c.update([0.3, 0.2], [0.0, 0.0], held)
        >>> c.external_torque
        array([0., 0.])
    """

    def __init__(
        self,
        model: Fit | OnlineIdentifier | Robot,
        *,
        gain: float = 100.0,
        rate: float | None = None,
        noise: ArrayLike | float | None = None,
        rest: Any = 0.0,
        hours: float = 100.0,
    ) -> None:
        self.gain = real_number("gain [1/s]", gain, 1e-6)
        self._hours = real_number("hours", hours, 1e-9)
        self.robot, self._model, self._covariance, self._sigma = known_errors(model, noise, self.gain)
        names = self.robot.joint_names
        self._rest = per_joint("rest", rest, names, 0.0, "rad/s|m/s")
        self._stream = Stream(names, None if rate is None else real_number("rate [Hz]", rate, 1e-6))
        self._filter = LowPass(self.gain)
        place = dict(zip(self.robot.parameter_names, self.robot.parameters, strict=True))
        self._coulomb = np.array([abs(float(place.get(f"{name}.Fc", 0.0))) for name in names])
        self._rows = SampleRows(self._model)
        self._modes = self._least_certain()
        self._speeds = np.zeros((0, self.robot.n))
        self._jitter, self._counted = np.zeros(self.robot.n), 0
        self.external_torque: Array = np.zeros(self.robot.n)
        self.threshold: Array = np.zeros(self.robot.n)
        self.collision: Collision | None = None

    def update(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, t: ArrayLike | None = None) -> Collision | None:
        """Take in one sample (n,) or a block (B, n), in order of time; return the collision that it showed first, None without one.

        q [rad|m], qd, tau [N m|N]; t [s], () or (B,). `external_torque` and `threshold` are then those of these samples, of their shape;
        `collision` stays until `clear`.

        Parameters:
            q, qd, tau: (n,) or (B, n) [rad|m, per s, N m|N].
            t: () or (B,) times [s].
        Returns:
            A `Collision`, or None.
        Example:
            >>> c.update([0.3, 0.2], [0.0, 0.0], held)
        """
        start = self._stream.count
        (q_, qd_, tau_), dt = self._stream.take(q, qd, None, tau, t)
        r, modes, resting = self._residual(q_, qd_, tau_, dt)
        variance = self._noise(dt) ** 2 + np.sum(modes**2, axis=2) + self._velocity_noise(q_, qd_)
        limit = self._quantile(dt) * np.sqrt(variance) + resting * self._coulomb
        shape = np.shape(q)
        self.external_torque, self.threshold = r.reshape(shape), limit.reshape(shape)
        above = np.abs(r) > limit
        above[: max(WARM - start, 0)] = False
        if self.collision is not None or not above.any():
            return None
        k = int(np.argmax(above.any(axis=1)))
        joints = tuple(name for name, hit in zip(self.robot.joint_names, above[k], strict=True) if hit)
        self.collision = Collision(self._stream.ago(len(r) - 1 - k), joints, r[k], limit[k], self.robot.joint_names)
        return self.collision

    def clear(self) -> None:
        """Forget the collision, and report the next.

        Example:
            >>> c.clear()
        """
        self.collision = None

    def _residual(self, q: Array, qd: Array, tau: Array, dt: Array) -> tuple[Array, Array, Array]:
        """Return r (N, n), its slopes along the modes of the parameters (N, n, r), and how much of the memory is of joints at rest."""
        N, n = q.shape
        standing = np.abs(qd) <= self._rest
        moved, still = np.where(standing, 0.0, qd), standing.astype(float)  # the sign of noise says nothing of friction
        p, rate = np.asarray(self.robot.momentum(q, qd)), np.asarray(self.robot.momentum_rate(q, moved, tau))
        if self._model.known is not None:
            rate = rate - self._model.known(q, qd, np.zeros_like(q))
        stored, lost = np.zeros((N, n, 0)), np.zeros((N, n, 0))
        if self._modes.shape[1]:
            P, Z = self._rows.momentum(q, qd)
            stored, lost = P @ self._modes, Z @ self._modes
        x = np.concatenate([-rate - self.gain * p, (lost - self.gain * stored).reshape(N, -1), still], axis=1)
        y = self._filter.run(x, dt, np.concatenate([-self.gain * p[0], -self.gain * stored[0].ravel(), still[0]]))
        return self.gain * p + y[:, :n], self.gain * stored + y[:, n:-n].reshape(stored.shape), y[:, -n:]

    def _noise(self, dt: Array) -> Array:
        """Standard deviation (N, n) of r by the noise of the torque: given below the bandwidth, or white and averaged by the filter."""
        sigma, white = self._sigma
        decay = np.exp(-self.gain * np.where(dt > 0.0, dt, self._stream.dt if np.isfinite(self._stream.dt) else 0.0))
        return sigma * (np.sqrt((1.0 - decay) / (1.0 + decay))[:, None] if white else np.ones((len(dt), 1)))

    def _velocity_noise(self, q: Array, qd: Array) -> Array:
        """Variance (N, n) of r by the noise of the velocities, from their second differences: that of white noise is six times its own."""
        known = np.concatenate([self._speeds, qd])
        second = np.zeros((0, qd.shape[1]))
        if len(known) > 2:
            second = np.diff(known, 2, axis=0) ** 2 / 6.0
        self._speeds = known[-2:]
        total = self._jitter + np.cumsum(second, axis=0) if len(second) else np.zeros((0, qd.shape[1]))
        counts = self._counted + np.arange(1, len(second) + 1)
        mean = np.zeros_like(qd)
        mean[len(qd) - len(second) :] = total / counts[:, None]
        if len(second):
            self._jitter, self._counted = total[-1], int(counts[-1])
        M = np.asarray(self.robot.mass_matrix(q))
        return np.asarray(self.gain**2 * np.einsum("tij,tj->ti", M**2, mean))

    def _quantile(self, dt: Array) -> float:
        from scipy.special import ndtri

        step = self._stream.dt if np.isfinite(self._stream.dt) else 1e-3
        return float(-ndtri(0.5 * step / (self._hours * 3600.0 * self.robot.n)))

    def _least_certain(self) -> Array:
        if self._covariance is None:
            return np.zeros((0, 0))
        weights = 1.0 / np.maximum(self._sigma[0], 1e-12) ** 2
        return least_certain(self._covariance, self._rows.typical(), weights)


def known_errors(model: Fit | OnlineIdentifier | Robot, noise: Any, gain: float) -> tuple[Robot, Model, Array | None, tuple[Array, bool]]:
    """Return the robot, its model, the covariance of its base parameters, and the noise (n,) of the torque with whether it is white.

    A first-order low-pass lets as much noise pass as one that cuts off sharply at gain / 4 [Hz].
    """
    if isinstance(model, Fit):
        sigma = model.uncertainty.noise.below(gain / 4.0)
        return model.robot.without_known_function(), model.model, model.covariance, (sigma, False)
    if isinstance(model, OnlineIdentifier):
        sigma, covariance = model.errors(2.0 / gain)
        return model.robot, model.model, covariance, (sigma, True)
    require_robot(model, "CollisionObserver")
    refuse_loops(model, "CollisionObserver", "observe an arm without loops")
    if noise is None:
        raise CallError(
            "CollisionObserver: how wrong is this robot's torque? Give a Fit (sy.identify) or an OnlineIdentifier, or noise= [N m|N], the "
            "standard deviation of measured minus modelled torque, one number or one per joint"
        )
    return model, build_model(model), None, (per_joint("noise", noise, model.joint_names, 0.0, "N m|N"), True)
