"""Estimators that simulate the robot with its controller: their motion has no noise of the encoders."""
