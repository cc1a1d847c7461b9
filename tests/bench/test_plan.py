"""What a plan may say, and what is said about mistakes."""

from __future__ import annotations

import re

import pytest

import vuskit
from vuskit import EvaluationSettings, InvalidInputError, list_measures
from vuskit.bench import Run, run_plan
from vuskit.bench.plan import TEMPLATE, load_plan, parse_plan
from vuskit.datasets.synthetic import make_series


def complain(workshop, **parts):
    workshop.write(**parts)
    with pytest.raises(InvalidInputError) as caught:
        workshop.plan()
    message = str(caught.value)
    assert message.startswith(str(workshop.path))
    return message.removeprefix(f"{workshop.path}: ")


def test_lists_of_parameters_expand_to_a_grid(workshop):
    plan = workshop.write(
        detectors=[
            'name = "lof"\nn_neighbors = [5, 10]\nwindow = [20, 30, 40]\nnormalize = "zscore"'
        ]
    ).plan()
    assert [spec.label for spec in plan.detectors] == [
        f"LOF(n_neighbors={neighbors}, window={window})"
        for neighbors in (5, 10)
        for window in (20, 30, 40)
    ]
    assert plan.detectors[0].all_params["normalize"] == "zscore"


def test_groups_of_measures_stand_beside_single_ones(workshop):
    plan = workshop.write(
        evaluate="[[evaluate]]\nbuffer = 5\n"
        'measures = ["vus_pr", "paper", {name = "f_score", beta = 2}, "extra"]'
    ).plan()
    names = [spec.build().name for spec in plan.evaluations[0].measures]
    assert (names[0], names[13]) == ("vus_pr", "f_score(beta=2)")
    assert names[14:] == [measure.name for measure in list_measures() if measure.group == "extra"]


def test_measures_at_their_best_thresholds(workshop):
    plan = workshop.write(
        evaluate="[[evaluate]]\nbuffer = 5\n"
        'measures = [{name = "composite_f_score", threshold = "best"}, '
        '{name = "point_adjusted_f_score", k = 0.2}]'
    ).plan()
    names = [spec.build().name for spec in plan.evaluations[0].measures]
    assert names == ["composite_f_score(threshold=best)", "point_adjusted_f_score(k=0.2)"]


def test_synthetic_families_expand_to_a_grid(workshop):
    plan = workshop.write(
        series='[[series]]\nfamily = ["ecg", "kpi"]\n'
        'difficulty = ["easy", "hard"]\nseed = [1, 2, 3]'
    ).plan()
    assert len(plan.series[0].grid) == 12


def test_the_template_is_a_valid_plan(tmp_path):
    plan = parse_plan(TEMPLATE, base=tmp_path)
    assert len(plan.detectors) == 4
    assert plan.limits.memory == 4_000_000_000


def test_every_commented_key_of_the_template_is_known(tmp_path):
    pytest.importorskip("pyod", reason="PyOD is not installed")
    (tmp_path / "my_module.py").write_text("def my_function(values):\n    return values\n")
    (tmp_path / "my_measures.py").write_text("")
    for folder in ("data/series", "data/scores", "my_scores", "my_labels"):
        (tmp_path / folder).mkdir(parents=True)
    setting = re.compile(r"^# (\[\[\w+\]\]|\w+ = )", re.MULTILINE)
    everything = setting.sub(r"\1", TEMPLATE).replace('kind = "local"', 'kind = "dask"')
    plan = parse_plan(everything, base=tmp_path)
    assert (len(plan.series), len(plan.scores), len(plan.detectors)) == (2, 3, 6)
    assert plan.executor.address == "tcp://head:8786"


