"""Scalars, vectors and spatial quantities: the words in which every algorithm is written."""
