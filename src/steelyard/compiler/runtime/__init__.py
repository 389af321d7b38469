"""From LLVM text to a callable: machine code, disk cache, NumPy gufuncs, threads."""
