"""Estimators that read no acceleration: the equations of motion integrated over windows, as momentum or as energy."""
