"""From a problem to an estimate.

The estimators, and what is estimated around them (delay, shapes of friction, drive gains).
"""
