"""A robot watched while it works.

Recursive identification, change detection, collisions, and the live sources they read.
"""
