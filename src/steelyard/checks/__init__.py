"""Checks of a robot model: physical laws, Pinocchio's numbers, timings, random states."""
