"""Numerical kernels that map arrays to arrays, without validation, defaults or warnings."""
