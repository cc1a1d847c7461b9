"""Files are complete or not there."""

from __future__ import annotations

import threading

import pytest

from vuskit._util.files import atomic_files, atomic_path, write_atomically


class BrokenError(Exception):
    pass


def test_replaces_on_success(tmp_path):
    path = tmp_path / "a.npz"
    for data in ("first", b"second"):
        write_atomically(path, data, durable=True)
    assert path.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [BrokenError, KeyboardInterrupt])
def test_failure_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "a.csv"
    path.write_text("old")

    def write_half():
        with atomic_path(path) as temporary:
            assert temporary.suffix == ".csv"
            assert temporary.parent == tmp_path
            temporary.write_text("half")
            assert path.read_text() == "old"
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "no" / "a", "text")


def test_temporary_file_in_another_folder(tmp_path):
    (tmp_path / "scratch").mkdir()
    with atomic_path(tmp_path / "a", scratch=tmp_path / "scratch") as temporary:
        assert temporary.parent == tmp_path / "scratch"
        temporary.write_text("x")
    assert (tmp_path / "a").read_text() == "x"
    assert not list((tmp_path / "scratch").iterdir())


def test_text_is_utf8_with_unix_line_ends(tmp_path):
    write_atomically(tmp_path / "a", "é\n")
    assert (tmp_path / "a").read_bytes() == b"\xc3\xa9\n"


def test_threads_do_not_share_a_temporary_file(tmp_path):
    texts = [str(number) * 100_000 for number in range(8)]
    threads = [
        threading.Thread(target=write_atomically, args=(tmp_path / "a", text)) for text in texts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "a").read_text() in texts
    assert len(list(tmp_path.iterdir())) == 1


def test_files_of_a_folder(tmp_path):
    folder = tmp_path / "new" / "tables"
    with atomic_files(folder) as temporary:
        (temporary / "a").write_text("1")
        (temporary / "b").write_text("2")
        assert not (folder / "a").exists()
    assert sorted(path.name for path in folder.iterdir()) == ["a", "b"]


def test_no_file_of_a_folder_after_a_failure(tmp_path):
    (tmp_path / "a").write_text("1")

    def write_half():
        with atomic_files(tmp_path) as temporary:
            (temporary / "a").write_text("half")
            raise BrokenError

    with pytest.raises(BrokenError):
        write_half()
    assert (tmp_path / "a").read_text() == "1"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_prepared_link_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "mine").write_text("mine")
    monkeypatch.setattr("secrets.token_hex", lambda _: "known")
    (tmp_path / ".vuskit-known.csv").symlink_to(tmp_path / "mine")
    with pytest.raises(FileExistsError):
        write_atomically(tmp_path / "a.csv", "text")
    assert (tmp_path / "mine").read_text() == "mine"


def test_others_may_read_what_the_umask_lets_them_read(tmp_path):
    write_atomically(tmp_path / "a", "text")
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode
