"""Nuisance."""