def test_the_default_buffer_is_auto(workshop):
    (entry,) = workshop.write(evaluate="[[evaluate]]").plan().evaluations
    assert entry.settings == EvaluationSettings(buffer="auto")
    (entry,) = parse_plan(TEMPLATE, base=workshop.base).evaluations
    assert entry.settings == EvaluationSettings(buffer="auto")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"top": 'fodler = "x"'}, "got an unknown key 'fodler'; did you mean 'folder'?"),
        ({"tail": "[[evaluate]]\nmeasures = 3"}, "measures` must be a name, a table, or a list"),
        ({"top": "seeds = [-1]"}, "`seeds[0]` must be an int >= 0, got -1"),
        (
            {"detectors": ['name = "iforrest"']},
            "`detectors[0]`: `name` must be a known detector, got 'iforrest'; "
            "did you mean 'iforest'?",
        ),
        (
            {"detectors": ['name = "lof"\nneighbors = 3']},
            "`detectors[0]`: lof has no parameter 'neighbors'; did you mean 'n_neighbors'?",
        ),
        (
            {"detectors": ['name = "lof"\nn_neighbors = [5, 0]']},
            "`detectors[0]`: `n_neighbors` must be an int >= 1, got 0",
        ),
        (
            {"detectors": ["fine", "fine"]},
            "`detectors` must have unique labels, got 'misbehaving:fine' twice; "
            "give one of them a `label`",
        ),
        (
            {"detectors": ['name = "lof"\nseed = 3']},
            "`detectors[0]` has no key 'seed'; set the plan's `seeds`, which apply to all",
        ),
        (
            {"detectors": ["nothing"]},
            "`detectors[0]`: `misbehaving:nothing` must be an importable module:name, "
            "got a module 'misbehaving' without 'nothing'",
        ),
        (
            {"detectors": ['name = "misbehaving:fine"\nfaktor = 2']},
            "`detectors[0]`: misbehaving:fine has no parameter 'faktor'",
        ),
        (
            {"series": '[[series]]\nfamily = "eeg"'},
            "`series[0]`: `family` must be one of 'ecg', 'kpi', 'mackey_glass', 'telemetry', "
            "'vibration', got 'eeg'; did you mean 'ecg'?",
        ),
        (
            {"series": '[[series]]\nfamily = "ecg"\nlength = 5'},
            "`series[0]` has no key 'length'; did you mean 'anomaly_length'?",
        ),
        (
            {"series": '[[series]]\nfamily = "ecg"\n[[series]]\nnames = "*"'},
            "`series[1].folder` must be given, got nothing",
        ),
        (
            {"series": '[series]\nfamily = "ecg"'},
            "`series` must be written as [[series]], once per entry, got {'family': 'ecg'}",
        ),
        (
            {"evaluate": '[[evaluate]]\nmeasures = ["vus-pr"]\nbuffer = 10'},
            "; did you mean 'vus_pr'?",
        ),
        (
            {"evaluate": '[[evaluate]]\nbuffer = "periods"'},
            "got 'periods'; did you mean 'period'?",
        ),
        (
            {"evaluate": '[[evaluate]]\nbuffer = 5\ndefinition = "jurnal"'},
            "got 'jurnal'; did you mean 'journal'?",
        ),
        (
            {"evaluate": '[[evaluate]]\nbuffer = 5\nmeasures = [{name = "f_score", betta = 2}]'},
            "got 'betta'; did you mean 'beta'?",
        ),
        (
            {"tail": '[limits]\nmemory = "4 pounds"'},
            "`limits.memory` must be an amount such as '4 GB', got '4 pounds'",
        ),
        ({"tail": "[limits]\nseconds = 0"}, "`limits.seconds` must be a number > 0, got 0"),
        (
            {"tail": '[executor]\nkind = "slurm"'},
            "`executor.kind` must be one of 'local', 'dask', got 'slurm'",
        ),
        ({"tail": "[executor]\nworker = 2"}, "; did you mean 'workers'?"),
        (
            {"tail": '[executor]\naddress = "tcp://head:8786"'},
            "`executor.address` must be omitted unless kind = \"dask\", got 'tcp://head:8786'",
        ),
        (
            {"tail": '[[scores]]\nfolder = "."\npattern = "{detector}.npy"'},
            "`scores[0].pattern` must contain {series} and end in .npy or .csv",
        ),
        (
            {"series": '[[series]]\nfolder = "."\nformat = "tbale"'},
            "`series[0].format` must be one of",
        ),
        (
            {"tail": "[[scores]]\nfolder = 'nowhere'"},
            "`scores[0].folder` must be an existing folder, got",
        ),
        ({"top": 'imports = ["no_such_module"]'}, "got No module named 'no_such_module'"),
        ({"top": "seeds = ["}, "(at line 2, column"),
    ],
)
def test_mistakes_are_named(workshop, parts, message):
    assert message in complain(workshop, **parts)


@pytest.mark.parametrize("where", ["imports", "detectors"])
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x = 1\n1 / 0\n", "got ZeroDivisionError: division by zero ({path}, line 2)"),
        ("import json\njson.loads('')\n", "(char 0) ({path}, line 2)"),
        ("def broken(:\n", "got SyntaxError: invalid syntax (broken_module.py, line 1)"),
        ("import no_such_module\n", "got No module named 'no_such_module' ({path}, line 1)"),
        ("raise SystemExit(3)\n", "got SystemExit: 3 ({path}, line 1)"),
    ],
)
def test_a_module_that_fails_when_it_is_imported_is_told_with_its_line(
    workshop, where, code, message
):
    path = workshop.base / "broken_module.py"
    path.write_text(code)
    parts = {
        "imports": {"top": 'imports = ["broken_module"]'},
        "detectors": {"detectors": ['name = "broken_module:find"']},
    }[where]
    assert message.format(path=path) in complain(workshop, **parts)


def test_a_plan_without_detectors_or_scores_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match=r"a plan must have \[\[series\]\] and"):
        parse_plan('[[series]]\nfamily = "ecg"', base=tmp_path)


def test_a_missing_plan_says_how_to_get_one(tmp_path):
    with pytest.raises(InvalidInputError, match="write one with: vuskit bench init "):
        load_plan(tmp_path / "bench.toml")


def test_series_that_cannot_be_made_stop_the_run_before_it_begins(workshop):
    workshop.write(series='[[series]]\nfamily = "ecg"\nn = 100')
    with pytest.raises(InvalidInputError, match="`n` must be >="):
        workshop.run()


def test_training_parts_are_left_out_of_the_measures(tmp_path):
    """Detectors see the whole series; measures see what follows its training part."""
    text = """
[[series]]
family = "ecg"
n = 2000
n_anomalies = 4
[[detectors]]
name = "values"
[[evaluate]]
measures = ["auc_pr"]
train_length = {length}
[executor]
workers = 1
"""
    series = make_series("ecg", n=2000, n_anomalies=4, seed=0)
    assert series.train_length == 200
    found = {}
    for length in ("0", '"auto"', "500"):
        (tmp_path / "bench.toml").write_text(text.format(length=length))
        run = Run(run_plan(load_plan(tmp_path / "bench.toml")).folder)
        (found[length],) = run.values()["value"]
        (settings,) = run.values()["settings"]
        shown = f", train_length={length.strip(chr(34))}" if length != "0" else ""
        assert settings.endswith(f"definition=journal{shown}")
    for length, first in (("0", 0), ('"auto"', 200), ("500", 500)):
        expected = vuskit.auc_pr(series.labels[first:], series.values[first:])
        assert found[length] == pytest.approx(expected), length
    (tmp_path / "bench.toml").write_text(text.format(length='"half"'))
    with pytest.raises(InvalidInputError, match=r"train_length` must be 'auto' or an int >= 0"):
        load_plan(tmp_path / "bench.toml")
