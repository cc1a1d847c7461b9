"""`evaluate`, `Evaluator`, `evaluate_many` and what they return."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Mapping
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from strategies import buffers, definitions, labeled_scores, sides, thresholds

import vuskit
from vuskit.measures import registry

N = 300
LABELS = np.zeros(N, dtype=int)
LABELS[50:60] = LABELS[150:170] = 1
RNG = np.random.default_rng(11)
GOOD = RNG.random(N) + 2 * LABELS
POOR = RNG.random(N)

PAPER = [
    "precision",
    "recall",
    "f_score",
    "precision_at_k",
    "range_precision",
    "range_recall",
    "range_f_score",
    "auc_roc",
    "auc_pr",
    "range_auc_roc",
    "range_auc_pr",
    "vus_roc",
    "vus_pr",
]


@pytest.fixture
def measures(monkeypatch):
    """A registry of this test's own."""
    monkeypatch.setattr(registry, "_MEASURES", dict(registry._MEASURES))


@pytest.fixture
def result():
    return vuskit.evaluate(LABELS, GOOD, buffer=10)


# --- one score -----------------------------------------------------------------------------------


def test_is_a_mapping(result):
    assert isinstance(result, Mapping)
    assert list(result) == PAPER
    assert len(result) == 13
    assert "vus_pr" in result
    assert "vus" not in result
    assert result.get("vus") is None
    assert {type(value) for value in result.values()} == {float}
    assert result.to_dict() == dict(result)
    assert type(result.to_dict()) is dict
    assert result.round(2)["vus_pr"] == round(result["vus_pr"], 2)
    with pytest.raises(KeyError):
        result["vus"]
    with pytest.raises(TypeError):
        result["vus_pr"] = 1.0


def test_to_dict_is_a_copy(result):
    result.to_dict()["vus_pr"] = 2.0
    assert result["vus_pr"] <= 1.0


def test_carries_its_settings():
    found = vuskit.evaluate(
        LABELS, GOOD, buffer=10, thresholds=100, definition="timeeval", step=2, side="after"
    )
    assert (found.buffer, found.thresholds, found.definition) == (10, 100, "timeeval")
    assert (
        str(found.settings) == "buffer=10, thresholds=100, definition=timeeval, step=2, side=after"
    )
    plain = vuskit.evaluate(LABELS, GOOD, buffer=np.int64(7))
    assert str(plain.settings) == "buffer=7, thresholds=all, definition=journal"
    assert plain.thresholds is None


def test_takes_a_chosen_buffer():
    choice = vuskit.choose_buffer("median_anomaly", y_true=LABELS)
    assert vuskit.evaluate(LABELS, GOOD, buffer=choice).buffer == choice.length == 15


def test_prints_a_table(result):
    lines = repr(result).splitlines()
    assert lines[0].split() == ["measure", "value"]
    assert lines[-1] == "(buffer=10, thresholds=all, definition=journal)"
    assert len(lines) == 15
    assert f"{result['vus_pr']:.4f}" in lines[13]
    assert lines[13].startswith("VUS-PR ")
    assert max(map(len, lines)) <= 80
    assert len({len(line) for line in lines[:-1]}) == 1
    assert str(result) == repr(result)


def test_prints_chance_once_it_is_known():
    found = vuskit.evaluate(LABELS, GOOD, buffer=10, measures=["vus_pr"], chance=True)
    header, row, _ = repr(found).splitlines()
    assert header.split() == ["measure", "value", "chance", "adjusted"]
    expected = [found["vus_pr"], found.chance.mean["vus_pr"], found.adjusted["vus_pr"]]
    assert row.split()[1:] == [f"{value:.4f}" for value in expected]


