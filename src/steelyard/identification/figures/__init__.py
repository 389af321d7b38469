"""Figures of a fit as data: each is built once, for reports, for `fit.plot` and for the page."""
