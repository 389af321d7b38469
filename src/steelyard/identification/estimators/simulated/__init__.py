"""Estimators that simulate the robot with its controller.

Their motion has no noise of the encoders.
"""
