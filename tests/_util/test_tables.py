"""Tables as csv: numbers stay numbers, texts are no formulas."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd

from vuskit._util.tables import csv_text, frame_csv


def test_numbers_keep_their_sign_and_precision():
    frame = pd.DataFrame({"a": [-0.1 - 0.2, np.nan], "b": [-3, 4], "name": ["-x", "y"]})
    text = frame_csv(frame)
    assert text == "a,b,name\n-0.30000000000000004,-3,'-x\n,4,y"
    read = pd.read_csv(io.StringIO(text))
    assert np.array_equal(read["a"], frame["a"], equal_nan=True)


def test_headings_and_lists_are_texts_too():
    assert csv_text(["=a", "b"], [[["+1", 2], True]]) == "'=a,b\n'+1 2,True"


def test_control_characters_do_not_reach_a_terminal():
    assert csv_text(["a"], [["x\x1b[2J\udce9"]]) == "a\nx\\x1b[2J\\xe9"
