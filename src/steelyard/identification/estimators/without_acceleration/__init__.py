"""Estimators that read no acceleration.

The equations of motion integrated over windows, as momentum or as energy.
"""
