"""Texts of others: nothing in them is obeyed, and everything can be stored."""

from __future__ import annotations

import pytest

from vuskit._util.escapes import escape_control, escape_formula, escape_latex, escape_surrogates


def test_what_a_terminal_would_obey_is_shown():
    text = "a\x1b[31m\x07\x9b2J\r\x7f\u202e\u2067\udce9\ud800 b\n\tü 漢 🎈"
    assert escape_control(text) == (
        "a\\x1b[31m\\x07\\x9b2J\\x0d\\x7f\\u202e\\u2067\\xe9\\ud800 b\n\tü 漢 🎈"
    )
    escape_control(text).encode()


def test_only_surrogates_are_replaced_for_storing():
    assert escape_surrogates("\x1b caf\udce9 ü") == "\x1b caf\\xe9 ü"


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1"])
def test_formulas_begin_with_a_quote(text):
    assert escape_formula(text) == f"'{text}"


def test_latex():
    assert escape_latex("\\{x}~^& é \u03b1 \u03a9 ±") == (
        r"\textbackslash{}\{x\}\textasciitilde{}\textasciicircum{}\& é $\alpha$ $\Omega$ $\pm$"
    )
