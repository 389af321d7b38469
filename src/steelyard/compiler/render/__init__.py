"""Renderers of programs: LLVM, C99, NumPy source, SymPy, CasADi, arrays of other libraries."""
