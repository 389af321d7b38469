"""The uncertainty of a fit, measured: how often two standard deviations and predicted bands hold the truth."""
