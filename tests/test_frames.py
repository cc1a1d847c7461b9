"""Long tables of every kind give the values of a loop over `evaluate`."""

from __future__ import annotations

from datetime import timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vuskit
from vuskit import frames

pd = pytest.importorskip("pandas", reason="needs pandas")
pytest.importorskip("narwhals", reason="needs narwhals")

LENGTHS = {("D1", "a"): 60, ("D1", "b"): 90, ("D2", "a"): 75}
OPTIONS = {"by": "series", "dataset": "data", "order": "time", "value": "value", "buffer": "auto"}
SCORES = ["forest", "profile"]


def make_rows() -> pd.DataFrame:
    random = np.random.default_rng(3)
    parts = []
    for (dataset, series), n in LENGTHS.items():
        label = np.zeros(n, dtype=np.int8)
        label[20:24] = label[40:47] = 1
        parts.append(
            pd.DataFrame(
                {
                    "data": dataset,
                    "series": series,
                    "time": np.arange(n),
                    "label": label,
                    "value": np.sin(np.arange(n) * 2 * np.pi / 12),
                    "forest": random.random(n).astype(np.float32),
                    "profile": random.integers(0, 9, n),
                    "note": "x",
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


ROWS = make_rows()
SHUFFLED = ROWS.sample(frac=1, random_state=0)


def expected() -> dict[tuple[str, str, str], vuskit.Evaluation]:
    found = {}
    for (dataset, series), group in ROWS.groupby(["data", "series"], sort=True):
        for score in SCORES:
            found[dataset, series, score] = vuskit.evaluate(
                group["label"].to_numpy(),
                group[score].to_numpy(),
                values=group["value"].to_numpy(),
                buffer="auto",
            )
    return found


def polars_of(rows):
    polars = pytest.importorskip("polars", reason="needs polars")
    return polars.DataFrame({name: rows[name].to_numpy() for name in rows.columns})


def lazy_polars_of(rows):
    return polars_of(rows).lazy()


def arrow_of(rows):
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    return pyarrow.Table.from_pandas(rows)  # with the index of shuffled rows as a column


def duckdb_of(rows):
    duckdb = pytest.importorskip("duckdb", reason="needs DuckDB")
    return duckdb.connect().from_df(rows)


def dask_of(rows, npartitions=2):
    dask = pytest.importorskip("dask.dataframe", reason="needs Dask")
    return dask.from_pandas(rows, npartitions=npartitions, sort=False)


def pandas_of(rows):
    return rows


def collected(result):
    """Any result as a pandas frame in a fixed order."""
    if hasattr(result, "compute"):
        result = result.compute()
    elif hasattr(result, "df"):
        result = result.df()
    elif not isinstance(result, pd.DataFrame):
        result = result.to_pandas()
    return result.sort_values(["dataset", "series", "detector"], kind="stable", ignore_index=True)


def check_values(result):
    table = collected(result)
    wanted = expected()
    assert len(table) == len(wanted) * 13
    for (dataset, series, detector), group in table.groupby(["dataset", "series", "detector"]):
        evaluation = wanted[dataset, series, detector]
        assert group["measure"].tolist() == list(evaluation)
        assert group["value"].tolist() == list(evaluation.values())  # every bit
        assert set(group["buffer"]) == {evaluation.buffer}
        assert set(group["buffer_reason"]) == {"auto: the values repeat every 12 points"}
        assert set(group["status"]) == {"OK"}
        assert group["message"].isna().all()


KINDS = [pandas_of, polars_of, lazy_polars_of, arrow_of, duckdb_of, dask_of]
every_kind = pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)


@every_kind
@pytest.mark.parametrize("rows", [ROWS, SHUFFLED], ids=["grouped", "shuffled"])
def test_values_equal_evaluate(make, rows):
    check_values(vuskit.evaluate_frame(make(rows), scores=SCORES, **OPTIONS))


@every_kind
def test_columns(make):
    result = vuskit.evaluate_frame(make(ROWS), measures="vus_pr", **OPTIONS)
    names = getattr(result, "column_names", None) or list(result.columns)
    assert names == [
        "dataset",
        "series",
        "detector",
        "measure",
        "value",
        "buffer",
        "buffer_reason",
        "status",
        "message",
    ]
    # Every other numeric column is a score.
    assert collected(result)["detector"].unique().tolist() == SCORES


def test_small_batches(monkeypatch):
    """Series that span several batches, and batches of several series."""
    for size in (1, 7, 80):
        monkeypatch.setattr(frames, "_BATCH", size)
        for make in (pandas_of, arrow_of, duckdb_of, lazy_polars_of):
            check_values(vuskit.evaluate_frame(make(ROWS), scores=SCORES, **OPTIONS))


def test_results_have_the_type_of_the_frame():
    options = {**OPTIONS, "measures": "auc_pr"}
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    assert isinstance(vuskit.evaluate_frame(ROWS, **options), pd.DataFrame)
    for make in (polars_of, lazy_polars_of):
        assert isinstance(vuskit.evaluate_frame(make(ROWS), **options), polars.DataFrame)
    for frame in (arrow_of(ROWS), arrow_of(ROWS).to_reader()):
        assert isinstance(vuskit.evaluate_frame(frame, **options), pyarrow.Table)


def test_duckdb_result_belongs_to_the_connection():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    points = connection.from_df(ROWS)
    values = vuskit.evaluate_frame(points, measures="auc_pr", **OPTIONS)
    joined = values.set_alias("v").join(points.set_alias("p"), "v.series = p.series")
    counted = joined.aggregate("count(*)")
    assert counted.fetchall() == [(2 * (2 * 60 + 90 + 2 * 75),)]


# --- series evaluated together -------------------------------------------------------------------

AREAS = ["auc_roc", "auc_pr", "range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr"]


def one_by_one(frame, **options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "can_batch", lambda *arguments, **keywords: False)
        return vuskit.evaluate_frame(frame, **options)


@pytest.fixture
def batches(monkeypatch):
    """Number of series of each batch that was evaluated together."""
    sizes = []

    def counted(labels, scores, offsets, *others):
        sizes.append(len(offsets) - 1)
        return evaluate_batch(labels, scores, offsets, *others)

    evaluate_batch = frames.evaluate_batch
    monkeypatch.setattr(frames, "evaluate_batch", counted)
    return sizes


@every_kind
@pytest.mark.parametrize("size", [1, 70, 1000])
def test_together_equals_one_by_one(make, size, batches, monkeypatch):
    monkeypatch.setattr(frames, "_BATCH", size)
    rows = broken_rows()
    for buffer in (5, "median_anomaly"):
        options = {**OPTIONS, "scores": SCORES, "buffer": buffer, "measures": AREAS}
        found = collected(vuskit.evaluate_frame(make(rows), **options))
        pd.testing.assert_frame_equal(found, collected(one_by_one(make(rows), **options)))
    assert batches  # "D1/a" is valid


def test_whole_series_of_a_batch_are_evaluated_together(batches):
    copies = [ROWS[:60].assign(series=f"copy {place}") for place in range(10)]
    copies[4] = copies[4].iloc[::-1]
    copies[6] = copies[6].assign(label=0)
    rows = pd.concat(copies, ignore_index=True)
    options = {"by": "series", "order": "time", "scores": SCORES, "buffer": 5, "measures": AREAS}
    found = vuskit.evaluate_frame(rows, **options)
    assert batches == [7, 1]  # the last series of a batch may continue in the next
    pd.testing.assert_frame_equal(found, one_by_one(rows, **options))
    assert found["status"].value_counts().to_dict() == {"OK": 9 * 2 * 6, "SKIPPED": 2 * 6}


def test_errors_of_series_evaluated_together():
    options = {"by": ["data", "series"], "scores": SCORES, "measures": "vus_pr", "buffer": 1 << 59}
    found = vuskit.evaluate_frame(ROWS, **options)
    assert set(found["status"]) == {"ERROR"}
    pd.testing.assert_frame_equal(found, one_by_one(ROWS, **options))
    with pytest.raises(vuskit.InvalidInputError, match=r"series 'D1/a', score 'forest'"):
        vuskit.evaluate_frame(ROWS, errors="raise", **options)


# --- columns -------------------------------------------------------------------------------------


@every_kind
def test_epochs_that_may_be_scores_or_times_are_refused(make):
    rows = ROWS[:60].drop(columns="time").assign(zeit=1_700_000_000 + np.arange(60)[::-1])
    options = {"by": "series", "buffer": 5, "measures": "auc_pr"}
    with pytest.raises(vuskit.InvalidInputError, match=r"'zeit' must be .*pass order='zeit', or"):
        collected(vuskit.evaluate_frame(make(rows), **options))
    found = collected(vuskit.evaluate_frame(make(rows), order="zeit", **options))
    assert "zeit" not in set(found["detector"])


def test_several_columns_identify_a_series():
    options = {"order": "time", "buffer": 5, "measures": "auc_pr", "scores": "forest"}
    result = vuskit.evaluate_frame(ROWS, by=["data", "series"], **options)
    assert result["series"].tolist() == ["D1/a", "D1/b", "D2/a"]
    assert set(result["dataset"]) == {"all"}


def test_data_sets_without_series_are_series():
    result = vuskit.evaluate_frame(
        ROWS, dataset="data", scores="forest", buffer=5, measures="auc_pr"
    )
    assert result[["dataset", "series"]].to_numpy().tolist() == [["D1", "D1"], ["D2", "D2"]]


@pytest.mark.parametrize("make", [pandas_of, dask_of], ids=["pandas", "dask"])
def test_one_series(make):
    one = ROWS[:60]
    result = collected(vuskit.evaluate_frame(make(one), scores="forest", buffer=5))
    wanted = vuskit.evaluate(one["label"], one["forest"], buffer=5)
    assert result["value"].tolist() == list(wanted.values())
    assert set(result["series"]) == {"all"}


def test_index_level_identifies_series():
    indexed = ROWS.set_index(["data", "series"])
    check_values(vuskit.evaluate_frame(indexed, scores=SCORES, **OPTIONS))


def test_categories_and_numbers_identify_series():
    rows = ROWS.assign(data=ROWS["data"].astype("category"), series=ROWS["series"] == "a")
    result = vuskit.evaluate_frame(rows, scores="forest", measures="auc_pr", **OPTIONS)
    assert result["series"].tolist() == ["True", "False", "True"]


def test_dictionaries_of_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    table = arrow_of(ROWS)
    encoded = table.set_column(
        1, "series", pyarrow.compute.dictionary_encode(table.column("series"))
    )
    check_values(vuskit.evaluate_frame(encoded, scores=SCORES, **OPTIONS))


def test_decimals_of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.connect().sql(
        "select * from (values (0, 0.1), (1, 0.9), (0, 0.5)) as _(label, score)"
    )
    result = vuskit.evaluate_frame(relation, buffer=2, measures="auc_pr")
    assert result.fetchall()[0][:5] == ("all", "all", "score", "auc_pr", 1.0)


def test_empty_frame():
    result = vuskit.evaluate_frame(ROWS[:0], **OPTIONS)
    assert len(result) == 0
    assert result["value"].dtype.kind == "f"


# --- series that cannot be evaluated -------------------------------------------------------------


def broken_rows():
    rows = ROWS.copy()
    rows.loc[rows["series"] == "b", "label"] = 0
    rows.loc[65 + 90, "forest"] = np.nan
    return rows


@every_kind
def test_failures_are_recorded(make):
    result = vuskit.evaluate_frame(make(broken_rows()), measures="vus_pr", **OPTIONS)
    table = collected(result).set_index(["dataset", "series", "detector"])
    assert table["status"].to_dict() == {
        ("D1", "a", "forest"): "OK",
        ("D1", "a", "profile"): "OK",
        ("D1", "b", "forest"): "SKIPPED",
        ("D1", "b", "profile"): "SKIPPED",
        ("D2", "a", "forest"): "ERROR",
        ("D2", "a", "profile"): "OK",
    }
    assert table["value"].isna().sum() == 3
    assert "only normal ones" in table.loc[("D1", "b", "forest"), "message"]
    assert "got nan at index 5" in table.loc[("D2", "a", "forest"), "message"]


def test_failures_raise():
    with pytest.raises(vuskit.InvalidInputError, match=r"series 'D1/b', score 'forest'"):
        vuskit.evaluate_frame(broken_rows(), errors="raise", **OPTIONS)


def test_missing_values_are_null_in_polars():
    result = vuskit.evaluate_frame(polars_of(broken_rows()), measures="vus_pr", **OPTIONS)
    assert result["value"].null_count() == 3
    assert not result["value"].is_nan().any()


def test_times():
    rows = ROWS.assign(time=pd.Timestamp("2024-01-01") + pd.to_timedelta(ROWS["time"], "h"))
    check_values(vuskit.evaluate_frame(rows.iloc[::-1], scores=SCORES, **OPTIONS))
    rows.loc[3, "time"] = pd.NaT
    rows.loc[70, "time"] = rows.loc[71, "time"]
    result = vuskit.evaluate_frame(rows, scores="forest", measures="auc_pr", **OPTIONS)
    assert result["status"].tolist() == ["ERROR", "ERROR", "OK"]
    assert "`time` must not be missing" in result["message"][0]
    assert "`time` must be unique within a series" in result["message"][1]


# --- order of rows -------------------------------------------------------------------------------


def in_any_order(rows, **options):
    """Values of one detector by series, from rows in random order."""
    shuffled = rows.sample(frac=1, random_state=1)
    options = {"by": "series", "scores": "forest", "buffer": 5, "measures": "vus_pr", **options}
    return vuskit.evaluate_frame(shuffled, **options).set_index("series")


def two_series():
    rows = ROWS[ROWS["data"] == "D1"][["series", "time", "label", "forest"]]
    wanted = {
        name: vuskit.vus_pr(group["label"], group["forest"], buffer=5)
        for name, group in rows.groupby("series")
    }
    return rows, wanted


START = pd.Timestamp("2026-03-28")
SPELLINGS = {
    "numbers": lambda time: time,
    "texts of numbers": lambda time: time.astype(str),
    "dates": lambda time: START + pd.to_timedelta(time, "h"),
    "zoned": lambda time: (START + pd.to_timedelta(time, "h")).dt.tz_localize("UTC"),
    "ISO": lambda time: (START + pd.to_timedelta(time, "h")).astype(str),
    "ISO with zones": lambda time: (
        (START + pd.to_timedelta(time, "h"))
        .dt.tz_localize("UTC")
        .dt.tz_convert("Europe/Berlin")  # clocks change within the series
        .map(lambda one: one.isoformat())
    ),
}


@pytest.mark.parametrize("name", ["time", "Timestamp", "ts", "date", "datetime"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_column_of_times_orders_the_rows(spelling, name):
    rows, wanted = two_series()
    rows = rows.assign(time=SPELLINGS[spelling](rows["time"])).rename(columns={"time": name})
    found = in_any_order(rows)
    assert found["value"].to_dict() == wanted
    assert set(found["message"]) == {f"rows sorted by {name!r}"}
    ordered = vuskit.evaluate_frame(
        rows, by="series", scores="forest", buffer=5, measures="vus_pr"
    ).set_index("series")
    assert ordered["value"].to_dict() == wanted
    assert ordered["message"].isna().all()
    assert in_any_order(rows, order=name)["message"].isna().all()


def test_an_index_of_times_orders_the_rows():
    rows, wanted = two_series()
    for name in (None, "when"):
        index = pd.DatetimeIndex(START + pd.to_timedelta(rows["time"], "h"), name=name)
        found = in_any_order(rows.drop(columns="time").set_axis(index))
        assert found["value"].to_dict() == wanted


def test_without_order_rows_stay_as_they_are():
    rows, wanted = two_series()
    assert in_any_order(rows, order=None)["value"].to_dict() != wanted
    assert in_any_order(rows.rename(columns={"time": "x"}))["value"].to_dict() != wanted


def test_several_columns_of_times():
    rows, wanted = two_series()
    dates = START + pd.to_timedelta(rows["time"], "h")
    with pytest.raises(vuskit.InvalidInputError, match=r"for 'opened', 'closed'; name one"):
        in_any_order(rows.drop(columns="time").assign(opened=dates, closed=dates))
    assert in_any_order(rows.assign(opened=dates[0]))["value"].to_dict() == wanted
    with pytest.raises(vuskit.InvalidInputError, match=r"for 'time', 'date'; name one"):
        in_any_order(rows.assign(date=rows["time"]))
    found = in_any_order(rows.assign(ts=dates, closed=dates))
    assert found["message"].tolist() == ["rows sorted by 'ts'"] * 2
    assert found["value"].to_dict() == wanted


@every_kind
@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([f"{place % 28 + 1:02}.03.2026" for place in range(60)], "numbers or ISO times such as"),
        (
            ["2026-01-01T00:00+01:00", *[f"2026-01-{2 + place:02}" for place in range(20)]],
            "time zone",
        ),
        ([*map(str, range(20)), ""], "numbers or ISO times"),
    ],
    ids=["dd.mm.yyyy", "mixed zones", "empty"],
)
def test_times_with_two_readings_are_refused(make, times, message):
    n = len(times)
    rows = pd.DataFrame(
        {"time": times, "label": (np.arange(n) // 5 == 2).astype(int), "score": np.arange(n)}
    )
    table = collected(vuskit.evaluate_frame(make(rows), buffer=2, measures="vus_pr"))
    assert table["status"].tolist() == ["ERROR"]
    assert message in table["message"][0]


def test_timezone_of_times_without_one():
    utc = pd.date_range("2026-06-01", periods=40, freq="h", tz="UTC")
    berlin = utc.tz_convert("Europe/Berlin")
    label = (np.arange(40) // 6 == 3).astype(int)
    score = np.random.default_rng(0).random(40)
    times = [
        (one.tz_localize(None) if place % 2 else utc[place]).isoformat()
        for place, one in enumerate(berlin)
    ]
    rows = pd.DataFrame({"time": times, "label": label, "score": score})
    options = {"buffer": 5, "measures": "vus_pr"}
    found = vuskit.evaluate_frame(rows[::-1], timezone="Europe/Berlin", **options)
    assert found["value"].tolist() == [vuskit.vus_pr(label, score, buffer=5)]
    with pytest.raises(vuskit.InvalidInputError, match="`timezone` must be the name of a time"):
        vuskit.evaluate_frame(rows, timezone="Berlin", **options)


@every_kind
def test_several_rows_at_one_time(make):
    rows, wanted = two_series()
    again = rows[rows["time"].isin([3, 22])].assign(forest=9.0, label=0)
    options = {"by": "series", "scores": "forest", "buffer": 5, "measures": "vus_pr"}
    for together, kept in (([rows, again], "first"), ([again, rows], "last")):
        table = pd.concat(together, ignore_index=True)
        found = collected(vuskit.evaluate_frame(make(table), duplicates=kept, **options))
        assert dict(zip(found["series"], found["value"], strict=True)) == wanted
        assert found["message"].str.contains(r"dropped 2 rows at times .*\(first: 3, 22\)").all()
        refused = collected(vuskit.evaluate_frame(make(table), **options))
        assert set(refused["status"]) == {"ERROR"}
        assert refused["message"].str.contains(r"got 2 more rows .*first: 3, 22.*'last'").all()


# --- ids -----------------------------------------------------------------------------------------


@every_kind
def test_ids_keep_their_spelling(make):
    rows, _ = two_series()
    one = rows[rows["series"] == "a"]
    ids = ["7", "007", "1", "1.0", "1e3", "1000", "0x10", "16", "NaN", "é", "..", " 7"]
    table = pd.concat([one.assign(series=name) for name in ids], ignore_index=True)
    found = collected(vuskit.evaluate_frame(make(table), by="series", buffer=5, measures="auc_pr"))
    assert sorted(found["series"]) == sorted(ids)


@every_kind
@pytest.mark.parametrize("bad", [None, ""])
@pytest.mark.parametrize("row", [0, 30])
def test_missing_ids_are_refused(make, bad, row):
    rows, _ = two_series()
    rows = rows.reset_index(drop=True).astype({"series": object})
    rows.loc[row, "series"] = bad
    with pytest.raises(vuskit.InvalidInputError, match="must name the series in every row"):
        collected(vuskit.evaluate_frame(make(rows), by="series", buffer=5, measures="auc_pr"))


@pytest.mark.parametrize("ids", [(7, "7"), (1, 1.0), (1, True)])
def test_ids_of_several_types_are_refused(ids):
    rows, _ = two_series()
    mixed = np.array([ids[0]] * 60 + [ids[1]] * 90, dtype=object)
    for order in (slice(None), slice(None, None, -1)):
        with pytest.raises(vuskit.InvalidInputError, match=r"ids of one type|a unique name"):
            vuskit.evaluate_frame(rows.assign(series=mixed)[order], by="series", buffer=5)


def test_ids_that_continue_in_the_next_batch(monkeypatch):
    rows, _ = two_series()
    one = rows[rows["series"] == "a"]
    table = pd.concat([one.assign(x="a", y="b/c"), one.assign(x="a/b", y="c")])
    monkeypatch.setattr(frames, "_BATCH", 60)
    with pytest.raises(vuskit.InvalidInputError, match="a unique name, got 'a/b/c'"):
        vuskit.evaluate_frame(table, by=["x", "y"], scores="forest", buffer=5)


# --- the same rows in another form ---------------------------------------------------------------

ZONES = ["", "Z", "+00:00", "+05:30", "-08:00"]


@st.composite
def fleets(draw):
    """Rows of some series, and the value of each."""
    ids = draw(st.lists(st.sampled_from(["7", "007", "a", "b/c", "é"]), min_size=1, unique=True))
    parts, wanted = [], {}
    for name in ids:
        n = draw(st.integers(12, 30))
        label = np.zeros(n, dtype=int)
        start = draw(st.integers(1, n - 4))
        label[start : start + 3] = 1
        score = np.array(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), dtype=float)
        zone = draw(st.sampled_from(ZONES))
        times = pd.date_range("2026-01-01", periods=n, freq="7h", tz="UTC" if zone else None)
        if zone not in ("", "Z"):
            times = times.tz_convert(timezone(pd.Timedelta(zone[1:] + ":00") * int(f"{zone[0]}1")))
        texts = [one.isoformat().replace("+00:00", zone or "+00:00") for one in times]
        if zone == "":
            texts = [one.isoformat() for one in times]
        parts.append(pd.DataFrame({"id": name, "t": texts, "label": label, "score": score}))
        wanted[name] = vuskit.vus_pr(label, score, buffer=3)
    return pd.concat(parts, ignore_index=True), wanted


@given(
    fleets(),
    st.sampled_from(["id", "machine", "7"]),
    st.sampled_from(["time", "ts", "Date"]),
    st.randoms(use_true_random=False),
    st.integers(1, 40),
    st.sampled_from([pandas_of, polars_of, arrow_of, duckdb_of]),
)
def test_values_do_not_depend_on_the_form_of_the_rows(fleet, key, time, random, size, make):
    rows, wanted = fleet
    order = random.sample(range(len(rows)), len(rows))
    rows = rows.iloc[order].reset_index(drop=True).rename(columns={"id": key, "t": time})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "_BATCH", size)
        found = collected(
            vuskit.evaluate_frame(make(rows), by=key, buffer=3, measures="vus_pr", scores="score")
        )
    assert dict(zip(found["series"], found["value"], strict=True)) == wanted
    assert set(found["status"]) == {"OK"}


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"by": "serie"}, "`by` must be a column of `frame`, got 'serie'; did you mean 'series'"),
        ({"label": "truth"}, "`label` must be a column of `frame`, got 'truth'; the columns are"),
        ({"scores": ["forest", "x"]}, "`scores` must be a column of `frame`, got 'x'"),
        ({"scores": ["forest", "forest"]}, "`scores` must be unique columns"),
        ({"scores": []}, "`scores` must name at least one column"),
        ({"errors": "ignore"}, "`errors` must be one of 'record', 'raise'"),
        ({"value": None, "buffer": "period"}, "`value` must be a column of `frame` for buffer="),
        ({"duplicates": "all"}, "`duplicates` must be one of 'error', 'first', 'last'"),
        ({"measures": "vus"}, "`measures` must be a registered measure"),
    ],
)
@pytest.mark.parametrize("make", [pandas_of, dask_of], ids=["pandas", "dask"])
def test_invalid_parameters(make, changes, message):
    with pytest.raises(vuskit.InvalidInputError, match=message):
        vuskit.evaluate_frame(make(ROWS), **{**OPTIONS, **changes})


