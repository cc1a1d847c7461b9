"""Documents: numbers are packed such that the scripts get them back."""

from __future__ import annotations

import base64
import json

import numpy as np

from vuskit.report.page.document import compact, safe_json


def floats(packed):
    return np.frombuffer(base64.b64decode(packed["f4"]), dtype="<f4")


def test_numbers_come_back():
    values = [0.5, None, "inf", "-inf", 3, 0.1, 0.2, 0.3]
    expected = [0.5, np.nan, np.inf, -np.inf, 3, 0.1, 0.2, 0.3]
    np.testing.assert_allclose(floats(compact(values)), expected, rtol=1e-7)


def test_rows_of_equal_length_are_packed_together():
    rows = np.arange(15.0).reshape(3, 5)
    packed = compact({"rows": rows.tolist()})["rows"]
    assert packed["columns"] == 5
    np.testing.assert_array_equal(floats(packed).reshape(-1, 5), rows)


def test_everything_else_stays_as_it_is():
    data = {
        "short": [1.0, 2.0],
        "words": list("abcdefghij"),
        "uneven": [[1.0] * 3, [2.0] * 2],
        "flags": [True] * 9,
        "nothing": [],
        "text": "inf",
    }
    assert compact(data) == data
    assert json.loads(safe_json(compact(data))) == data
