"""Logs that are read when they are needed: found in folders, data sets and object stores, and known by their content."""