def test_invalid_frames():
    with pytest.raises(vuskit.InvalidInputError, match="`frame` must be a table of pandas"):
        vuskit.evaluate_frame([1, 2], buffer=5)
    with pytest.raises(vuskit.InvalidInputError, match="must have a numeric column of scores"):
        vuskit.evaluate_frame(ROWS[["label", "note"]], buffer=5)
    with pytest.raises(vuskit.InvalidInputError, match="must name the series in every row"):
        vuskit.evaluate_frame(ROWS.assign(series=None), **OPTIONS)
    with pytest.raises(TypeError, match="buffer"):
        vuskit.evaluate_frame(ROWS, by="series")


def test_readers_must_be_grouped():
    with pytest.raises(vuskit.InvalidInputError, match="adjacent rows for each series"):
        vuskit.evaluate_frame(arrow_of(SHUFFLED).to_reader(), **OPTIONS)


def test_names_must_be_unique():
    rows = pd.DataFrame(
        {
            "one": ["a", "a/b"] * 3,
            "two": ["b/c", "c"] * 3,
            "label": [0, 0, 1, 1, 0, 0],
            "score": range(6),
        }
    )
    with pytest.raises(vuskit.InvalidInputError, match="a unique name, got 'a/b/c'"):
        vuskit.evaluate_frame(rows, by=["one", "two"], buffer=2)


