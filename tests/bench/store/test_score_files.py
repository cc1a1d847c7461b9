"""Score files: complete or not there."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit.bench.store import ScoreFiles


def test_half_written_scores_leave_nothing(tmp_path, monkeypatch):
    files = ScoreFiles(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        files.write(np.arange(5.0))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_equal_scores_share_a_file(tmp_path):
    files = ScoreFiles(tmp_path)
    first = files.write(np.arange(5.0))
    assert files.write(np.arange(5)) == first
    assert files.write(np.arange(6.0)) != first
    assert len(list(tmp_path.rglob("*.npy"))) == 2
    assert np.load(files.path(first)).tolist() == [0, 1, 2, 3, 4]
