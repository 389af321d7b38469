"""Motions worth recording."""
