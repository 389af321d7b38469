"""A fleet of robots of one type.

The model of the type, the deviation of each robot from it, and outliers.
"""
