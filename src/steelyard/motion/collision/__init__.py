"""Distances between the links of a robot, and to walls, at every instant of a motion."""
