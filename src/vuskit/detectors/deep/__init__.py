"""Detectors that train a neural network (torch, imported when one is fitted)."""
