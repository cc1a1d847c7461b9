"""Why finished jobs run again, and old values against new ones."""

from __future__ import annotations

import json
from collections import Counter

import pandas as pd
import pytest

from vuskit.bench import (
    Run,
    load_plan,
    run_plan,
)
from vuskit.bench.changes import BEFORE
from vuskit.bench.expand import expand_plan
from vuskit.bench.jobs import Kind
from vuskit.kernels.backend import core_name
from vuskit.store.store import Store

DETECTORS = """
from stale_tools import scale
LIMIT = 3
def first(values, factor=1.0):
    return factor * scale(values) + LIMIT
"""
OTHER = "def second(values):\n    return -values\n"
TOOLS = "FACTOR = 2\ndef scale(values):\n    return FACTOR * values\n"
MEASURES = """
from vuskit import register_measure
POWER = 2
@register_measure(name="stale_mean")
def stale_mean(y_true, y_score):
    return float((y_score - y_score.min()).mean() ** POWER * 0)
"""
PLAN = """
imports = ["stale_measures"]
[[series]]
folder = "data"
[[series]]
folder = "nab"
format = "nab"
[[detectors]]
name = "stale_detectors:first"
label = "First"
[[detectors]]
name = "stale_other:second"
label = "Second"
[[evaluate]]
measures = ["auc_pr", "stale_mean"]
buffer = 4
"""


@pytest.fixture
def finished(workshop):
    """A finished run on two files and a series whose labels are in a third file."""
    base = workshop.base
    (base / "stale_detectors.py").write_text(DETECTORS)
    (base / "stale_tools.py").write_text(TOOLS)
    (base / "stale_other.py").write_text(OTHER)
    (base / "stale_measures.py").write_text(MEASURES)
    (base / "data").mkdir()
    for name, period in (("pump", 7), ("valve", 5)):
        rows = [f"{i % period},{int(20 <= i < 26)}" for i in range(60)]
        (base / "data" / f"{name}.csv").write_text("\n".join(["value,label", *rows, ""]))
    (base / "nab" / "data" / "g").mkdir(parents=True)
    (base / "nab" / "labels").mkdir()
    rows = [f"2026-01-01 00:{i:02d}:00,{i * 7 % 11}" for i in range(60)]
    (base / "nab/data/g/art.csv").write_text("\n".join(["timestamp,value", *rows, ""]))
    label(base, 10)
    workshop.path.write_text(PLAN)
    workshop.run()
    assert reasons(workshop) == {}
    return workshop


def label(base, minute):
    window = [[f"2026-01-01 00:{minute}:00", f"2026-01-01 00:{minute + 5}:00"]]
    (base / "nab/labels/combined_windows.json").write_text(json.dumps({"g/art.csv": window}))


def reasons(workshop):
    """Number of jobs by reason."""
    found = Counter()
    with Store.read(workshop.folder) as store:
        for one in expand_plan(workshop.plan(), store).stale:
            found[one.reason] += one.jobs
    return found


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


CHANGES = [
    ("stale_tools.py", "FACTOR = 2", "FACTOR = 3",
     {"code of `stale_detectors:first` changed (stale_tools)": 3}),
    ("stale_other.py", "return -values", "return -2 * values",
     {"code of `stale_other:second` changed (stale_other)": 3}),
    ("stale_measures.py", "POWER = 2", "POWER = 3",
     {"measure stale_mean changed (stale_measures)": 6}),
    ("data/pump.csv", "0,0\n", "0.5,0\n", {"pump.csv changed": 2}),
    ("bench.toml", 'label = "First"', 'label = "First"\nfactor = 2.5',
     {"parameter factor default -> 2.5": 3}),
    ("bench.toml", "buffer = 4", "buffer = 6", {"settings: buffer 4 -> 6": 12}),
    ("bench.toml", '"stale_other:second"', '"values"',
     {"Second is `values` now, was `stale_other:second`": 3}),
    ("bench.toml", '"Second"', '"Renamed"', {}),
    ("bench.toml", '"auc_pr", ', '"auc_pr", "vus_pr", ', {}),
    ("bench.toml", "[[evaluate]]", '[[detectors]]\nname = "values"\n[[evaluate]]', {}),
]  # fmt: skip


