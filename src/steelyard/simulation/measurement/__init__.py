"""Sensor models and synthetic logs."""
