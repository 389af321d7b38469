"""Comparison of estimators over noise, filters and controllers."""
