"""Kinematics and Newton-Euler of a tree in plain NumPy and world axes.

A second opinion that shares no code with the package.
"""

from __future__ import annotations

import numpy as np

from steelyard.mechanism import Body, Tree


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def homogeneous(pose) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = pose.R, pose.p
    return X


def joint_transform(body: Body, q: float) -> np.ndarray:
    X, axis = np.eye(4), np.array(body.axis)
    if body.kind == "prismatic":
        X[:3, 3] = axis * q
    else:
        K = skew(axis)
        X[:3, :3] += np.sin(q) * K + (1 - np.cos(q)) * K @ K
    return X


def body_poses(tree: Tree, q) -> list[np.ndarray]:
    poses: list[np.ndarray] = []
    for body in tree.bodies:
        parent = np.eye(4) if body.parent < 0 else poses[body.parent]
        poses.append(
            parent
            @ homogeneous(body.placement)
            @ joint_transform(body, body.multiplier * q[body.coordinate] + body.offset)
        )
    return poses


def frame_pose(tree: Tree, q, name: str) -> np.ndarray:
    body, pose = tree.frames[name]
    return (np.eye(4) if body < 0 else body_poses(tree, q)[body]) @ homogeneous(pose)


def torques(tree: Tree, q, qd, qdd) -> np.ndarray:
    """tau of every coordinate, with rotors and friction."""
    q, qd, qdd = (np.asarray(x, dtype=float) for x in (q, qd, qdd))
    poses, w, dw, a = body_poses(tree, q), [], [], []
    for body, X in zip(tree.bodies, poses, strict=True):
        p = np.zeros(3) if body.parent < 0 else poses[body.parent][:3, 3]
        wp, dwp = (
            (np.zeros(3), np.zeros(3)) if body.parent < 0 else (w[body.parent], dw[body.parent])
        )
        ap = -np.array(tree.gravity) if body.parent < 0 else a[body.parent]
        z, r = X[:3, :3] @ body.axis, X[:3, 3] - p
        rate, acceleration = (
            body.multiplier * qd[body.coordinate],
            body.multiplier * qdd[body.coordinate],
        )
        carried = ap + np.cross(dwp, r) + np.cross(wp, np.cross(wp, r))
        if body.kind == "revolute":
            w.append(wp + z * rate)
            dw.append(dwp + z * acceleration + np.cross(wp, z * rate))
            a.append(carried)
        else:
            w.append(wp)
            dw.append(dwp)
            a.append(carried + z * acceleration + 2 * np.cross(wp, z * rate))
    return gather(tree, poses, w, dw, a) + joint_torques(tree, qd, qdd)


def gather(tree: Tree, poses, w, dw, a) -> np.ndarray:
    f, n, tau = [np.zeros(3) for _ in poses], [np.zeros(3) for _ in poses], np.zeros(tree.n)
    for i in reversed(range(len(poses))):
        body, X = tree.bodies[i], poses[i]
        R, s = X[:3, :3], body.inertia.I
        h = R @ body.inertia.h
        inertia = R @ np.array([[s.xx, s.xy, s.xz], [s.xy, s.yy, s.yz], [s.xz, s.yz, s.zz]]) @ R.T
        f[i] += body.inertia.m * a[i] + np.cross(dw[i], h) + np.cross(w[i], np.cross(w[i], h))
        n[i] += inertia @ dw[i] + np.cross(w[i], inertia @ w[i]) + np.cross(h, a[i])
        tau[body.coordinate] += (
            body.multiplier * (R @ body.axis) @ (n[i] if body.kind == "revolute" else f[i])
        )
        if body.parent >= 0:
            f[body.parent] += f[i]
            n[body.parent] += n[i] + np.cross(X[:3, 3] - poses[body.parent][:3, 3], f[i])
    return tau


def joint_torques(tree: Tree, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Friction and rotors written out once more, independently of the table of terms; no shapes."""
    tau = np.zeros(tree.n)
    for k, terms in enumerate(tree.terms):
        forward, backward = (
            terms.get("coulomb", 0.0),
            terms.get("negative", terms.get("coulomb", 0.0)),
        )
        rub = forward if qd[k] > 0 else -backward if qd[k] < 0 else 0.0
        tau[k] = (
            terms.get("armature", 0.0) * qdd[k]
            + terms.get("viscous", 0.0) * qd[k]
            + rub
            + terms.get("offset", 0.0)
        )
    return tau
