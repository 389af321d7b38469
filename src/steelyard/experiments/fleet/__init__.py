"""A fleet of robots of one type: what the type is like, how each robot deviates from it, and which ones stand out."""
