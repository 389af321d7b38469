"""Control laws, each written once over scalars."""
