"""URDF: its reader, and a writer that keeps the user's file."""
