"""Logs of moves with dwells, where friction is anywhere within the stiction."""

from __future__ import annotations

import numpy as np

import steelyard as sy


def dwelling_log(
    robot: sy.Robot, seed: int, *, dwell: float = 0.6, stiction: bool = True, rate: float = 200.0
) -> sy.Log:
    """Return a log of moves between random positions, each followed by a dwell [s].

    With `stiction` the friction of each dwell is a random share of the Coulomb friction. Moves
    take 0.8 s and begin and end without acceleration.
    """
    rng = np.random.default_rng(seed)
    moves, parts, shares = 24, [], []
    q = rng.uniform(-1, 1, 2)
    for _ in range(moves):
        target = rng.uniform(-1, 1, 2)
        s = np.arange(0.0, 0.8, 1.0 / rate) / 0.8
        blend = s**3 * (10 - 15 * s + 6 * s**2)
        speed = 30 * s**2 * (1 - s) ** 2 / 0.8
        bend = 60 * s * (1 - s) * (1 - 2 * s) / 0.8**2
        step = (target - q)[None, :]
        still = round(dwell * rate)
        parts.append(
            (
                np.vstack([q + blend[:, None] * step, np.tile(target, (still, 1))]),
                np.vstack([speed[:, None] * step, np.zeros((still, 2))]),
                np.vstack([bend[:, None] * step, np.zeros((still, 2))]),
            )
        )
        share = rng.uniform(-1, 1, 2)
        shares.append(np.vstack([np.zeros((len(s), 2)), np.tile(share, (still, 1))]))
        q = target
    Q, Qd, Qdd = (np.vstack(x) for x in zip(*parts, strict=True))
    tau = robot.inverse_dynamics(Q, Qd, Qdd)
    if stiction:
        coulomb = np.array([terms["coulomb"] for terms in robot.tree.terms])
        tau = tau + coulomb * np.vstack(shares)
    t = np.arange(len(Q)) / rate
    tau = tau + 0.2 * rng.normal(size=tau.shape)
    Q = Q + 1e-5 * rng.normal(size=Q.shape)
    return sy.Log(t=t, q=Q, qd=Qd, tau=tau, joint_names=robot.joint_names)
