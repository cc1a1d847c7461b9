"""What people give a command who have not read anything: each gets an answer that helps."""

from __future__ import annotations

import codecs
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.terminal import COMMAND

MEASURE = ("--measure", "auc_pr", "--buffer", "3", "--chance", "0", "--csv")


def frame():
    """Forty points, two anomalies, two scores with fractions."""
    labels = np.zeros(40, dtype=int)
    labels[8:12] = labels[30:33] = 1
    place = np.arange(40)
    return pd.DataFrame(
        {"label": labels, "A": labels + (place * 7 % 11) / 20, "B": (place * 13 % 17) / 16}
    )


@pytest.fixture
def expected(command):
    """What the plain file gives."""
    frame().to_csv("plain.csv", index=False)
    return command("evaluate", "plain.csv", *MEASURE).out


def same(outcome, expected):
    assert outcome.code == 0, outcome.err
    assert outcome.out == expected


@pytest.mark.parametrize(
    ("separator", "decimal", "said"),
    [
        (";", ".", "semicolon-separated"),
        (";", ",", "semicolon-separated, decimal commas"),
        ("\t", ".", "tab-separated"),
        ("\t", ",", "tab-separated, decimal commas"),
        ("|", ".", "bar-separated"),
        (" ", ".", "space-separated"),
    ],
)
def test_other_separators_are_understood_and_said(command, expected, separator, decimal, said):
    frame().to_csv("other.csv", index=False, sep=separator, decimal=decimal)
    outcome = command("evaluate", "other.csv", *MEASURE)
    same(outcome, expected)
    assert f"note: other.csv is read as {said}" in outcome.err.splitlines()


@pytest.mark.parametrize(
    ("encoding", "said"), [("utf-8-sig", ""), ("utf-16", "UTF-16"), ("cp1252", "CP1252")]
)
def test_other_encodings(command, expected, encoding, said):
    frame().assign(Größe="groß").to_csv("other.csv", index=False, encoding=encoding)
    outcome = command("evaluate", "other.csv", *MEASURE)
    same(outcome, expected)
    assert "left out: Größe" in outcome.err
    assert ("is read as" in outcome.err) == bool(said)
    assert said in outcome.err


def test_windows_line_ends(command, expected):
    frame().to_csv("dos.csv", index=False, lineterminator="\r\n")
    same(command("evaluate", "dos.csv", *MEASURE), expected)


def test_names_with_commas_and_quotes(command):
    frame().rename(columns={"A": 'a, "best"', "B": "b;c"}).to_csv("quoted.csv", index=False)
    outcome = command("evaluate", "quoted.csv", "--score", 'a, "best"', "--score", "b;c")
    assert outcome.code == 0
    assert 'scores: a, "best", b;c' in outcome.err


def test_huge_whole_numbers_as_time(command, expected):
    table = frame()
    table.insert(0, "unix_ns", 1_700_000_000_000_000_000 + np.arange(40) * 10**9)
    table.insert(0, "t", np.array([10**25 + i * 10**20 for i in range(40)], dtype=object))
    table.to_csv("time.csv", index=False)
    outcome = command("evaluate", "time.csv", *MEASURE)
    same(outcome, expected)
    reason = "strictly increasing, like a time"
    assert f"t ({reason}), unix_ns ({reason})" in outcome.err


def test_whole_numbers_first_and_fractions_far_below(command):
    many = 400_000  # beyond the part of the file that a reader looks at for types
    labels = np.zeros(many, dtype=int)
    labels[-9:-5] = 1
    score = [*["0"] * (many - 10), *["0.5"] * 10]
    pd.DataFrame({"label": labels, "A": score}).to_csv("late.csv", index=False)
    assert command("evaluate", "late.csv", *MEASURE).code == 0
    Path("late.csv").write_text(Path("late.csv").read_text() + "0,oops\n")
    outcome = command("evaluate", "late.csv", *MEASURE)
    assert outcome.err == (
        f"vuskit: late.csv, line {many + 2}: column 'A' must hold a number, got 'oops'\n"
    )


def test_constant_score_has_values(command):
    frame().assign(A=0.5).to_csv("constant.csv", index=False)
    assert command("evaluate", "constant.csv", "--score", "A").code == 0


