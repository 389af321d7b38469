"""MJCF, read through MuJoCo."""
