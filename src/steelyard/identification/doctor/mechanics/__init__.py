"""Faults as hypotheses: what would make a log agree with rigid-body dynamics and with the description, compared by evidence."""
