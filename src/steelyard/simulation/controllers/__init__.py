"""Control laws over scalars."""