def test_every_change_has_its_reason(finished):
    for name, old, new, expected in CHANGES:
        edit(finished.base / name, old, new)
        assert reasons(finished) == expected, (old, new)
        edit(finished.base / name, new, old)
    assert reasons(finished) == {}
    label(finished.base, 30)
    # Scores do not depend on labels; two detectors, two tasks with measures.
    assert reasons(finished) == {"labels or other data in combined_windows.json changed": 4}
    assert {job.kind for job, _ in finished.run()} == {Kind.EVALUATE}


def test_several_changes_of_a_job_are_one_reason(finished):
    edit(finished.base / "stale_tools.py", "FACTOR = 2", "FACTOR = 3")
    edit(finished.base / "data/pump.csv", "0,0\n", "0.5,0\n")
    code = "code of `stale_detectors:first` changed (stale_tools)"
    assert reasons(finished) == {code: 2, f"pump.csv changed; {code}": 1, "pump.csv changed": 1}
    finished.run()
    assert reasons(finished) == {}


def version_notes(finished):
    with Store.read(finished.folder) as store:
        expanded = expand_plan(finished.plan(), store)
    assert not expanded.stale
    return [note for note in expanded.notes if "versions" in note]


def test_results_of_other_library_versions_are_noted(finished, monkeypatch):
    assert version_notes(finished) == []
    monkeypatch.setattr("vuskit._util.optional._version", lambda name: "99.0")
    (note,) = version_notes(finished)
    assert "kept results from other library versions: 18 with numpy " in note
    assert "(now 99.0)" in note


def test_results_of_another_core_are_noted(finished, monkeypatch):
    now = core_name()
    other = "numpy" if now == "native" else "native"
    monkeypatch.setattr("vuskit.kernels.backend.core_name", lambda: other)
    kept = f"18 with core {now} (now {other})"
    assert version_notes(finished) == [f"kept results from other library versions: {kept}"]


# -- values ----------------------------------------------------------------------------------------

SCORES_PLAN = """
[[scores]]
folder = "scores"
[[evaluate]]
measures = ["auc_pr"]
buffer = 5
[executor]
workers = 1
"""


def write_scores(folder, *, first_score):
    folder.mkdir(exist_ok=True)
    for name in ("a", "b"):
        label = [0] * 20 + [1] * 5 + [0] * 15
        value = [ord(name) + place for place in range(40)]
        frame = pd.DataFrame({"value": value, "label": label, "LOF": range(40)})
        if name == "a":
            frame.loc[0, "LOF"] = first_score
        frame.to_csv(folder / f"{name}.csv", index=False)


@pytest.fixture
def plan(tmp_path):
    write_scores(tmp_path / "scores", first_score=0)
    (tmp_path / "bench.toml").write_text(SCORES_PLAN)
    return tmp_path / "bench.toml"


def test_values_before_a_change_are_kept_and_compared(plan):
    first = run_plan(load_plan(plan))
    assert first.changes is None
    old = Run(first.folder).values().set_index("series")["value"]
    assert run_plan(load_plan(plan)).changes is None  # nothing was repeated
    write_scores(plan.parent / "scores", first_score=99)
    again = run_plan(load_plan(plan))
    new = Run(first.folder).values().set_index("series")["value"]
    assert new["a"] < old["a"]
    assert again.changes is not None
    assert (again.changes.n_compared, again.changes.n_changed) == (2, 1)
    assert str(again.changes) == (
        "1 of 2 values changed; largest change: auc_pr of LOF on scores/a, "
        f"{old['a']:.3f} -> {new['a']:.3f}"
    )
    kept = pd.read_csv(first.folder / BEFORE).set_index("series")["value"]
    assert kept.to_dict() == pytest.approx(old.to_dict())
    assert Run(first.folder).status().n_values == 2  # not those of the earlier plan
