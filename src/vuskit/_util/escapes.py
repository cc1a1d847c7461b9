"""Escape untrusted text for storage, terminals, spreadsheets, Markdown and LaTeX."""

from __future__ import annotations

import re

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
