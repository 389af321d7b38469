"""Readers and writers of robot descriptions, one folder per format."""
