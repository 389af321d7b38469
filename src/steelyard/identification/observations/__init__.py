"""Observations: what a log measures of a robot's dynamics, and how a robot predicts it."""
