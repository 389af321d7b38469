"""Programs in other languages, each renderer with its table of operations: LLVM, C99, NumPy source, SymPy, CasADi, arrays."""