class _Cells(HTMLParser):
    """Tags and texts of a table."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


def parsed(html):
    cells = _Cells()
    cells.feed(html)
    return cells


def test_notebook_view_of_an_evaluation(result):
    cells = parsed(result._repr_html_())
    assert cells.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert cells.texts[0] == str(result.settings)
    assert cells.texts[-2:] == ["VUS-PR", f"{result['vus_pr']:.4f}"]


def test_notebook_view_escapes_names():
    name = '<script>alert("&")</script>'
    table = vuskit.evaluate_many(LABELS, {name: GOOD}, buffer=4, measures="auc_pr")
    html = table._repr_html_()
    assert "<script>" not in html
    assert name in parsed(html).texts


def test_to_frame(result):
    pytest.importorskip("pandas")
    frame = result.to_frame()
    assert frame["measure"].tolist() == PAPER
    assert frame["value"].tolist() == list(result.values())
    assert frame["title"].iloc[-1] == "VUS-PR"
    assert set(frame["buffer"]) == {10}
    assert set(frame["definition"]) == {"journal"}
    assert frame["thresholds"].isna().all()
    grid = vuskit.evaluate(LABELS, GOOD, buffer=10, thresholds=200).to_frame()
    assert grid["thresholds"].tolist() == [200] * 13


@pytest.mark.parametrize(
    "give",
    [
        lambda: vuskit.evaluate(LABELS, GOOD, buffer=2).to_frame(),
        lambda: vuskit.evaluate_many(LABELS, {"a": GOOD}, buffer=2).to_frame(),
        lambda: vuskit.events(LABELS, GOOD).to_frame(),
        lambda: vuskit.surface(LABELS, GOOD, buffer=2).to_frame(),
        lambda: vuskit.volume(lambda x: x, {"x": [1]}).to_frame(),
    ],
)
def test_frames_without_pandas_say_how_to_get_it(give, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(vuskit.MissingDependencyError, match=r'pip install "vuskit\[bench\]"'):
        give()


# --- which measures ------------------------------------------------------------------------------


def test_paper_is_the_default():
    assert [measure.name for measure in registry.resolve_measures("paper")] == PAPER


def test_names_and_lists():
    one = vuskit.evaluate(LABELS, GOOD, buffer=4, measures="auc_pr")
    assert list(one) == ["auc_pr"]
    two = vuskit.evaluate(LABELS, GOOD, buffer=4, measures=("vus_pr", "auc_pr"))
    assert list(two) == ["vus_pr", "auc_pr"]
    assert two["auc_pr"] == one["auc_pr"]
    measure = vuskit.get_measure("vus_pr")
    assert vuskit.evaluate(LABELS, GOOD, buffer=4, measures=measure)["vus_pr"] == two["vus_pr"]


@pytest.mark.parametrize("name", PAPER)
def test_alone_as_in_company(name):
    """No measure needs the work that another has done."""
    options = {"buffer": 9, "definition": "pvldb2022", "thresholds": 290}
    alone = vuskit.evaluate(LABELS, POOR, measures=name, **options)
    assert alone[name] == vuskit.evaluate(LABELS, POOR, **options)[name]
    exact = vuskit.evaluate(LABELS, POOR, measures=[name], buffer=9)
    together = vuskit.evaluate(LABELS, POOR, buffer=9)[name]
    assert exact[name] == together


@pytest.mark.parametrize("name", ["auc_pr", "auc_pr_lines", "auc_roc", "precision_at_k"])
def test_last_bits_do_not_depend_on_company(name):
    """A benchmark computes measures that were added later alone."""
    measure = vuskit.get_measure("auc_pr").with_options(interpolation="trapezoid")
    measure = measure if name == "auc_pr_lines" else vuskit.get_measure(name)
    rng = np.random.default_rng(7)
    labels = np.zeros(600, dtype=bool)
    labels[100:120] = labels[280:300] = labels[450:470] = True
    for scores in np.abs(rng.standard_normal((10, 600))) + 0.5 * labels:
        alone = vuskit.evaluate(labels, scores, buffer=20, measures=[measure])
        both = vuskit.evaluate(labels, scores, buffer=20, measures=[measure, "vus_pr"])
        assert alone[measure.name] == both[measure.name]


def test_all_includes_registered_measures(measures):
    @vuskit.register_measure(name="highest_point", title="Highest point")
    def highest_point(y_true, y_score):
        return float(y_true[np.argmax(y_score)])

    found = vuskit.evaluate(LABELS, GOOD, buffer=4, measures="all")
    assert list(found)[:13] == PAPER
    assert found["highest_point"] == 1.0
    assert "Highest point" in repr(found)
    assert "highest_point" not in vuskit.evaluate(LABELS, GOOD, buffer=4)


def test_custom_measures_get_the_options_they_take(measures):
    got = {}

    @vuskit.register_measure(name="curious")
    def curious(y_true, y_score, *, buffer, thresholds, definition, step, side):
        got.update(locals())
        return 0.25

    options = {"thresholds": 90, "definition": "timeeval", "step": 3, "side": "before"}
    found = vuskit.evaluate(LABELS, GOOD, buffer=6, measures=["curious"], **options)
    assert found["curious"] == 0.25
    assert got["y_true"].tolist() == LABELS.tolist()
    assert got["y_score"].tolist() == GOOD.tolist()
    assert {name: got[name] for name in options} == options
    assert got["buffer"] == 6


@pytest.mark.parametrize(
    ("name", "fixed", "options"),
    [
        ("vus_pr", {"definition": "timeeval"}, {"max_buffer": 6, "step": 2}),
        ("vus_roc", {"thresholds": 100, "step": 3}, {"max_buffer": 6}),
        ("range_auc_pr", {"buffer": 30}, {}),
        ("f_score", {"beta": 2}, {"threshold": 1.0}),
        ("range_recall", {"bias": "front", "alpha": 0.5}, {"threshold": 1.0}),
        ("auc_pr", {"interpolation": "trapezoid"}, {}),
        ("precision_at_k", {"k": 5}, {}),
    ],
)
def test_with_options(name, fixed, options):
    """Fixed options go before the evaluation's; the others follow it."""
    measure = vuskit.get_measure(name).with_options(**fixed)
    assert measure.name == f"{name}({', '.join(f'{k}={v}' for k, v in sorted(fixed.items()))})"
    found = vuskit.evaluate(LABELS, POOR, buffer=6, step=2, threshold=1.0, measures=[measure, name])
    expected = getattr(vuskit, name)(LABELS, POOR, **{**options, **fixed})
    assert found[measure.name] == pytest.approx(expected, abs=1e-12)
    assert measure.with_options(**fixed).name == measure.name


