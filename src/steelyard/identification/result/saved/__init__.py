"""Fits as plain data, texts and files."""
