"""``vuskit demo``: a benchmark and two studies on synthetic series."""

from __future__ import annotations

from vuskit.cli.demo.command import demo

__all__ = ["demo"]
