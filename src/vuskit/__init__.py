"""Accuracy measures for time-series anomaly detection."""

from __future__ import annotations

__version__ = "0.1.0"
