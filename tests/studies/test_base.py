"""Studies: registry, options, user studies, seeds, names of detectors."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from studies.scored import SOME, make_scored, make_several

from vuskit.datasets import ScoredSeries
from vuskit.errors import InvalidInputError
from vuskit.parameters import number, param, whole
from vuskit.studies import (
    Consistency,
    Robustness,
    Study,
    StudyResult,
    evaluate_detectors,
    get_study,
    list_studies,
    load_study_result,
    run_study,
    study,
    summarize,
)
from vuskit.studies import (
    base as studies_registry,
)
from vuskit.studies.base import PUBLISHED_DETECTORS, _mean_of_defined, detector_key, find_detectors


@pytest.fixture(scope="module")
def several():
    return make_several()


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr(studies_registry, "_STUDIES", dict(studies_registry._STUDIES))


@dataclass(frozen=True, eq=False)
class SpreadResult(StudyResult):
    """Difference of the best and the worst detector."""

    spreads: pd.DataFrame

    def tables(self):
        return {"spreads": self.spreads}

    def score(self):
        return self.spreads.mean() * self.study.weight


def make_spread():
    """Register a study as a user would; its class is not importable from another process."""

    @study(title="Spread", question="How far apart are the detectors?", better="higher")
    @dataclass(frozen=True)
    class Spread(Study[SpreadResult]):
        """Range of the values of a measure."""

        best: int = param(1, whole(0), "Detectors left out at the top.")
        weight: float = param(1.0, number(), "Factor of the score.", stage="result")

        def per_series(self, scored):
            evaluator = self.evaluator(scored.series.labels, self.choose_buffer(scored).length)
            values = np.sort(evaluate_detectors(evaluator, scored), axis=0)
            return pd.DataFrame([values[-self.best] - values[0]], columns=list(self.names))

        def combine(self, parts):
            return SpreadResult(pd.concat(parts, ignore_index=True))

    return Spread


# ---- registry and options ----


def test_ours_are_listed_in_their_order():
    names = [one.name for one in list_studies()]
    assert names[:5] == ["robustness", "separability", "consistency", "scenarios", "summary"]
    for one in list_studies():
        assert one.question.endswith("?")
        assert one.better in ("lower", "higher")


def test_every_option_is_described():
    for one in list_studies():
        for name, entry in one.options().items():
            assert (entry.help and entry.words) or name in ("scenarios", "criterion"), name


def test_unknown_studies_and_options_are_named():
    with pytest.raises(InvalidInputError, match="got 'robustnes'; did you mean 'robustness'"):
        get_study("robustnes")
    with pytest.raises(InvalidInputError, match=r"robustness has no option 'counts'.*'count'"):
        Robustness.create(counts=3)
    with pytest.raises(InvalidInputError, match=r"`ratio`.*got \(0.1, 2\); `HIGH` must be"):
        Robustness.create(ratio=(0.1, 2))


def test_forms_of_a_result(several):
    found = run_study("separability", several, **SOME)
    titles = [measure.title for measure in found.measures]
    lines = found.to_markdown().splitlines()
    assert lines[0] == found.about()
    assert [line.split(" | ")[0] for line in lines[4 : 4 + len(titles)]] == [
        f"| {title}" for title in titles
    ]
    assert f"\n{titles[0]} & " in found.to_latex()
    assert f"<td>{titles[0]}</td>" in found.to_html()


def test_a_name_is_taken_once(registry):
    spread = make_spread()
    assert get_study("spread") is spread
    with pytest.raises(InvalidInputError, match="`name` must be unique, got 'robustness'"):
        study(title="x", question="x?", better="lower", name="robustness")(spread)
    with pytest.raises(InvalidInputError, match="`name` must be lower-case letters"):
        study(title="x", question="x?", better="lower", name="../up")(spread)
    with pytest.raises(InvalidInputError, match="`better` must be"):
        study(title="x", question="x?", better="best")(spread)


def test_options_of_the_result_need_no_second_run(several):
    found = run_study("robustness", several, **SOME)
    strict = found.with_options(alpha=0.01)
    assert strict.compare("lag").pairs.alpha == 0.01
    assert strict.values is found.values
    with pytest.raises(InvalidInputError, match="must be one of 'min_values', 'spread', 'alpha'"):
        found.with_options(count=5)


# ---- a user's study ----


@pytest.mark.parametrize("processes", [1, 2])
def test_a_users_study_runs_is_saved_and_joins_the_summary(several, tmp_path, registry, processes):
    spread = make_spread()
    chosen = spread.create(best=2, **SOME)
    found = run_study(chosen, several[:3], processes=processes, folder=tmp_path / "parts")
    assert found.spreads.shape == (3, 4)
    again = run_study(chosen, several[:3], folder=tmp_path / "parts")
    pd.testing.assert_frame_equal(again.spreads, found.spreads, check_exact=True)
    path = found.save(tmp_path)
    assert path.name == "spread_result.npz"
    back = load_study_result(path)
    assert back.study == found.study
    assert back.save(tmp_path / "again").read_bytes() == path.read_bytes()
    ranks = summarize(run_study("consistency", several[:3], min_series=1 + 1, **SOME), back).ranks
    assert list(ranks.columns) == ["consistency", "spread", "mean"]
    assert ranks["spread"].idxmin() == found.score().idxmax()
    assert list(back.overview().columns) == ["spread"]


def test_a_result_of_an_unknown_study_is_refused(several, tmp_path, registry, monkeypatch):
    path = make_spread().create(**SOME).run(several[0]).save(tmp_path)
    monkeypatch.delitem(studies_registry._STUDIES, "spread")
    with pytest.raises(InvalidInputError, match=r"got 'spread'.*load the module that defines it"):
        load_study_result(path)


MODULE = """
from dataclasses import dataclass

