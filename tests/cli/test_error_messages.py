"""Invalid input of many kinds: every error is one line that says what is expected.

To add a case, write a function with ``@case("title")``. It gets an `Errors`: `run` runs a command
line and `call` a function; both keep the message.
"""

from __future__ import annotations

import re
import zipfile

import numpy as np
import pandas as pd
import pytest

import vuskit
import vuskit.bench
from vuskit.errors import VuskitError
from vuskit.report.publication import publication_table

CASES = {}
HELPFUL = re.compile(
    r"\bmust\b.*(?:, got |, but |; )"  # what is expected, and what was given or what to do
    r"|\bmust be used with \S|\bneeds? .*; "
    r"|there is no such file or folder"
    r"|; (?:choose|did you mean|rename|run) "
)


def case(title):
    """Enter a function that provokes errors."""

    def enter(function):
        assert title not in CASES
        CASES[title] = function
        return function

    return enter


class Errors:
    """Collects messages; paths of this machine are left out."""

    def __init__(self, command, folder):
        self._command = command
        self.folder = folder
        self.messages = []

    def run(self, *arguments):
        """Keep the last line that a command writes when it fails."""
        outcome = self._command(*arguments)
        assert outcome.code not in (0, 1), outcome.out
        assert "Traceback" not in outcome.err
        self._keep(outcome.err.strip().splitlines()[-1])

    def call(self, function, *arguments, **options):
        """Keep the message of an error that a function raises."""
        with pytest.raises(VuskitError) as error:
            function(*arguments, **options)
        self._keep(str(error.value))

    def _keep(self, message):
        self.messages.append(message.replace(f"{self.folder}/", "").replace(str(self.folder), "."))

    def table(self, name, **columns):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(columns).to_csv(path, index=False)

    def array(self, name, array):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, array)


