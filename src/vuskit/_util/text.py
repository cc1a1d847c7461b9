"""Text: counts, lists, numbers, durations, names and suggestions; escapes of untrusted text."""

from __future__ import annotations

import difflib
import fnmatch
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

from vuskit.errors import InvalidInputError

_LEAST_LAST_COLUMN = 20
_BYTES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BYTES |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def plural(count: int, noun: str, many: str | None = None) -> str:
    """Return a count with its noun; `many` is the plural form if irregular."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def storable_text(text: str, *, most: int) -> str:
    """Return text as valid UTF-8 without NUL, with at most `most` characters.

    Lone surrogates and NUL are escaped. Long text is shortened in the middle.
    """
    if len(text) <= most:
        escaped = _escaped(text)
        if len(escaped) <= most:
            return escaped
        text = escaped
    mark = f" [… {len(text):,} characters left out …] "
    half = max(0, (most - len(mark)) // 2)
    if not half:
        return _escaped(text[:most])[:most]
    # Cut before escaping, because a copy of a very long text might not fit into memory.
    head, tail = _escaped(text[:half])[:half], _escaped(text[-half:])[-half:]
    return f"{head} [… {len(text) - 2 * half:,} characters left out …] {tail}"


def _escaped(text: str) -> str:
    return str.encode(text, "utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def listed(names: Sequence[str], *, most: int = 12) -> str:
    """Join names with commas; shorten the list after `most` names."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def quoted(names: Iterable[str], *, most: int = 12) -> str:
    """Quote names and join them with commas; shorten the list after `most` names."""
    return listed([repr(name) for name in names], most=most)


def format_cell(value: object) -> str:
    """Format a float with three significant digits, NaN as empty text, other values with str."""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return ""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:g}"


def format_duration(seconds: float) -> str:
    """Format a duration in at most two units."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02d}m"
    return f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"


def parse_bytes(name: str, value: Any) -> int:
    """Parse an amount of memory: a number of bytes, or a text with a unit."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)\s*", str(value), re.IGNORECASE)
    unit = match[2].upper() if match else ""
    if match is None or unit not in _BYTES or float(match[1]) == 0:
        raise InvalidInputError(f"`{name}` must be an amount such as '4 GB', got {value!r}")
    return round(float(match[1]) * _BYTES[unit])


def wrapped_table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """Format left-aligned columns; wrap the last column to the width."""
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns[:-1]]
    indent = sum(widths) + 2 * len(widths)
    room = max(width - indent, _LEAST_LAST_COLUMN)
    lines = []
    for row in (header, *rows):
        first = "".join(f"{cell:<{size}}  " for cell, size in zip(row[:-1], widths, strict=True))
        wrapped = textwrap.wrap(row[-1], room, break_on_hyphens=False) or [""]
        lines.append(first + wrapped[0])
        lines.extend(" " * indent + rest for rest in wrapped[1:])
    return "\n".join(line.rstrip() for line in lines)


# -- escaping untrusted text -----------------------------------------------------------------------


_SURROGATE = re.compile("[\ud800-\udfff]")
# Terminal control codes, and characters that reorder or hide text; newline and tab are allowed.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
# Escaping "<" suffices to prevent HTML elements; ">" stays readable.
_MARKDOWN = str.maketrans({"&": "&amp;", "<": "&lt;"})
# In Unicode order, starting at alpha; omicron has no command.
_GREEK = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa",
    "lambda", "mu", "nu", "xi", "mathrm{o}", "pi", "rho", "varsigma", "sigma", "tau", "upsilon",
    "phi", "chi", "psi", "omega",
]  # fmt: skip
_CAPITALS = {"gamma", "delta", "theta", "lambda", "xi", "pi", "sigma", "upsilon", "phi", "psi"}
_CAPITALS |= {"omega"}
_SIGNS = {
    "\N{PLUS-MINUS SIGN}": "pm",
    "\N{MULTIPLICATION SIGN}": "times",
    "\N{LESS-THAN OR EQUAL TO}": "leq",
    "\N{GREATER-THAN OR EQUAL TO}": "geq",
    "\N{ALMOST EQUAL TO}": "approx",
    "\N{NOT EQUAL TO}": "neq",
    "\N{INFINITY}": "infty",
    "\N{RIGHTWARDS ARROW}": "rightarrow",
    "\N{DOWNWARDS ARROW}": "downarrow",
    "\N{MICRO SIGN}": "mu",
    **{chr(0x3B1 + place): name for place, name in enumerate(_GREEK)},
    **{chr(0x391 + k): name.title() for k, name in enumerate(_GREEK) if name in _CAPITALS},
}
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "\N{MINUS SIGN}": "$-$",
        "\N{EN DASH}": "--",
        "\N{EM DASH}": "---",
        **{letter: "\\" + letter for letter in "&%$#_{}"},
        **{letter: rf"$\{name}$" for letter, name in _SIGNS.items()},
    }
)


def is_utf8(text: str) -> bool:
    """Whether a text, such as a path, can be encoded as UTF-8."""
    return _SURROGATE.search(text) is None


def escape_surrogates(text: str) -> str:
    """Escape lone surrogates, which represent bytes of file names that are not UTF-8."""
    return _SURROGATE.sub(_escape, text)


def escape_control(text: str) -> str:
    """Escape characters that a terminal would interpret as commands."""
    return _CONTROL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte, as Python decodes file names
        code -= 0xDC00
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"


def escape_formula(text: str) -> str:
    """Put a quote before a text that a spreadsheet would treat as a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def escape_markdown(text: str) -> str:
    """Escape HTML, so that Markdown shows it as text."""
    return text.translate(_MARKDOWN)


def escape_latex(text: str) -> str:
    r"""Escape a text so that LaTeX shows it unchanged.

    Greek letters and signs such as ± become commands, because pdfLaTeX does not support them.
    Accented Latin letters are kept. Letters of other scripts are kept too; they require XeLaTeX or
    LuaLaTeX.
    """
    return escape_control(text).translate(_LATEX)


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