import pandas as pd

from vuskit.parameters import number, param, whole
from vuskit.studies import Study, StudyResult, study


@dataclass(frozen=True, eq=False)
class CountResult(StudyResult):
    counts: pd.Series

    def tables(self):
        return {"counts": self.counts.to_frame("count")}


@study(title="Count", question="How many?", better="higher")
@dataclass(frozen=True)
class Count(Study[CountResult]):
    def per_series(self, scored):
        return len(scored.detectors)

    def combine(self, parts):
        return CountResult(pd.Series(parts))
"""


def installed(folder, points):
    (folder / "counting.py").write_text(MODULE)
    about = folder / "counting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[vuskit.studies]\n{points}\n")
    return folder


def python(code, folder):
    known = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": known},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_studies_of_installed_packages_are_found(tmp_path):
    place = installed(tmp_path, "count = counting:Count\nbroken = nowhere:Study")
    code = (
        "from vuskit.errors import InvalidInputError\n"
        "from vuskit.studies import get_study, list_studies\n"
        "print([one.name for one in list_studies()][-1], get_study('count').question)\n"
        "try:\n"
        "    get_study('broken')\n"
        "except InvalidInputError as error:\n"
        "    print(error)"
    )
    first, second = python(code, place).splitlines()
    assert first == "count How many?"
    assert second.startswith("entry point 'broken' of 'vuskit.studies' must be importable")


# ---- seeds ----


def repeated(scored, detector, count):
    """The same series; one detector ran several times, always with the same scores."""
    names = tuple(f"{detector} (seed {seed})" for seed in range(count))
    scores = {}
    for name, score in scored.scores.items():
        scores |= dict.fromkeys(names, score) if name == detector else {name: score}
    return ScoredSeries(scored.series, scores, {detector: names})


@pytest.mark.parametrize("study", ["robustness", "separability", "consistency"])
def test_seeds_with_equal_scores_count_as_one_detector(several, study):
    once = run_study(study, several[:3], **SOME).to_frame()
    twice = run_study(study, [repeated(one, "late", 2) for one in several[:3]], **SOME).to_frame()
    pd.testing.assert_frame_equal(once, twice, check_exact=True)


def noisy_runs(scored, detector="late"):
    random = np.random.default_rng(3)
    names = tuple(f"{detector} (seed {seed})" for seed in range(3))
    score = scored.scores[detector]
    runs = {name: score + 0.3 * random.random(score.size) for name in names}
    others = {name: one for name, one in scored.scores.items() if name != detector}
    return ScoredSeries(scored.series, others | runs, {detector: names}), runs


def test_values_are_averaged_over_seeds_before_ranking(several):
    scored, runs = noisy_runs(several[0])
    frame = run_study("consistency", scored, **SOME).to_frame()
    assert set(frame["detector"]) == {"good", "late", "noisy", "useless"}
    apart = run_study("consistency", ScoredSeries(scored.series, runs), **SOME).to_frame()
    expected = apart.groupby("measure")["value"].mean()
    rows = frame[frame["detector"] == "late"].set_index("measure")
    assert rows["value"].to_dict() == pytest.approx(expected.to_dict(), abs=1e-12)
    ranks = frame.pivot(index="detector", columns="measure", values="rank")
    assert (ranks.sum() == 4 * 5 / 2).all()


def test_lag_deviation_is_that_of_the_mean_over_seeds(several):
    scored, runs = noisy_runs(several[0])
    options = {"perturbations": ["lag"], **SOME}
    found = run_study("robustness", scored, **options)
    apart = (
        run_study("robustness", ScoredSeries(scored.series, runs), **options).values[0].values[0]
    )
    place = found.values[0].axes["detector"].index("late")
    np.testing.assert_allclose(found.values[0].values[0, place], apart.mean(axis=0), atol=1e-12)


def test_seeds_of_one_detector_are_never_a_pair(several):
    good, bad = several[0].scores["good"], several[0].scores["useless"]
    runs = {"moody (seed 0)": good, "moody (seed 1)": bad, "steady": several[0].scores["late"]}
    scored = ScoredSeries(several[0].series, runs, {"moody": ("moody (seed 0)", "moody (seed 1)")})
    found = run_study("separability", scored, count=4, min_gap=0.0, **SOME)
    (pair,) = found.values[0].notes["pairs"]
    assert sorted(pair) == ["moody", "steady"]
    assert found.values[0].notes["criterion"].keys() == {"moody", "steady"}


def test_an_undefined_run_does_not_hide_the_others():
    values = [np.array([[0.5, np.nan]]), np.array([[np.nan, np.nan]]), np.array([[0.7, np.nan]])]
    np.testing.assert_allclose(_mean_of_defined(values), [[0.6, np.nan]])


def test_scored_series_refuse_repeats_that_do_not_fit():
    scored = make_scored(1)
    for repeats in ({"a": ("good", "gone")}, {"a": ("good",), "b": ("good",)}, {"good": ("late",)}):
        with pytest.raises(InvalidInputError, match="`repeats` must"):
            ScoredSeries(scored.series, scored.scores, repeats)


def test_a_study_of_failures_only_names_the_first_one(several, registry):
    @study(title="Broken", question="Does it work?", better="higher")
    @dataclass(frozen=True)
    class Broken(Study[SpreadResult]):
        """Always fails."""

        def per_series(self, scored):
            raise ValueError("oops")

        def combine(self, parts):
            return SpreadResult(pd.concat(parts))

    with pytest.raises(InvalidInputError, match=r"all 2 failed; the first one, .*ValueError: oops"):
        run_study(Broken.create(measures=["auc_pr"], buffer=10), several[:2])


def test_options_belong_to_names_and_classes(several):
    found = run_study("consistency", several[:3], min_series=2, **SOME)
    assert found.study == Consistency.create(min_series=2, **SOME)
    assert found.to_frame().equals(
        run_study("consistency", several[:3], min_series=2, **SOME).to_frame()
    )
    with pytest.raises(InvalidInputError, match=r"`options` must be left out .* got min_series"):
        run_study(found.study, several[:3], min_series=3)


# -- names of detectors ----------------------------------------------------------------------------

SAVED = ("IFOREST", "IFOREST1", "LOF", "HBOS", "OCSVM", "PCA", "NORMA", "MP", "POLY", "AE", "CNN")


def test_published_detectors_are_those_that_are_there():
    found = find_detectors(["published"], SAVED)
    assert found == ("NORMA", "POLY", "IFOREST", "AE", "OCSVM", "MP", "LOF", "CNN")
    assert find_detectors(["published"], ("mine", "yours")) == ("mine", "yours")
    own = ("norma", "poly", "iforest", "ae", "ocsvm", "mp", "lof", "lstm_ad", "cnn", "pca")
    assert find_detectors(["published"], own) == own[:-1]
    assert len({detector_key(name) for name in PUBLISHED_DETECTORS}) == 9


def test_an_exact_name_wins():
    assert find_detectors(["a-e"], ("AE", "a-e")) == ("a-e",)
    assert find_detectors(["LOF", "lof"], SAVED) == ("LOF",)


def test_a_missing_detector_is_named():
    with pytest.raises(InvalidInputError, match=r"`pairs` must name detectors.*got 'LOFF'.*'LOF'"):
        find_detectors(["LOFF"], SAVED, name="pairs")
