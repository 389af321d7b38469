"""Velocities and accelerations from measured positions."""
