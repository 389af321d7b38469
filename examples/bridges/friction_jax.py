"""Learn the friction of an arm from a simulated log by gradient descent in JAX.

Needs `pip install 'steelyard[jax]'`. Any loss could replace the squared torque error,
and a network beside the model. Kingma and Ba 2015 (Adam).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import steelyard as sy

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(0)

# what is believed before
robot = sy.load("elbow_6r").without_friction().with_friction(viscous=1.0, coulomb=1.0)
real = robot.with_friction(
    viscous=rng.uniform(0.5, 4.0, 6).tolist(), coulomb=rng.uniform(0.5, 4.0, 6).tolist()
)
motion = sy.excite(robot, seconds=10, candidates=4)
q, qd, qdd = motion.motion(np.arange(0.0, 10.0, 0.02))
tau = real.inverse_dynamics(q, qd, qdd)
tau = tau + 0.002 * tau.std(axis=0) * rng.normal(size=tau.shape)

model = robot.to_jax()
places = np.array(
    [k for k, name in enumerate(robot.parameter_names) if name.endswith((".Fv", ".Fc"))]
)


def loss(friction: jax.Array) -> jax.Array:
    """The mean squared torque error in units of each joint's torque."""
    pi = jnp.asarray(robot.parameters).at[places].set(friction)
    return jnp.mean(
        ((model.inverse_dynamics(q, qd, qdd, parameters=pi) - tau) / tau.std(axis=0)) ** 2
    )


@jax.jit
def step(
    k: int, friction: jax.Array, mean: jax.Array, square: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """One step of Adam."""
    value, gradient = jax.value_and_grad(loss)(friction)
    mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
    rate = 0.1 * 0.998**k
    return (
        value,
        friction
        - rate * (mean / (1 - 0.9 ** (k + 1))) / (jnp.sqrt(square / (1 - 0.99 ** (k + 1))) + 1e-9),
        mean,
        square,
    )


friction, mean, square = (
    jnp.asarray(robot.parameters[places]),
    jnp.zeros(len(places)),
    jnp.zeros(len(places)),
)
losses = []
for k in range(2500):
    value, friction, mean, square = step(k, friction, mean, square)
    losses.append(float(value))
wanted = real.parameters[places]
before, after = (np.abs(values - wanted).max() for values in (robot.parameters[places], friction))
print(
    f"loss {losses[0]:.3g} -> {losses[-1]:.3g}; largest error of a friction parameter {before:.3g}"
    f" -> {after:.3g} of {wanted.max():.3g}"
)
