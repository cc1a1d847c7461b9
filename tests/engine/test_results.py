"""Result folders: complete files, equal bytes, no code executed."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit import InvalidInputError
from vuskit.engine import ResultFolder, decode_value, encode_value

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


@pytest.mark.parametrize("value", [{1: 2}, object(), np.array([None]), {"a": [{1, 2}]}])
def test_other_values_are_refused(value):
    with pytest.raises(InvalidInputError, match="a stored result must consist of"):
        encode_value(value)


def test_damaged_files_count_as_missing(tmp_path):
    results = ResultFolder(tmp_path / "new" / "folder")
    results.save("a1", VALUE)
    file = results.path("a1")
    assert [path.name for path in file.parent.iterdir()] == ["a1.npz"]
    assert results.load("a1").stored
    data = bytearray(file.read_bytes())
    for wrong in (b"", bytes(data[:50]), bytes(data[:40] + b"\xff\xff\xff" + data[43:])):
        file.write_bytes(wrong)
        assert results.load("a1") is None


def test_own_encoding(tmp_path):
    results = ResultFolder(tmp_path, encode=str.encode, decode=bytes.decode, suffix=".txt")
    results.save("a1", "text")
    assert (tmp_path / "a1.txt").read_text() == "text"
    assert results.load("a1").value == "text"


@pytest.mark.parametrize("key", ["", "../a", "a/b", ".hidden", "a" * 300, "a\n"])
def test_keys_that_are_no_file_names(tmp_path, key):
    with pytest.raises(InvalidInputError, match="`key` must consist of"):
        ResultFolder(tmp_path).load(key)
