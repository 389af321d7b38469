"""Identification from more logs than fit in memory: each is folded by itself, anywhere, and only the factors are merged."""
