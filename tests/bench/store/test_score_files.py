"""Score files: complete or not there."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit.bench.store import ScoreFiles
from vuskit.errors import InvalidInputError


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


@pytest.mark.parametrize(
    "digest", ["../../secret", "0" * 63, "0" * 65, "0" * 63 + "G", "", "/" * 64]
)
def test_only_digests_become_paths(tmp_path, digest):
    with pytest.raises(InvalidInputError, match="`digest` must be 64 hexadecimal digits"):
        ScoreFiles(tmp_path).path(digest)


def test_cleaning_follows_no_links(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".vuskit-tmp-0").symlink_to(tmp_path / "mine")
    ScoreFiles(tmp_path / "run").clean()
    assert (tmp_path / "mine" / "file").exists()