def test_options_pile_up():
    measure = vuskit.get_measure("range_recall").with_options(alpha=0.5).with_options(bias="back")
    assert measure.name == "range_recall(alpha=0.5, bias=back)"
    assert measure.title == "Rrecall(alpha=0.5, bias=back)"
    assert measure.with_options(alpha=1).options == {"alpha": 1, "bias": "back"}


def test_unknown_measures():
    text = "`measures` must be a registered measure, got 'vus-pr'; did you mean 'vus_pr'?"
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.evaluate(LABELS, GOOD, buffer=4, measures=["auc_pr", "vus-pr"])
    with pytest.raises(vuskit.InvalidInputError, match=r"got 'nonsense'$"):
        vuskit.get_measure("nonsense")
    with pytest.raises(vuskit.InvalidInputError, match=r"must be a registered measure, got 3"):
        vuskit.evaluate(LABELS, GOOD, buffer=4, measures=[3])
    with pytest.raises(vuskit.InvalidInputError, match="must be a registered measure, got \\["):
        vuskit.get_measure(["vus_pr"])
    with pytest.raises(vuskit.InvalidInputError, match="`measures` must name at least one"):
        vuskit.evaluate(LABELS, GOOD, buffer=4, measures=[])


def test_a_name_is_registered_once(measures):
    text = "`name` must be new, got 'vus_pr', which is registered"
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):

        @vuskit.register_measure(name="vus_pr")
        def another(y_true, y_score):
            return 0.0


def test_a_cell_may_be_run_again(measures):
    for value in (0.1, 0.2):

        @vuskit.register_measure(name="again")
        def again(y_true, y_score, value=value):
            return value

    assert vuskit.evaluate(LABELS, GOOD, buffer=1, measures="again")["again"] == 0.2


def test_measures_describe_themselves():
    for measure in vuskit.list_measures()[:13]:
        assert measure.group == "paper"
        assert measure.bounds == (0.0, 1.0)
        assert measure.higher_is_better
        assert measure.reference
        assert measure.function is getattr(vuskit, measure.name)


# --- many scores ---------------------------------------------------------------------------------


@given(
    buffer=buffers(),
    thresholds=thresholds(),
    definition=definitions(),
    side=sides(),
    data=labeled_scores(),
)
def test_evaluator_equals_evaluate(data, buffer, thresholds, definition, side):
    y_true, y_score = data
    options = {
        "buffer": buffer,
        "thresholds": thresholds,
        "definition": definition,
        "side": side,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vuskit.ThresholdResolutionWarning)
        evaluator = vuskit.Evaluator(y_true, **options)
        for score in (y_score, y_score[::-1], y_score):
            assert dict(evaluator(score)) == dict(vuskit.evaluate(y_true, score, **options))


def test_evaluator_checks_every_score():
    evaluator = vuskit.Evaluator(LABELS, buffer=4)
    with pytest.raises(vuskit.InvalidInputError, match="must have equal length, got 300 and 3"):
        evaluator([1, 2, 3])
    assert evaluator(GOOD)["auc_roc"] == 1.0


def test_evaluator_does_not_follow_later_changes():
    labels = LABELS.copy()
    evaluator = vuskit.Evaluator(labels, buffer=4)
    expected = dict(evaluator(POOR))
    labels[:100] = 1
    assert dict(evaluator(POOR)) == expected


def test_evaluate_many():
    scores = {"good": GOOD, "poor": POOR}
    table = vuskit.evaluate_many(LABELS, scores, buffer=8, thresholds=100, step=2)
    assert list(table) == ["good", "poor"]
    assert len(table) == 2
    for name, score in scores.items():
        expected = vuskit.evaluate(LABELS, score, buffer=8, thresholds=100, step=2)
        assert dict(table[name]) == dict(expected)
    assert table.to_dict()["poor"] == dict(table["poor"])
    assert str(table.settings) == "buffer=8, thresholds=100, definition=journal, step=2"


def test_evaluate_many_to_frame():
    pytest.importorskip("pandas")
    table = vuskit.evaluate_many(LABELS, {"good": GOOD, 7: POOR}, buffer=8)
    frame = table.to_frame()
    assert frame.index.tolist() == ["good", "7"]
    assert frame.index.name == "score"
    assert frame.columns.tolist() == PAPER
    assert frame.loc["good", "vus_pr"] == table["good"]["vus_pr"]
    assert frame.attrs["settings"] == str(table.settings)


def test_evaluate_many_of_frames():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    scores = {"good": GOOD, "poor": POOR}
    expected = vuskit.evaluate_many(LABELS, scores, buffer=8).to_dict()
    for frame in (pd.DataFrame(scores, index=range(N, 0, -1)), pl.DataFrame(scores)):
        assert vuskit.evaluate_many(LABELS, frame, buffer=8).to_dict() == expected


def test_evaluate_many_names_the_bad_score():
    scores = {"good": GOOD, "late": np.append(GOOD[1:], np.nan)}
    text = "lowest' ranks missing scores below all others (score 'late')"
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.evaluate_many(LABELS, scores, buffer=8)


def test_evaluate_many_wants_names():
    with pytest.raises(vuskit.InvalidInputError, match="`y_scores` must hold at least one score"):
        vuskit.evaluate_many(LABELS, {}, buffer=8)
    text = "`y_scores` must be a mapping from names to scores, got list"
    with pytest.raises(vuskit.InvalidInputError, match=text):
        vuskit.evaluate_many(LABELS, [GOOD, POOR], buffer=8)


@pytest.mark.parametrize("n_scores", [1, 4, 12])
@pytest.mark.parametrize("name", ["d{}", "a detector with a long name {}"])
def test_comparisons_fit_a_line(n_scores, name):
    scores = {name.format(i): GOOD * (i + 1) for i in range(n_scores)}
    table = vuskit.evaluate_many(LABELS, scores, buffer=8)
    text = repr(table)
    assert max(map(len, text.splitlines())) <= 80
    assert text.endswith(f"({table.settings})")
    for label in (*scores, "Precision", "VUS-PR"):
        assert len(re.findall(rf"(?<!\S){re.escape(label)}(?!\S)", text)) >= 1
    assert text.count(f"{table[name.format(0)]['vus_pr']:.3f}") >= n_scores


