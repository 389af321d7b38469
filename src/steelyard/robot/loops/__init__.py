"""Robots with loops: closures, torques with the multipliers of the loops, and motion that keeps them closed."""