LABELS = (np.arange(120) // 10 == 3).astype(int)
SCORES = np.linspace(0, 1, 120) ** 2


# -- alignment -----------------------------------------------------------------------------------


@case("scores of another length")
def _(errors):
    errors.call(vuskit.auc_pr, LABELS, SCORES[:21])
    errors.call(vuskit.auc_pr, LABELS, SCORES[:100])
    errors.call(vuskit.auc_pr, LABELS[:100], SCORES)
    errors.call(vuskit.align_scores, SCORES[:100], 120, window=20)
    errors.call(vuskit.align_scores, SCORES, 120, window=20)
    errors.call(vuskit.align_scores, SCORES, 120, window=1, at="middle")
    errors.array("s.npy", SCORES[:101])
    errors.array("l.npy", LABELS)
    errors.run("evaluate", "s.npy", "--labels", "l.npy")
    errors.run("evaluate", "s.npy", "--labels", "l.npy", "--align", "center")
    errors.run("evaluate", "s.npy", "--labels", "l.npy", "--window", "20")


# -- sources of scores ---------------------------------------------------------------------------


@case("sources without scores")
def _(errors):
    (errors.folder / "empty").mkdir()
    (errors.folder / "notes").mkdir()
    (errors.folder / "notes" / "read.txt").write_text("nothing")
    errors.run("evaluate", "empty")
    errors.run("evaluate", "notes")
    errors.run("evaluate", "nowhere")
    errors.run("evaluate", "*.csv")
    errors.run("evaluate", "-", "empty")


@case("labels that are not there")
def _(errors):
    for name in ("pump", "valve"):
        errors.array(f"scores/LOF/{name}.npy", SCORES)
        errors.table(f"labels/{name}s.csv", label=LABELS)
    errors.run("evaluate", "scores")
    errors.run("evaluate", "scores", "--labels", "label")
    errors.run("evaluate", "scores", "--labels", "labels")
    (errors.folder / "none").mkdir()
    errors.run("evaluate", "scores", "--labels", "none")
    errors.table("events.csv", start=[500], end=[600])
    errors.run("evaluate", "scores/LOF/pump.npy", "--labels", "events.csv")
    errors.table("times.csv", start=["2024-01-01"], end=["2024-01-02"])
    errors.run("evaluate", "scores/LOF/pump.npy", "--labels", "times.csv")


@case("names that can be understood in several ways")
def _(errors):
    for name in ("LOF/a", "LOF/b", "PCA/a", "PCA/b"):
        errors.table(f"same/{name}.csv", label=LABELS, score=SCORES)
    errors.run("evaluate", "same")
    errors.run("evaluate", "same", "--pattern", "{detector}.csv")
    errors.run("evaluate", "same", "--pattern", "{detector}-{series}.csv")
    errors.table("deep/x/y/z/a.csv", label=LABELS, score=SCORES)
    errors.table("deep/b.csv", label=LABELS, score=SCORES)
    errors.run("evaluate", "deep")


@case("long tables")
def _(errors):
    errors.table("long.csv", series="a", label=LABELS, LOF=SCORES)
    errors.run("evaluate", "long.csv", "--by", "serie")
    errors.run("evaluate", "long.csv", "--dataset", "series")
    errors.run("evaluate", "long.csv", "long.csv", "--by", "series")


# -- guards ----------------------------------------------------------------------------------------


@case("indexes that do not belong together")
def _(errors):
    times = pd.date_range("2024-01-01", periods=120, freq="h")
    labels, score = pd.Series(LABELS, index=times), pd.Series(SCORES, index=times)
    later = score.set_axis(times + pd.Timedelta("1h"))
    errors.call(vuskit.evaluate, labels, later, buffer=5)
    errors.call(vuskit.evaluate_many, labels, {"LOF": score, "PCA": later}, buffer=5)
    rows = np.arange(120) // 2
    twice = labels.set_axis(rows), score.set_axis(rows)[::-1]
    errors.call(vuskit.auc_pr, *twice)
    errors.call(vuskit.Evaluator(labels[::-1], buffer=5), score)


@case("columns that are not values of a measure")
def _(errors):
    errors.table("long.csv", series=["a", "b"] * 2, detector=["X", "X", "Y", "Y"], ts_len=5)
    errors.run("compare", "long.csv")
    errors.table("wide.csv", series=["a", "b"], X=[0.5, 0.25], ts_len=[5, 6])
    errors.run("compare", "wide.csv")


@case("options for one series")
def _(errors):
    errors.table("a.csv", label=LABELS, score=SCORES, value=SCORES, other=SCORES)
    errors.table("b.csv", label=LABELS[::-1], score=SCORES, value=SCORES, other=SCORES)
    errors.run("evaluate", "a.csv", "--train-length", "auto")
    errors.run("evaluate", "a.csv", "--train-length", "120")
    errors.run("evaluate", "a.csv", "--train-length", "half")
    errors.run("evaluate", "a.csv", "b.csv", "--train-length", "auto")
    errors.run("evaluate", "a.csv", "b.csv", "--train-length", "120")
    errors.run("evaluate", "a.csv", "b.csv", "--value", "value", "--value", "other")


# -- detectors and buffers of a plan ---------------------------------------------------------------

PLAN = """
[[series]]
family = "kpi"
n = 600
[[detectors]]
{entry}
[[evaluate]]
measures = ["auc_pr"]
"""


@case("models of other libraries in plans")
def _(errors):
    (errors.folder / "my_models.py").write_text(
        "class Distance:\n"
        "    def fit(self, rows): ...\n"
        "    def decision_function(self, rows): ...\n"
        "def make_number():\n    return 5\n"
    )
    for entry in (
        'name = "sklearn:IsolationForests"',
        'name = "sklearn:KernelDensity"\nbandwith = 2',
        'name = "sklearn:KernelDensity"\ncolor = 2',
        'name = "my_models:Distance"',
        'name = "my_models:make_number"',
    ):
        (errors.folder / "plan.toml").write_text(PLAN.format(entry=entry))
        errors.run("bench", "plan", "plan.toml")


@case("series without a buffer")
def _(errors):
    errors.table("slope.csv", value=np.arange(120), label=LABELS, LOF=SCORES)
    errors.run("evaluate", "slope.csv", "--buffer", "period", "--measure", "vus_pr")
    errors.table("bare.csv", label=LABELS, LOF=SCORES)
    errors.run("evaluate", "bare.csv", "--buffer", "period", "--measure", "vus_pr")
    errors.run("compare", "slope.csv", "--buffers", "0.5,1")


# -- fleets ----------------------------------------------------------------------------------------


@case("tables of many series")
def _(errors):
    points = pd.DataFrame({"machine": ["a", "b"] * 60, "time": 0, "label": LABELS, "LOF": SCORES})

    def evaluate(frame=points, **options):
        vuskit.evaluate_frame(frame, **{"by": "machine", "buffer": 5, "errors": "raise", **options})

    errors.call(evaluate, by="machines")
    errors.call(evaluate, label="truth")
    errors.call(evaluate, scores=["LOF", "LOF"])
    errors.call(evaluate, scores=[])
    errors.call(evaluate, points[["machine", "label"]])
    errors.call(evaluate, errors="ignore")
    errors.call(evaluate, buffer="period")
    errors.call(evaluate, points.assign(machine=None))
    errors.call(evaluate, points.assign(label=0))
    errors.call(evaluate, points.assign(LOF=np.nan))
    errors.call(evaluate, order="time")
    errors.call(evaluate, points.assign(time=np.nan), order="time")
    errors.call(evaluate, [points])
    reader = pytest.importorskip("pyarrow").Table.from_pandas(points).to_reader()
    errors.call(evaluate, reader)
    same = points.assign(machine=["a", "a/b"] * 60, part=["b/c", "c"] * 60)
    errors.call(evaluate, same, by=["machine", "part"])


@case("measures in DuckDB")
def _(errors):
    duckdb = pytest.importorskip("duckdb", reason="needs DuckDB")
    connection = duckdb.connect()
    vuskit.sql.register(connection)

    def select(call):
        try:
            connection.sql(f"select {call}").fetchall()
        except duckdb.Error as error:
            raise VuskitError(str(error).partition("UDF: ")[2]) from error

    errors.call(vuskit.sql.register, connection, measures="vus")
    errors.call(select, "vus_pr([0, 1], [1, 2])")
    errors.call(select, "vus_pr([0, 1], [1, 2], 'perod')")
    errors.call(select, "auc_pr([0, 1], [1, NULL])")
    errors.call(select, "auc_pr(0, 1)")
    errors.call(select, "auc_pr([0, 1])")


# -- tables of means -----------------------------------------------------------------------------


@case("tables of means")
def _(errors):
    names = {"series": [1, 1, 2, 2], "detector": ["LOF", "PCA"] * 2}
    values = pd.DataFrame({**names, "measure": "vus_pr", "value": [0.9, 0.5, 0.8, 0.6]})
    errors.call(publication_table, [values])
    errors.call(publication_table, values.rename(columns={"value": "score"}))
    errors.call(publication_table, values.assign(value=float("nan")))
    errors.call(publication_table, values, measures="vus_rp")
    errors.call(publication_table, values, detectors=["LOV"])
    errors.call(publication_table, values, spread="sd")
    errors.call(publication_table, values, columns="datasets")
    errors.call(publication_table, values, chance=20)
    several = [values.assign(settings=f"buffer={length}") for length in (5, 9)]
    errors.call(publication_table, pd.concat(several))
    errors.call(publication_table, values.drop([1, 2]))
    values.to_csv("values.csv", index=False)
    errors.run("compare", "values.csv", "--spread", "sd")
    errors.run("compare", "values.csv", "--latex", "--markdown")


# -- sharing -------------------------------------------------------------------------------------


@case("files that are no packs")
def _(errors):
    (errors.folder / "text.zip").write_text("no zip")
    with zipfile.ZipFile(errors.folder / "other.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    with zipfile.ZipFile(errors.folder / "newer.zip", "w") as archive:
        archive.writestr("manifest.json", '{"schema": "vuskit-pack-3"}')
    with zipfile.ZipFile(errors.folder / "code.zip", "w") as archive:
        archive.writestr("manifest.json", "{}")
        archive.writestr("../code.py", "")
    for name in ("text.zip", "other.zip", "newer.zip", "code.zip", "nowhere.zip"):
        errors.run("bench", "verify", name)
    errors.run("bench", "pack", "text.zip")
    errors.run("bench", "plan", "text.zip")


@case("packs that would be replaced")
def _(errors):
    errors.table("scores/a.csv", value=SCORES, label=LABELS, LOF=SCORES)
    plan = 'executor = {workers = 1}\n[[scores]]\nfolder = "scores"\n'
    (errors.folder / "plan.toml").write_text(plan + '[[evaluate]]\nmeasures = ["auc_pr"]\n')
    load, run = vuskit.bench.load_plan, vuskit.bench.run_plan
    run(load(errors.folder / "plan.toml"))
    (errors.folder / "there.zip").write_text("")
    errors.run("bench", "pack", "plan.toml", "there.zip")
    errors.table("scores/a.csv", value=LABELS, label=LABELS, LOF=SCORES)
    errors.call(next(iter(vuskit.bench.Run(errors.folder / "bench-run").series())).read)


@case("tables without common series")
def _(errors):
    errors.table("a.csv", series=["x", "y"], LOF=[0.25, 0.5])
    errors.table("b.csv", series=["u", "v"], PCA=[0.25, 0.5])
    errors.table("c.csv", PCA=[0.25, 0.5], LOF=[0.1, 0.2])
    errors.table("d.csv", series=["x"], detector=["A"], f=[0.2], g=[0.1])
    errors.run("compare", "a.csv", "b.csv")
    errors.run("compare", "a.csv", "c.csv")
    errors.run("compare", "a.csv", "d.csv")
    errors.run("compare", "a.csv", "a.csv")


@pytest.mark.parametrize("title", CASES)
def test_errors_are_one_line_that_says_what_is_expected(command, tmp_path, monkeypatch, title):
    monkeypatch.chdir(tmp_path)
    errors = Errors(command, tmp_path)
    CASES[title](errors)
    assert errors.messages
    for message in errors.messages:
        assert "\n" not in message
        assert HELPFUL.search(message), message
