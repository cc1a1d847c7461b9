"""Selection by name, and suggestions for misspelled names."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

from vuskit._util.text import quoted
from vuskit.errors import InvalidInputError


def did_you_mean(value: Any, known: Iterable[str]) -> str:
    """Return ``'; did you mean ...?'`` if a known name is similar, else an empty string."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(str(value).lower(), list(names), n=1, cutoff=0.6)
    return f"; did you mean {names[near[0]]!r}?" if near else ""


def plain_name(name: str) -> str:
    """Normalize case, dashes, spaces and underscores of a name."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def matches_name(name: str, pattern: str) -> bool:
    """Whether a shell pattern matches a name.

    The pattern may match the full name (``dataset/series``), the part after the last slash, or
    that part without its file extension. Matching is case-sensitive. A name always matches itself,
    even if it contains characters such as ``[``.
    """
    last = name.rpartition("/")[2]
    return any(
        text == pattern or fnmatch.fnmatchcase(text, pattern)
        for text in (name, last, PurePosixPath(last).stem)
    )


def match_names(
    names: Iterable[str], patterns: str | Iterable[str], *, argument: str = "names"
) -> list[str]:
    """Return the names that match any of the patterns, in their original order.

    See :func:`matches_name` for the rules.
    """
    available = list(names)
    wanted = [patterns] if isinstance(patterns, str) else list(patterns)
    chosen: set[str] = set()
    for pattern in wanted:
        found = [name for name in available if matches_name(name, pattern)]
        if not found:
            raise InvalidInputError(_no_match(argument, pattern, available))
        chosen.update(found)
    return [name for name in available if name in chosen]


def _no_match(argument: str, pattern: str, available: Sequence[str]) -> str:
    if not available:
        return f"`{argument}` must match an available name, got {pattern!r}, but there are none"
    shown = quoted(available)
    last = [name.rpartition("/")[2] for name in available]
    near = did_you_mean(pattern, [*last, *available])
    return f"`{argument}` must match an available name ({shown}), got {pattern!r}{near}"
