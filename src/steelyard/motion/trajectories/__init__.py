"""Trajectories with exact derivatives, and the limits they keep."""
