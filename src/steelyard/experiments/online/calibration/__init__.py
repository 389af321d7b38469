"""Calibration of the collision observer.

Its constants, the motion it covers, and the states it confirms.
"""
