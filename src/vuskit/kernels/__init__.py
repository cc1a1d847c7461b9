"""Counting, ranking and areas: arrays in, arrays out; no checks, defaults or warnings."""
