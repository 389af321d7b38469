"""Readers and writers of robot descriptions, one folder a format."""
