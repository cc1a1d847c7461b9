"""Fit text into a width: set it smaller, wrap it, and finally shorten it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from vuskit._util.optional import require

POINTS_PER_INCH = 72.0
# Renderers place letters on whole pixels, which makes lines slightly longer than computed.
_SLACK = 1.04
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
# Lines break after these characters, since names of data sets and detectors have few spaces.
_PIECES = re.compile(r"[^\s_/|,;:=(-]*[\s_/|,;:=(-]+|[^\s_/|,;:=(-]+")


class Fitted(NamedTuple):
    """A text with line breaks, and its font size."""

    text: str
    size: float

    @property
    def lines(self) -> int:
        """Number of lines."""
        return self.text.count("\n") + 1


def text_width(text: str, size: float) -> float:
    """Return the width of a line in inches.

    Examples
    --------
    >>> 0.3 < text_width("VUS-PR", 7) < 0.5
    True
    """
    fonts = require("matplotlib.font_manager", purpose="a figure")
    paths = require("matplotlib.textpath", purpose="a figure")
    width, *_ = paths.text_to_path.get_text_width_height_descent(
        text, fonts.FontProperties(size=size), ismath=False
    )
    return float(width) * _SLACK / POINTS_PER_INCH


def wrapped(text: str, room: float, size: float) -> list[str]:
    """Break a text into lines no wider than `room` inches, within words if necessary.

    Examples
    --------
    >>> wrapped("Bearing_vibration_long_name", 0.8, 7)
    ['Bearing_', 'vibration_long_', 'name']
    """
    lines = [""]
    for piece in _PIECES.findall(text):
        if text_width((lines[-1] + piece).rstrip(), size) <= room:
            lines[-1] += piece
            continue
        if lines[-1]:
            lines.append("")
        for letter in piece:
            if lines[-1] and text_width((lines[-1] + letter).rstrip(), size) > room:
                lines.append("")
            lines[-1] += letter
    return [line.strip() for line in lines]


def fit_text(text: str, room: float, *, sizes: Sequence[float], most: int = 3) -> Fitted:
    """Fit a text into a width.

    Examples
    --------
    >>> fit_text("ECG", 0.8, sizes=(8, 7))
    Fitted(text='ECG', size=8)
    >>> fit_text("LOF(n_neighbors=10, window=100)", 0.8, sizes=(8, 7), most=2).text.splitlines()
    ['LOF(n_neighb…', 'window=100)']
    """
    for size in sizes:
        if text_width(text, size) <= room:
            return Fitted(text, size)
    lines = wrapped(text, room, sizes[-1])
    # Upper bound of the letters that fit, however they are wrapped.
    kept = min(int(1.2 * len(text) * most * room / text_width(text, sizes[-1])), len(text) - 1)
    while len(lines) > most and kept > 0:
        head, tail = text[: (kept + 1) // 2], text[len(text) - kept // 2 :]
        lines = wrapped(f"{head}{_ELLIPSIS}{tail}", room, sizes[-1])
        kept -= 1
    return Fitted("\n".join(lines), sizes[-1])
