"""Mechanisms with loops: how far loops are from closed, and motion and forces that keep them closed."""
