"""One reader for each format; each gives a Table, and none says what its columns mean."""
