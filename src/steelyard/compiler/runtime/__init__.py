"""From a program to a callable: LLVM, machine code, disk cache, NumPy gufuncs, threads."""