@pytest.mark.parametrize(("label", "kind"), [(0, "normal"), (1, "anomalous")])
def test_one_class_only(command, label, kind):
    frame().assign(label=label).to_csv("one.csv", index=False)
    outcome = command("evaluate", "one.csv")
    assert (outcome.code, outcome.out) == (2, "")
    assert f"got {kind} ones only; every measure needs both" in outcome.err


SENTENCES = {
    "typo.csv": ("lable,A\n0,1.5\n1,2\n", "did you mean --label lable?"),
    "one_column.csv": ("score\n0.5\n0.7\n", "there must be labels besides the scores"),
    "labels_only.csv": ("label\n0\n1\n", "got 'label'; name one with --score"),
    "sheet.xlsx": ("PK\x03\x04", "a workbook must be saved as csv first"),
    "sheet.csv": ("PK\x03\x04", "not a csv file but an Excel workbook or another archive"),
    "table.txt": ("label,A\n0,1\n", "must end in .csv, .tsv, .parquet"),
    "ragged.csv": ("label;A\n0;1,5\n1;2;3\n", "line 3: every line must have 2 cells, got 3"),
    "gap.csv": ("label,A\nanomaly,1\n,2\nnormal,3\n", "got none in row 2"),
    "twice.csv": ("label,A,A\n0,1,2\n1,2,3\n", "column names must be unique"),
    "bytes.csv": ("label,A\n0,\0\n", "it contains binary data"),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_one_sentence(command, name):
    text, expected = SENTENCES[name]
    Path(name).write_text(text)
    outcome = command("evaluate", name)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"vuskit: {name}")
    assert expected in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_swapped_columns(command):
    frame().to_csv("x.csv", index=False)
    outcome = command("evaluate", "x.csv", "--label", "A", "--score", "label")
    assert outcome.code == 2
    assert "if the labels are in another column, name it with --label" in outcome.err


def test_swapped_files_do_not_overwrite_the_scores(command):
    frame().to_csv("scores.csv", index=False)
    before = Path("scores.csv").read_bytes()
    outcome = command("evaluate", "page.html", "--html", "scores.csv")
    assert outcome.code == 2
    assert "`--html` must be a file that ends in .html or .htm, got 'scores.csv'" in outcome.err
    assert Path("scores.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("module", "line", "said", "extra"),
    [
        ("pyarrow", ("evaluate", "plain.csv"), "reading csv files needs pyarrow", "cli"),
        ("pandas", ("compare", "plain.csv"), "needs pandas", "bench"),
    ],
)
def test_missing_library_is_answered_with_its_install_line(
    command, expected, monkeypatch, module, line, said, extra
):
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    outcome = command(*line)
    assert outcome.code == 2
    assert said in outcome.err
    assert f'pip install "vuskit[{extra}]"' in outcome.err


def test_empty_folder(command):
    for line in (("bench", "run"), ("bench", "status"), ("study", "all", "nothing")):
        outcome = command(*line)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("vuskit: ")
        assert len(outcome.err.splitlines()) == 1


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 16 KB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    done = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=16k", "none", place], capture_output=True, check=False
    )
    if not done or done.returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_full_disk_leaves_no_half_file(command, small_disk):
    frame().to_csv("scores.csv", index=False)
    outcome = command("evaluate", "scores.csv", "--html", small_disk / "page.html")
    assert outcome.code == 2
    assert "page.html cannot be written: the disk is full; free some space" in outcome.err
    scenarios = ("study", "scenarios", "--measure", "f_score", "--set", "n_points=500")
    outcome = command(*scenarios, "--output", small_disk)
    assert outcome.code == 2
    assert "the disk is full" in outcome.err
    assert list(small_disk.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="pipes close differently there")
@pytest.mark.parametrize("line", ["evaluate scores.csv --json", "data list --csv", "--help"])
def test_closed_pipe_is_quiet(tmp_path, line):
    frame().to_csv(tmp_path / "scores.csv", index=False)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        ended = subprocess.run(
            [*COMMAND, *line.split()],
            cwd=tmp_path,
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode in (0, 1)
    assert "Traceback" not in ended.stderr
    assert "Broken" not in ended.stderr


def test_a_mark_of_byte_order_alone(command):
    Path("bom.csv").write_bytes(codecs.BOM_UTF8)
    outcome = command("evaluate", "bom.csv")
    assert (outcome.code, outcome.out) == (2, "")
    assert "Traceback" not in outcome.err
