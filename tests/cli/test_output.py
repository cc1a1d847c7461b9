"""Output of all commands: warnings, tables and data."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from vuskit._util.tables import plain_data
from vuskit.cli._output import chosen_format, clean_warnings, csv_text, json_text, wrapped
from vuskit.errors import InvalidInputError

NOISY = """
import warnings
from vuskit import register_measure

@register_measure(name="noisy", title="Noisy")
def noisy(y_true, y_score):
    warnings.warn("two lines\\nof text", RuntimeWarning)
    warnings.warn("for developers", DeprecationWarning)
    return 0.5
"""


def test_warnings_are_one_line_without_a_path(command, scores_csv, tmp_path):
    (tmp_path / "own.py").write_text(NOISY)
    outcome = command("evaluate", "scores.csv", "--load", "own.py", "--measure", "noisy")
    assert outcome.code == 0
    lines = [line for line in outcome.err.splitlines() if "two lines" in line]
    assert lines == ["warning: two lines of text"]
    assert ".py" not in outcome.err
    assert "for developers" not in outcome.err


def test_warning_filters_are_restored(capsys):
    before = warnings.showwarning, list(warnings.filters)
    with clean_warnings():
        warnings.warn("once", UserWarning, stacklevel=1)
        warnings.warn("once", UserWarning, stacklevel=1)
    assert (warnings.showwarning, list(warnings.filters)) == before
    assert capsys.readouterr().err == "warning: once\n"


def test_only_one_form_at_a_time():
    assert chosen_format(json=False, csv=False) == "table"
    with pytest.raises(InvalidInputError, match="--json and --csv"):
        chosen_format(json=True, csv=True)


def test_json_has_no_nan():
    data = {"a": np.float64("nan"), "b": [np.int64(3), float("inf")], 4: None}
    assert json.loads(json_text(plain_data(data))) == {"a": None, "b": [3, None], "4": None}


def test_missing_cells_of_csv_are_empty():
    assert csv_text(["a", "b"], [[None, np.nan], [[1, 2], 0.1]]) == "a,b\n,\n1 2,0.1"


def test_long_words_stay_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = wrapped("  " + "word " * 12 + "x" * 60)
    assert "x" * 60 in text
    assert all(line.startswith("  ") for line in text.splitlines())
