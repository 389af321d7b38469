"""Readers: one file per format, each giving a ColumnTable; `to_log` finds what its columns mean."""
