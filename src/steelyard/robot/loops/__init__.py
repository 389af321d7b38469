"""Robots with loops: closures, constrained dynamics and multipliers."""
