"""Damaged files and command lines: an answer or a sentence, never anything else."""
