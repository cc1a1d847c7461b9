"""Spans of time as people write them."""

from __future__ import annotations

import re

import typer

__all__ = ["format_duration", "parse_duration"]

_UNITS = {"h": 3600, "m": 60, "s": 1}
_PATTERN = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")


def parse_duration(text: str) -> float:
    """Read a span of time in seconds.

    Raises
    ------
    typer.BadParameter
        If it is none.

    Examples
    --------
    >>> parse_duration("5m"), parse_duration("1h30m"), parse_duration("90"), parse_duration("2.5s")
    (300.0, 5400.0, 90.0, 2.5)
    """
    match = _PATTERN.fullmatch(text.strip())
    amounts = [0.0 if part is None else float(part) for part in match.groups()] if match else []
    seconds = sum(a * unit for a, unit in zip(amounts, _UNITS.values(), strict=False))
    if seconds <= 0:
        raise typer.BadParameter(f"must be a time such as 90s, 5m or 1h30m, got {text!r}")
    return seconds


def format_duration(seconds: float) -> str:
    """Write a span of time in at most two units.

    Examples
    --------
    >>> [format_duration(value) for value in (3.2, 75, 4000)]
    ['3s', '1m15s', '1h06m']
    """
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02d}m"
    return f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"
