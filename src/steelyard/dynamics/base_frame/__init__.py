"""The same dynamics with all vectors in the base's frame: what two joints share is then a scalar product, which pays on long chains."""
