"""Values of results: equal bytes, no code executed."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit import InvalidInputError
from vuskit.store.encoding import decode_value, encode_value

VALUE = {
    "none": None,
    "flag": True,
    "text": "µ",
    "numbers": [1, 2.5, -0.0, float("inf"), 2**70],
    "pair": (np.float64(1.5), ()),
    "nested": {"array": {"dict": [np.arange(6).reshape(2, 3)]}},
    "empty": {},
    "names": np.array(["a", "bc"]),
}


def test_values_survive():
    found = decode_value(encode_value(VALUE))
    assert encode_value(found) == encode_value(VALUE)
    assert list(found) == list(VALUE)
    assert found["numbers"] == VALUE["numbers"]
    assert found["pair"] == (1.5, ())
    np.testing.assert_array_equal(found["nested"]["array"]["dict"][0], [[0, 1, 2], [3, 4, 5]])
    assert found["names"].tolist() == ["a", "bc"]
    assert np.isnan(decode_value(encode_value(float("nan"))))


def test_plain_values_are_text():
    plain = {"values": {"auc_pr": 0.1}, "buffer": None, "list": [1, "a", True]}
    assert isinstance(encode_value(plain), str)
    assert decode_value(encode_value(plain)) == plain
    exact = 0.1 + 0.2
    assert decode_value(encode_value(exact)) == exact


@pytest.mark.parametrize("value", [{1: 2}, object(), np.array([None]), {"a": [{1, 2}]}])
def test_other_values_are_refused(value):
    with pytest.raises(InvalidInputError, match="a stored result must consist of"):
        encode_value(value)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", "{", b"\x80\x04K\x01."])
def test_damaged_data_are_an_error(data):
    with pytest.raises(Exception, match=r"."):
        decode_value(data)
