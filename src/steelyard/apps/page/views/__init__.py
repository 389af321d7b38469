"""What is on the page: one file for each part of it."""
