"""A local server for runs and saved scores that are too large for one page."""

from __future__ import annotations

from vuskit.explore.content import open_content
from vuskit.explore.server import ExploreServer

__all__ = [
    "ExploreServer",
    "open_content",
]
