"""Friction terms chosen by evidence, drift along a log, and causes of the residual error."""
