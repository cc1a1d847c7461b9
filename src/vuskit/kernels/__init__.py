"""Kernels: arrays in, arrays out; no validation, defaults or warnings."""
