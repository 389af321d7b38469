"""Friction terms that the samples show beyond the usual ones, what drifts along a log, and what the error that is left goes back to."""
