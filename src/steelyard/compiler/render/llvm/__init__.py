"""A program as LLVM text: a loop over blocks of samples, one sample a lane."""
