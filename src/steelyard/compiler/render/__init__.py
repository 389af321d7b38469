"""Programs as text, each renderer a table of operations: LLVM, C99, NumPy source, SymPy."""