def test_warnings_point_at_the_caller():
    """Of every road to many measures, and once each."""
    labels = np.zeros(2000, dtype=int)
    labels[100:103] = 1
    score = np.arange(2000)
    options = {"buffer": 4, "thresholds": 50, "measures": ["vus_pr"]}
    for call in (
        lambda: vuskit.evaluate(labels, score, **options),
        lambda: vuskit.Evaluator(labels, **options)(score),
        lambda: vuskit.evaluate_many(labels, {"a": score, "b": score}, **options),
        lambda: vuskit.chance_level(labels, **options),
    ):
        with pytest.warns(vuskit.ThresholdResolutionWarning) as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]
    del options["thresholds"]
    for call in (
        lambda: vuskit.evaluate([0, 0], [1, 2], **options),
        lambda: vuskit.Evaluator([0, 0], **options)([1, 2]),
        lambda: vuskit.evaluate_many([0, 0], {"a": [1, 2]}, **options),
        lambda: vuskit.chance_level([1, 1], **options),
    ):
        with pytest.warns(vuskit.UndefinedMeasureWarning) as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


def test_titles_are_names_too(result):
    assert result["VUS-PR"] == result["vus_pr"]
    assert result["Vus PR"] == result["vus_pr"]
    assert "VUS-PR" in result
    with pytest.raises(KeyError, match="vus_rp"):
        result["vus_rp"]


def test_forms_of_an_evaluation(result):
    row = f"{result['vus_pr']:.4f}"
    assert f"| VUS-PR | {row} |" in result.to_markdown()
    assert f"VUS-PR & {row} \\\\" in result.to_latex()
    assert r"\caption{buffer=10, thresholds=all, definition=journal}" in result.to_latex()
    assert f"<td>VUS-PR</td><td>{row}</td>" in result.to_html()
    assert result.to_html() == result._repr_html_()


def test_forms_of_a_comparison_mark_the_best():
    table = vuskit.evaluate_many(
        LABELS, {"a_b": GOOD, "bad": 0 * GOOD}, buffer=10, measures=["auc_roc", "vus_pr"]
    )
    best = [f"{value:.3f}" for value in table["a_b"].values()]
    assert rf"a\_b & \textbf{{{best[0]}}} & \textbf{{{best[1]}}} \\" in table.to_latex()
    assert f"| a_b | **{best[0]}** | **{best[1]}** |" in table.to_markdown()
    assert table.to_html().count("<b>") == 2


@pytest.mark.parametrize("values", [None, np.arange(200.0)])
def test_measures_that_need_no_buffer_have_values_where_none_is_found(values):
    labels, score = np.arange(200) // 10 == 7, np.sin(np.arange(200.0))
    measures = ["auc_pr", "vus_pr", "f_score"]
    with pytest.warns(vuskit.UndefinedMeasureWarning, match="^vus_pr need a buffer.*`values` must"):
        found = vuskit.evaluate(labels, score, buffer="period", values=values, measures=measures)
    assert found["auc_pr"] == vuskit.auc_pr(labels, score)
    assert np.isnan(found["vus_pr"])
    assert found.buffer is None
    assert list(found.without_buffer) == ["vus_pr"]
    assert np.isnan(found.chance.mean["vus_pr"])
    assert "buffer=period" in repr(found)
    pytest.importorskip("pandas")
    assert found.to_frame()["buffer"].isna().all()


def test_an_evaluation_of_nothing_but_buffered_measures_is_an_error():
    labels, score = np.arange(200) // 10 == 7, np.sin(np.arange(200.0))
    with pytest.raises(vuskit.BufferNotFoundError, match="or set `buffer_fallback`"):
        vuskit.evaluate(
            labels, score, buffer="period", values=np.arange(200.0), measures=["vus_pr", "vus_roc"]
        )
    found = vuskit.evaluate(labels, score, buffer="period", measures=["auc_pr"])
    assert found["auc_pr"] == vuskit.auc_pr(labels, score)


def test_tables_say_how_the_buffer_was_chosen():
    labels = np.arange(200) // 10 % 7 == 3
    for buffer, reason in (("auto", "; buffer auto: median length of 3 anomalies"), (10, None)):
        one = vuskit.evaluate(labels, np.arange(200), buffer=buffer, measures="vus_pr")
        many = vuskit.evaluate_many(labels, {"a": np.arange(200)}, buffer=buffer, measures="vus_pr")
        for table in (one, many):
            text = f"buffer=10, thresholds=all, definition=journal{reason or ''}"
            assert text in table.to_markdown()
            assert ("; buffer" in table.to_latex()) == (reason is not None)
