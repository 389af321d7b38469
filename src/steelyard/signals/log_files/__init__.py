"""Logs that are read when they are needed.

Found in folders, data sets and object stores, and known by their content.
"""
