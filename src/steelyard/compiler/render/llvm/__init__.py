"""Rendering of a program as an LLVM module: a loop over blocks of samples, one sample per lane."""
