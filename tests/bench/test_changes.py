"""Old values against new ones, after data changed."""

from __future__ import annotations

import pandas as pd
import pytest

from vuskit.bench import Run, load_plan, run_plan
from vuskit.bench.changes import BEFORE

PLAN = """
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
    (tmp_path / "bench.toml").write_text(PLAN)
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
