"""Views of the page: one file for each part of it."""
