"""Helpers of every layer: names, files, text, optional libraries, signals and gaps."""
