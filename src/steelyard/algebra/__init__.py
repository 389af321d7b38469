"""Scalars, vectors and spatial quantities, on which every algorithm is written."""
