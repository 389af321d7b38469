"""Mutation tests: bugs planted one at a time, and the tests that notice them."""
