"""The uncertainty of a fit, measured.

How often two standard deviations and predicted bands hold the truth.
"""
