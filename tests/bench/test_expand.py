"""Which jobs a plan has, which are done, and what a changed plan runs again."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from vuskit import InvalidInputError, evaluate
from vuskit.bench import (
    Run,
    Status,
)
from vuskit.bench.expand import expand_plan
from vuskit.bench.jobs import Kind
from vuskit.datasets.synthetic import make_series, three_scores
from vuskit.store.store import Store


def kinds(done):
    counts = {}
    for job, _ in done:
        counts[job.kind] = counts.get(job.kind, 0) + 1
    return counts


def test_values_are_those_of_the_functions(workshop):
    workshop.write(detectors=['name = "values"'])
    workshop.run()
    frame = Run(workshop.folder).values()
    for seed in (1, 2):
        series = make_series("ecg", n=1500, n_anomalies=3, seed=seed)
        expected = evaluate(series.labels, series.values, buffer=90, measures=["auc_pr", "vus_pr"])
        rows = frame[frame["series"] == series.name]
        assert dict(zip(rows["measure"], rows["value"], strict=True)) == dict(expected)
        assert set(rows["buffer"]) == {90}
        assert set(rows["buffer_reason"]) == {"median_anomaly: median length of 3 anomalies"}


def test_a_changed_plan_runs_what_is_new(workshop):
    workshop.write()
    assert kinds(workshop.run()) == {Kind.SCORE: 2, Kind.EVALUATE: 2}
    assert workshop.run() == []
    workshop.write(detectors=["fine", 'name = "random"'])
    done = workshop.run()
    assert {job.label for job, _ in done} == {"Random"}
    assert kinds(done) == {Kind.SCORE: 2, Kind.EVALUATE: 2}
    # Other settings are other evaluations; the same evaluation twice is done once.
    entry = '[[evaluate]]\nmeasures = ["vus_pr"]\nbuffer = 20\nthresholds = 50\n'
    workshop.write(evaluate=entry * 2)
    assert kinds(workshop.run()) == {Kind.EVALUATE: 2}
    assert workshop.run() == []
    # The table holds what the latest plan asks for.
    frame = Run(workshop.folder).values()
    assert set(frame["settings"]) == {"buffer=20, thresholds=50, definition=journal"}


def test_a_new_measure_is_computed_from_stored_scores(workshop):
    workshop.write(detectors=["raises", "fine"])
    workshop.run()
    before = Run(workshop.folder).values()
    workshop.write(
        detectors=["fine"],
        evaluate='[[evaluate]]\nmeasures = ["vus_roc", "auc_pr", "vus_pr"]\n'
        'buffer = "median_anomaly"',
    )
    done = workshop.run()
    assert kinds(done) == {Kind.EVALUATE: 2}
    # The measures of vuskit are one job, so that it computes all of them.
    assert {tuple(one.name for one in job.measures) for job, _ in done} == {
        ("vus_roc", "auc_pr", "vus_pr")
    }
    after = Run(workshop.folder).values()
    assert len(after) == 6
    keys = ["series", "measure"]
    both = before.merge(after, on=keys, suffixes=("", "_after"))
    assert len(both) == len(before) == 4
    assert both["value"].equals(both["value_after"])


def test_equal_scores_of_two_seeds_are_evaluated_for_each(workshop):
    (workshop.base / "seed_ignored.py").write_text("def f(values, seed):\n    return values\n")
    workshop.write(detectors=['name = "seed_ignored:f"'], top="seeds = [0, 1, 2]")
    assert kinds(workshop.run()) == {Kind.SCORE: 6, Kind.EVALUATE: 6}
    assert len(list(workshop.folder.rglob("*.npy"))) == 6
    assert len(Run(workshop.folder).values()) == 12


UNSEEDED = "def f(values):\n    return values**2\n"


@pytest.mark.parametrize("detector", ["values", "unseeded:f"])
def test_a_detector_whose_seed_does_not_matter_runs_once_and_has_none(workshop, detector):
    (workshop.base / "unseeded.py").write_text(UNSEEDED)
    workshop.write(detectors=[f'name = "{detector}"', "fine"], top="seeds = [3, 4, 5]")
    assert kinds(workshop.run())[Kind.SCORE] == 2 + 6
    frame = Run(workshop.folder).values()
    own = frame["detector"] != "misbehaving:fine"
    assert frame[own]["seed"].isna().all()
    assert len(frame[own]) == 4
    assert set(frame[~own]["seed"]) == {3, 4, 5}
    # Other seeds are no reason to run it again.
    workshop.write(detectors=[f'name = "{detector}"', "fine"], top="seeds = [6]")
    assert {job.label for job, _ in workshop.run()} == {"misbehaving:fine"}


def write_series(folder, name, seed, n=1500):
    series = make_series("ecg", n=n, n_anomalies=3, seed=seed)
    folder.mkdir(exist_ok=True, parents=True)
    table = np.column_stack([series.values, series.labels])
    np.savetxt(folder / f"{name}.out", table, "%.17g,%d")
    return series


@pytest.fixture
def data(workshop):
    for place, name in enumerate("abcde"):
        write_series(workshop.base / "data" / "One", name, seed=place)
    write_series(workshop.base / "data" / "Two", "long", seed=9, n=4000)
    return workshop.base / "data"


def selected(workshop, text):
    plan = workshop.write(series=f'[[series]]\nfolder = "data"\n{text}').plan()
    with Store(workshop.folder) as store:
        expanded = expand_plan(plan, store)
    return sorted(job.series.title for job in expanded.scores), expanded.notes


@pytest.mark.usefixtures("data")
def test_series_are_chosen_by_name_data_set_size_and_sample(workshop):
    assert len(selected(workshop, "")[0]) == 6
    assert selected(workshop, 'names = ["a", "Two/*"]')[0] == ["One/a.out", "Two/long.out"]
    assert selected(workshop, 'datasets = "Two"')[0] == ["Two/long.out"]
    assert selected(workshop, "min_points = 2000")[0] == ["Two/long.out"]
    assert len(selected(workshop, "max_points = 2000")[0]) == 5
    some = selected(workshop, "sample = 3\nsample_seed = 4")[0]
    assert len(some) == 3
    assert selected(workshop, "sample = 3\nsample_seed = 4")[0] == some


def test_broken_and_double_files_are_noted_and_the_rest_runs(workshop, data):
    (data / "One" / "broken.out").write_text("1,0\n2,two\n")
    (data / "Two" / "again.out").write_bytes((data / "One" / "a.out").read_bytes())
    titles, notes = selected(workshop, "")
    assert len(titles) == 6
    assert any("broken.out" in note for note in notes)
    assert "Two/again.out is identical to One/a.out; it runs only once" in notes


def test_files_that_no_format_claims_are_noted(workshop, data):
    (data / "One" / "nolabel.csv").write_text("value,kind\n1,0\n2,1\n")
    (data / "empty.csv").touch()
    titles, notes = selected(workshop, "")
    assert len(titles) == 6
    (note,) = notes
    assert note.startswith(f"{data}: skipped 2 files of unknown format")
    assert note.endswith(": 'One/nolabel.csv', 'empty.csv'")
    assert selected(workshop, 'names = "Two/*"')[1] == []  # not asked for
    for place in range(10):
        (data / f"{place}.tab").touch()
    (note,) = selected(workshop, "")[1]
    assert note.endswith("'4.tab', '5.tab' and 6 more")


def test_columns_left_out_and_missing_values_are_noted_whenever_the_plan_is_read(workshop):
    folder = workshop.base / "data"
    folder.mkdir()
    rows = [f"{i},{'' if i == 7 else i % 4},{int(i == 9)}" for i in range(40)]
    (folder / "a.csv").write_text("\n".join(["step,value,label", *rows]))
    expected = [
        "column not used as a channel: step (strictly increasing, like a time), in data/a; "
        "select channels with options = {values = [...]}",
        "missing values (NaN) in data/a; these detectors fail there unless you set `impute`: "
        "misbehaving:fine",
    ]
    for _ in range(2):  # the second time from the store
        titles, notes = selected(workshop, "")
        assert (titles, notes) == (["data/a"], expected)
    assert "fail there" not in str(selected(workshop, 'options = {values = ["step"]}')[1])


def test_a_plan_that_selects_nothing_is_refused(workshop, data):
    with pytest.raises(InvalidInputError, match="must select at least one series, got none"):
        selected(workshop, "min_points = 1_000_000")
    names = "'One/a.out', 'One/b.out', .*, got 'nothing\\*'"
    with pytest.raises(InvalidInputError, match=rf"toml: `series\[0\].names` must match .*{names}"):
        selected(workshop, 'names = ["a", "nothing*"]')
    with pytest.raises(InvalidInputError, match=r"`series\[0\].datasets` .*; did you mean 'One'"):
        selected(workshop, 'datasets = "Onee"')


def test_a_changed_file_is_read_again_and_runs_again(workshop, data):
    workshop.write(series='[[series]]\nfolder = "data"\nnames = "One/*"')
    assert kinds(workshop.run())[Kind.SCORE] == 5
    write_series(data / "One", "a", seed=77)
    done = workshop.run()
    assert {job.series.title for job, _ in done} == {"One/a.out"}


def test_one_class_is_skipped_and_leaves_no_value(workshop):
    workshop.write(series='[[series]]\nfamily = "ecg"\nn = 1500\nn_anomalies = 0')
    done = workshop.run()
    assert [str(outcome.status) for _, outcome in done] == ["OK", "SKIPPED"]
    assert "only one class" in done[1][1].message
    assert workshop.values() == {}


def test_a_detector_of_one_channel_is_skipped_where_there_are_more(workshop):
    data = workshop.base / "data" / "Wide"
    data.mkdir(parents=True)
    rows = [f"{i % 7},{i % 5},{int(30 <= i < 40)}" for i in range(200)]
    (data / "x.csv").write_text("\n".join(["a,b,label", *rows]))
    workshop.write(
        series='[[series]]\nfolder = "data"', detectors=['name = "mp"', 'name = "values"']
    )
    outcomes = {(job.label, job.kind): outcome for job, outcome in workshop.run()}
    assert outcomes["MP", Kind.SCORE].status is Status.SKIPPED
    assert outcomes["MP", Kind.SCORE].message == "MP accepts one channel, but Wide/x has more"
    assert outcomes["MP", Kind.SCORE].warm_up_seconds is None  # nothing is compiled for it
    assert outcomes["Values", Kind.EVALUATE].status is Status.OK
    assert len(outcomes) == 3


def test_a_buffer_strategy_that_finds_nothing_needs_a_fallback(workshop):
    data = workshop.base / "data" / "Slope"
    data.mkdir(parents=True)
    table = np.column_stack([np.arange(600), np.arange(600) // 20 == 10])
    np.savetxt(data / "x.out", table, "%.17g,%d")
    series = '[[series]]\nfolder = "data"'
    without = '[[evaluate]]\nmeasures = ["vus_pr"]\nbuffer = "period"'
    workshop.write(series=series, evaluate=without)
    (_, skipped) = workshop.run()[1]
    assert skipped.status is Status.SKIPPED
    assert "or set `buffer_fallback`" in skipped.message
    (note,) = Run(workshop.folder).status().notes
    assert note.startswith("1 series has no values of measures that need a buffer (buffer=period, ")
    workshop.write(series=series, evaluate=f"{without}\nbuffer_fallback = 30")
    (_, good) = workshop.run()[0]
    assert (good.status, good.value.buffer) == (Status.OK, 30)
    assert good.value.buffer_reason.startswith("fallback: `values` must show a period")


def test_measures_without_a_buffer_have_values_where_none_is_found(workshop):
    data = workshop.base / "data" / "Slope"
    data.mkdir(parents=True)
    for name, slope in (("x", 1), ("y", 2)):
        table = np.column_stack([slope * np.arange(600), np.arange(600) // 20 == 10])
        np.savetxt(data / f"{name}.out", table, "%.17g,%d")
    evaluate = '[[evaluate]]\nmeasures = ["auc_pr", "vus_pr"]\nbuffer = "period"'
    workshop.write(series='[[series]]\nfolder = "data"', evaluate=evaluate)
    done = [outcome for job, outcome in workshop.run() if job.kind is Kind.EVALUATE]
    assert [(one.status, list(one.value.values), one.value.buffer) for one in done] == [
        (Status.OK, ["auc_pr"], None)
    ] * 2
    run = Run(workshop.folder)
    (note,) = run.status().notes
    start = "2 series have no values of measures that need a buffer (buffer=period, "
    assert note.startswith(start)
    outcomes = run.outcomes().set_index(["series", "measure"])
    assert outcomes["value"].notna().to_dict() == {
        ("x.out", "auc_pr"): True,
        ("x.out", "vus_pr"): False,
        ("y.out", "auc_pr"): True,
        ("y.out", "vus_pr"): False,
    }
    assert outcomes["buffer_reason"].str.startswith("no buffer: `values` must show").all()
    assert workshop.run() == []


@pytest.mark.parametrize(
    ("detector", "impute", "expected"),
    [
        ("holes", "", None),
        ("holes", 'impute = "linear"', 2.0),
        ("holes", 'impute = "keep"', -1.0),
        ("own_way", 'impute = "mine"', 7.0),
    ],
)
def test_functions_are_told_what_to_do_with_missing_values(workshop, detector, impute, expected):
    (workshop.base / "gaps.py").write_text(
        "import numpy as np\n"
        "def holes(values):\n    return np.where(np.isnan(values), -1, values)\n"
        "def own_way(values, impute):\n    return np.where(np.isnan(values), 7, values)\n"
    )
    (workshop.base / "data").mkdir()
    rows = [f"{'' if i == 6 else i % 4},{int(i == 9)}" for i in range(40)]
    (workshop.base / "data" / "a.csv").write_text("\n".join(["value,label", *rows]))
    workshop.write(
        series='[[series]]\nfolder = "data"', detectors=[f'name = "gaps:{detector}"\n{impute}']
    )
    scored = next(outcome for job, outcome in workshop.run() if job.kind is Kind.SCORE)
    if expected is None:
        assert scored.status is Status.ERROR
        assert 'impute="linear" or "previous"' in scored.message
    else:
        assert scored.value.scores[6] == expected


# -- scores that were computed elsewhere -------------------------------------------------------

EVALUATE_30 = '[[evaluate]]\nmeasures = ["auc_pr", "vus_pr"]\nbuffer = 30\n'


@pytest.fixture
def table(workshop):
    scored = three_scores(0)
    frame = scored.to_frame()
    folder = workshop.base / "scores" / "Heart"
    folder.mkdir(parents=True)
    frame.to_csv(folder / "beats.csv.gz", index=False)
    return scored


def test_a_table_of_scores_brings_its_series_along(workshop, table):
    workshop.path.write_text(f'{EVALUATE_30}[[scores]]\nfolder = "scores"\n')
    done = workshop.run()
    assert [job.kind for job, _ in done].count(Kind.IMPORT) == 3
    frame = Run(workshop.folder).values()
    for name, scores in table.scores.items():
        expected = evaluate(table.series.labels, scores, buffer=30, measures=["auc_pr", "vus_pr"])
        rows = frame[frame["detector"] == name]
        assert set(rows["dataset"]) == {"Heart"}
        assert dict(zip(rows["measure"], rows["value"], strict=True)) == pytest.approx(
            dict(expected), abs=1e-12
        )
    assert workshop.run() == []


@pytest.mark.usefixtures("table")
def test_columns_can_be_chosen(workshop):
    workshop.path.write_text(
        f'{EVALUATE_30}[[scores]]\nfolder = "scores"\ndetectors = ["good", "late"]\n'
    )
    assert {job.label for job, _ in workshop.run()} == {"good", "late"}


def test_detectors_run_on_the_series_of_saved_scores(workshop, table):
    detectors = "".join(f'[[detectors]]\nname = "{name}"\n' for name in ("values", "random"))
    workshop.path.write_text(f'{EVALUATE_30}{detectors}[[scores]]\nfolder = "scores"\n')
    workshop.run()
    frame = Run(workshop.folder).values()
    assert set(frame["detector"]) == {*table.scores, "Values", "Random"}
    assert set(frame["series"]) == {"beats"}
    own = frame[(frame["detector"] == "Values") & (frame["measure"] == "auc_pr")]
    expected = evaluate(table.series.labels, table.series.values, buffer=30, measures=["auc_pr"])
    assert own["value"].item() == pytest.approx(expected["auc_pr"], abs=1e-12)


def test_detectors_beside_scores_need_values(workshop):
    folder = workshop.base / "scores"
    folder.mkdir()
    (folder / "a.csv").write_text("fault,LOF\n0,.1\n1,.5\n0,.2\n")
    workshop.path.write_text(
        f'{EVALUATE_30}[[detectors]]\nname = "values"\n'
        '[[scores]]\nfolder = "scores"\nlabel = "fault"\n'
    )
    with pytest.raises(InvalidInputError, match="must have the values of the series, got scores"):
        workshop.run()


@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_files_are_found_by_their_names(workshop, ending):
    series = make_series("ecg", n=1500, n_anomalies=3, seed=1)
    scores = {"first": series.values, "second": -series.values, "short": series.values[:-1]}
    scores["hole"] = np.where(np.arange(1500) == 5, np.nan, series.values)
    folder = workshop.base / "mine"
    for name, values in scores.items():
        path = folder / name / series.dataset / f"{series.name}.{ending}"
        path.parent.mkdir(parents=True)
        np.save(path, values) if ending == "npy" else np.savetxt(path, values)
    workshop.write(
        detectors=(),
        evaluate=EVALUATE_30,
        tail='[[scores]]\nfolder = "mine"\n'
        f'pattern = "{{detector}}/{{dataset}}/{{series}}.{ending}"',
    )
    outcomes = {(job.label, job.kind): outcome for job, outcome in workshop.run()}
    assert outcomes["first", Kind.EVALUATE].value.values == dict(
        evaluate(series.labels, series.values, buffer=30, measures=["auc_pr", "vus_pr"])
    )
    assert outcomes["second", Kind.IMPORT].status is Status.OK
    assert outcomes["short", Kind.IMPORT].status is Status.ERROR
    assert "1 fewer scores than labels; windows of 2?" in outcomes["short", Kind.IMPORT].message
    assert "must be finite, got nan at index 5" in outcomes["hole", Kind.IMPORT].message
    assert "--set nan=lowest" in outcomes["hole", Kind.IMPORT].message
    assert len(outcomes) == 6


def test_the_saved_scores_of_the_paper(workshop, test_data):
    folder = test_data / "data" / "scores" / "Dodgers"
    workshop.path.write_text(f'{EVALUATE_30}[[scores]]\nfolder = "{folder}"\n')
    done = workshop.run()
    assert {outcome.status for _, outcome in done} == {Status.OK}
    assert len(done) > 10


def notes_of(workshop):
    with Store(workshop.folder) as store:
        return expand_plan(workshop.plan(), store).notes


@pytest.mark.usefixtures("table")
def test_score_files_with_another_header_are_noted(workshop):
    folder = workshop.base / "scores"
    (folder / "odd.csv").write_text("A,value,label\n1,2,0\n")
    (folder / "shouted.csv").write_text("value,Label,A\n1,0,1\n2,1,3\n")
    workshop.path.write_text(f'{EVALUATE_30}[[scores]]\nfolder = "scores"\n')
    assert notes_of(workshop) == [
        f"{folder}: skipped 1 file without the header value,label,<detector>,...: 'odd.csv'"
    ]
    assert "A" in {job.label for job, _ in workshop.run()}


def test_score_files_of_no_series_are_noted(workshop):
    series = make_series("ecg", n=1500, n_anomalies=3, seed=1)
    folder = workshop.base / "mine"
    folder.mkdir()
    np.save(folder / f"{series.name}.npy", series.values)
    np.save(folder / "other.npy", series.values)
    workshop.write(
        detectors=(),
        tail='[[scores]]\nfolder = "mine"\npattern = "{series}.npy"',
        evaluate=EVALUATE_30,
    )
    (note,) = notes_of(workshop)
    assert note.endswith("for any series: 'other.npy'")


def test_a_hole_in_one_column_fails_that_detector_only(workshop, table):
    path = workshop.base / "scores" / "Heart" / "beats.csv.gz"
    frame = table.to_frame()
    frame.loc[5, "late"] = np.nan
    frame.to_csv(path, index=False)
    workshop.path.write_text(f'{EVALUATE_30}[[scores]]\nfolder = "scores"\n')
    imported = {job.label: out for job, out in workshop.run() if job.kind is Kind.IMPORT}
    assert len(imported) == 3
    late = imported.pop("late")
    assert late.status is Status.ERROR
    assert "`scores['late']` must be finite, got nan at index 5" in late.message
    assert {outcome.status for outcome in imported.values()} == {Status.OK}


NAMES = [("s0", {"s0"}), ("Two/*", {"s1"}), ("s?", {"s0", "s1"}), ("One/s0.csv", {"s0"}),
         ("One/s0", {"s0"}), ("s0.csv", {"s0"})]  # fmt: skip


@pytest.mark.parametrize(("pattern", "expected"), NAMES)
@pytest.mark.parametrize("zipped", [False, True])
def test_names_select_the_same_under_series_and_scores(workshop, pattern, expected, zipped):
    for place, dataset in enumerate(("One", "Two")):
        folder = workshop.base / "data" / dataset
        folder.mkdir(parents=True)
        rows = [f"{i % (5 + place)},{int(i == 9)},{i * place}" for i in range(40)]
        text = "\n".join(["value,label,LOF", *rows]).encode()
        path = folder / f"s{place}.csv"
        if zipped:
            path.with_name(f"s{place}.csv.gz").write_bytes(gzip.compress(text))
        else:
            path.write_bytes(text)
    entry = f'folder = "data"\nnames = ["{pattern}"]\n'
    both = []
    for parts in (
        f'[[series]]\n{entry}format = "table"\n[[detectors]]\nname = "values"\n',
        f"[[scores]]\n{entry}",
    ):
        workshop.path.write_text(EVALUATE_30 + parts)
        with Store.read_or_empty(workshop.folder) as store:
            both.append({job.series.name for job in expand_plan(workshop.plan(), store).jobs})
    assert both == [expected, expected]


@pytest.mark.parametrize("key", ["names", "detectors"])
@pytest.mark.usefixtures("table")
def test_patterns_for_scores_that_match_nothing_are_errors(workshop, key):
    entry = f'[[scores]]\nfolder = "scores"\n{key} = "godo"\n'
    workshop.path.write_text(EVALUATE_30 + entry)
    with pytest.raises(InvalidInputError, match=rf"`scores\[0\].{key}` must match an available"):
        workshop.run()


def test_scores_of_one_series_and_detector_are_imported_once(workshop):
    for place, dataset in enumerate(("One", "Two")):
        (workshop.base / "data" / dataset).mkdir(parents=True)
        rows = [f"{i % 5},{int(i == 9)},{i * (1 - 2 * place)}" for i in range(40)]
        text = "\n".join(["value,label,LOF", *rows])
        (workshop.base / "data" / dataset / f"s{place}.csv").write_text(text)
    workshop.path.write_text(EVALUATE_30 + '[[scores]]\nfolder = "data"\n')
    workshop.run()
    table = Run(workshop.folder).values()
    assert not table.duplicated(["dataset", "series", "detector", "measure"]).any()
    assert set(table["series"]) == {"s0"}
    (note,) = Run(workshop.folder).status().notes
    assert "s1.csv" in note
    assert "LOF on One/s0" in note