# --- Dask ----------------------------------------------------------------------------------------


def is_shuffled(frame):
    return any(type(part).__name__ == "RearrangeByColumn" for part in frame.expr.walk())


def test_dask_is_lazy():
    dask = pytest.importorskip("dask.dataframe", reason="needs Dask")
    frame = dask_of(ROWS, npartitions=2)
    spanning = frame.partitions[0].compute().iloc[-1][["data", "series"]].tolist()
    assert frame.partitions[1].compute().iloc[0][["data", "series"]].tolist() == spanning
    result = vuskit.evaluate_frame(frame, scores=SCORES, **OPTIONS)
    assert isinstance(result, dask.DataFrame)
    assert is_shuffled(result)
    assert result.dtypes["value"].kind == "f"
    check_values(result)


def test_dask_order_of_rows_survives_the_shuffle():
    options = {key: OPTIONS[key] for key in ("by", "dataset", "value", "buffer")}
    check_values(vuskit.evaluate_frame(dask_of(ROWS, 5), scores=SCORES, **options))


def test_dask_partitions_with_whole_series_are_not_shuffled():
    dask = pytest.importorskip("dask.dataframe", reason="needs Dask")
    frame = dask.from_pandas(ROWS.set_index("data"), npartitions=2)
    result = vuskit.evaluate_frame(frame, scores=SCORES, **OPTIONS)
    assert result.npartitions == 2
    assert not is_shuffled(result)
    check_values(result)
