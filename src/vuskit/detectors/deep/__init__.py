"""Detectors that train a neural network; importing torch is deferred until fitting."""
