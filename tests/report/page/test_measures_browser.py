"""The measures in JavaScript give the values of Python, in a real browser."""

from __future__ import annotations

import dataclasses
import json
import math
import warnings

import numpy as np
import pytest

import vuskit
from vuskit.conformance import answer_suite, check_answers, conformance_suite
from vuskit.datasets import read_scores
from vuskit.kernels.labels import DEFINITIONS
from vuskit.measures.registry import resolve_measures
from vuskit.measures.thresholds import Sigma
from vuskit.report.page.document import part

NAMES = [measure.name for measure in resolve_measures("paper")]
CUT = tuple(measure.name for measure in resolve_measures("paper") if measure.takes("threshold"))
SIDES = ("both", "before", "after")
TOLERANCE = 1e-9
N_RANDOM = 500
REAL = ("Daphnet", "Dodgers", "ECG", "IOPS", "NAB", "SMD", "SensorScope")
DEFINITION = {name: dataclasses.asdict(one) for name, one in DEFINITIONS.items()}

# One text: playwright takes long for lists of many numbers.
EVALUATE = """(cases) => JSON.parse(cases).map(({ labels, scores, threshold, ...settings }) => {
  const plan = measures.plan(measures.events(labels), { ...settings, threshold });
  const numbers = Float64Array.from(scores);
  const { values, areas } = measures.evaluate(plan, numbers);
  return { values, roc: areas && [...areas.roc], pr: areas && [...areas.pr] };
})"""


@pytest.fixture(scope="module")
def script(browser):
    """A page that holds measures.js and nothing else."""
    page = browser.new_context().new_page()
    page.add_script_tag(content=part("measures.js") + "\nwindow.measures = measures;")
    return page


def case(labels, scores, *, definition="journal", **settings):
    """One evaluation as the script takes it."""
    return {
        "labels": np.asarray(labels).astype(int).tolist(),
        "scores": np.asarray(scores, dtype=float).tolist(),
        "definition": DEFINITION[definition],
        "threshold": "sigma",
        **settings,
    }


def expected(one):
    """The same by Python."""
    settings = {key: value for key, value in one.items() if key not in ("labels", "scores")}
    settings["definition"] = settings["definition"]["name"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vuskit.evaluate(one["labels"], one["scores"], **settings)


def threshold_is_on_a_score(one):
    """Whether rounding decides which points the sigma rule predicts."""
    scores = np.asarray(one["scores"])
    if one["threshold"] != "sigma" or not np.ptp(scores):
        return False
    limit = float(Sigma()(scores))
    return bool((np.abs(scores - limit) <= 1e-9 * max(np.abs(scores).max(), 1e-300)).any())


def check(script, cases, names=NAMES):
    found = script.evaluate(EVALUATE, json.dumps(cases))
    worst = 0.0
    for one, answer in zip(cases, found, strict=True):
        values = expected(one)
        skipped = CUT if threshold_is_on_a_score(one) else ()
        for name in set(names).difference(skipped):
            error = abs(values[name] - answer["values"][name])
            assert error <= TOLERANCE, (name, values[name], answer["values"][name], one)
            worst = max(worst, error)
    return worst


# --- nasty cases ---------------------------------------------------------------------------------


def random_labels(rng, n):
    """Single points, long events, events at the borders, gaps of every size."""
    kind = rng.integers(6)
    labels = np.zeros(n, dtype=int)
    if kind == 0:  # single points
        labels[rng.choice(n, size=rng.integers(1, max(n // 4, 2)), replace=False)] = 1
    elif kind == 1:  # dense
        labels[:] = rng.random(n) < rng.random()
    elif kind == 2:  # borders
        labels[: rng.integers(1, 4)] = labels[n - rng.integers(1, 4) :] = 1
    elif kind == 3:  # alternating
        labels[rng.integers(2) :: 2] = 1
    else:
        for _ in range(rng.integers(1, 6)):
            start = rng.integers(n)
            labels[start : start + rng.integers(1, 9)] = 1
    if labels.all() or not labels.any():
        labels[rng.integers(n)] ^= 1
    return labels


def random_scores(rng, labels):
    """Ties, constants, few values, perfect, inverted, tiny and vast scores."""
    n = labels.size
    kind = rng.integers(8)
    scores = [
        lambda: np.zeros(n),
        lambda: rng.integers(0, 3, n).astype(float),
        lambda: np.round(rng.random(n), 1),
        lambda: labels + 0.0,
        lambda: 1.0 - labels,
        lambda: np.roll(labels, rng.integers(-3, 4)) + 0.1 * rng.integers(0, 3, n),
        lambda: rng.standard_normal(n) * 10.0 ** rng.integers(-200, 200),
        lambda: rng.standard_normal(n) - 1e6,
    ]
    return scores[kind]()


def random_case(rng):
    n = int(rng.integers(2, 70))
    labels = random_labels(rng, n)
    grid = None if rng.random() < 0.7 else int(rng.integers(2, 2 * n))
    return case(
        labels,
        random_scores(rng, labels),
        definition=str(rng.choice(list(DEFINITION))),
        side=str(rng.choice(SIDES)),
        buffer=int(rng.choice([0, 1, 2, 3, 5, 8, 13, 30, 2 * n + 3])),
        step=int(rng.choice([1, 1, 1, 2, 3, 7])),
        volume_factor=float(rng.choice([1, 1, 1, 0.5, 2])),
        thresholds=grid,
        threshold=str(rng.choice(["sigma", "quantile", "best"])),
        k=None if rng.random() < 0.7 else int(rng.integers(1, n + 1)),
    )


def test_nasty_cases(script):
    rng = np.random.default_rng(15)
    cases = [random_case(rng) for _ in range(N_RANDOM)]
    assert {one["definition"]["name"] for one in cases} == {*DEFINITION}
    assert {one["side"] for one in cases} == {*SIDES}
    check(script, cases)


OPTIONS = {"buffer", "definition", "side", "step", "thresholds", "threshold", "k"}


def test_conformance_suite(script):
    """The suite for other implementations, answered by this one."""

    def asked(measure, y_true, y_score, options):
        if measure not in NAMES or not options.keys() <= OPTIONS or len(set(y_true)) < 2:
            raise NotImplementedError
        return case(y_true, y_score, **{"buffer": 0, **options})

    cases = answer_suite(asked)
    measures = {one["id"]: one["measure"] for one in conformance_suite()["checks"]}
    found = script.evaluate(EVALUATE, json.dumps(list(cases.values())))
    answers = {name: one["values"][measures[name]] for name, one in zip(cases, found, strict=True)}
    report = check_answers(answers)
    assert report.wrong == ()
    assert report.total("right") == len(cases) > 2500
    assert {name for name in NAMES if report.counts[name]["right"]} == {*NAMES}


def test_long_buffers_are_swept_in_parts(script):
    """The weights of all buffer lengths together would take too much memory."""
    rng = np.random.default_rng(3)
    labels = np.zeros(3000, dtype=int)
    labels[700:720] = labels[1500:1501] = labels[2980:] = 1
    scores = rng.random(3000) + 0.3 * labels
    check(script, [case(labels, scores, definition=name, buffer=2500) for name in DEFINITION])


@pytest.mark.parametrize("name", DEFINITION)
def test_every_field_of_a_definition_is_read(script, name):
    """No name is hard-coded: under another name the values stay the same."""
    rng = np.random.default_rng(1)
    labels = random_labels(rng, 60)
    one = case(labels, rng.random(60), definition=name, buffer=12)
    renamed = {**one, "definition": {**one["definition"], "name": "another", "title": ""}}
    first, second = script.evaluate(EVALUATE, json.dumps([one, renamed]))
    assert first == second


def test_one_class_has_no_values(script):
    (found,) = script.evaluate(
        """(cases) => cases.map((one) => {
          const plan = measures.plan(measures.events(one.labels), one);
          return Object.values(measures.evaluate(plan, Float64Array.from(one.scores)).values);
        })""",
        [case([0, 0, 0], [1, 2, 3], buffer=2)],
    )
    assert len(found) == len(NAMES)
    assert all(map(math.isnan, found))


# --- reference cases and real scores -------------------------------------------------------------


def test_reference_cases(script, test_data):
    path = test_data / "conformance" / "vus_cases.json"
    reference = json.loads(path.read_text(encoding="utf-8"))["cases"]
    cases, stated = [], []
    for one in reference:
        for variant in ("journal", "journal_all_thresholds", "pvldb2022", "timeeval"):
            if variant not in one:
                continue
            whole = variant == "journal_all_thresholds"
            cases.append(
                case(
                    one["y_true"],
                    one["y_score"],
                    buffer=one["max_buffer"],
                    definition="journal" if whole else variant,
                    thresholds=None if whole else one["thresholds"],
                )
            )
            stated.append({**one[variant], "auc_roc": one["auc_roc"], "auc_pr": one["auc_pr"]})
    found = script.evaluate(EVALUATE, json.dumps(cases))
    for values, answer in zip(stated, found, strict=True):
        for name, value in values.items():
            assert answer["values"][name] == pytest.approx(value, abs=TOLERANCE), name
    check(script, cases)


def real_cases(folder):
    for dataset in REAL:
        path = sorted((folder / "data" / "scores" / dataset).glob("*.gz"))[0]
        scored = read_scores(path)
        names = list(scored.scores)
        for place, (definition, name) in enumerate(zip(DEFINITION, names, strict=False)):
            yield case(
                scored.series.labels,
                scored.scores[name],
                definition=definition,
                side=SIDES[place],
                buffer=100,
                threshold=("sigma", "quantile", "best")[place],
            )


def test_real_scores(script, test_data):
    cases = list(real_cases(test_data))
    assert len(cases) == 3 * len(REAL)
    check(script, cases)


# --- other functions -----------------------------------------------------------------------------


def test_event_tables(script):
    rng = np.random.default_rng(8)
    for _ in range(60):
        one = random_case(rng)
        limit = float(np.quantile(one["scores"], rng.random()))
        table = vuskit.events(
            one["labels"], one["scores"], buffer=one["buffer"], side=one["side"], threshold=limit
        )
        found = script.evaluate(
            """([one, limit]) => {
              const plan = measures.plan(measures.events(one.labels), one);
              const found = measures.eventTable(plan, Float64Array.from(one.scores), limit);
              const delay = (row) => row.found ? row.delay : null;
              const rows = found.rows.map((row) => ({ ...row, delay: delay(row) }));
              return { ...found, rows };
            }""",
            [one, limit],
        )
        rows = found["rows"]
        assert [row["found"] for row in rows] == table.found.tolist()
        assert [row["rank"] for row in rows] == table.peak_rank.tolist()
        delays = [None if math.isnan(delay) else delay for delay in table.delay]
        assert [row["delay"] for row in rows] == delays
        assert len(found["alarms"]) == table.false_alarms


def test_surfaces_average_to_the_volume(script):
    rng = np.random.default_rng(5)
    labels = np.zeros(2000, dtype=int)
    labels[300:340] = labels[900:905] = labels[1500:1600] = 1
    scores = rng.random(2000) + 0.4 * labels
    for name in DEFINITION:
        roc, pr = script.evaluate(
            """(one) => {
              const plan = measures.plan(measures.events(one.labels), one);
              const places = Array.from({ length: 1001 }, (_, i) => i / 1000);
              const widths = Array.from({ length: one.buffer + 1 }, (_, w) => w);
              const found = measures.heights(plan, Float64Array.from(one.scores), widths, places);
              const mean = (all) => all.reduce((sum, one) => sum + one, 0) / all.length;
              return [mean(found.roc), mean(found.pr)];
            }""",
            case(labels, scores, definition=name, buffer=20),
        )
        options = {"definition": name, "max_buffer": 20}
        assert roc == pytest.approx(vuskit.vus_roc(labels, scores, **options), abs=2e-3)
        assert pr == pytest.approx(vuskit.vus_pr(labels, scores, **options), abs=5e-3)


def test_chance_levels(script):
    labels = np.zeros(1000, dtype=int)
    labels[100:120] = labels[700:705] = 1
    found = script.evaluate(
        """(one) => {
          const plan = measures.plan(measures.events(one.labels), one);
          const level = measures.chance(plan, { draws: 40 });
          while (!level.step());
          return level.values;
        }""",
        case(labels, [], buffer=40),
    )
    level = vuskit.chance_level(labels, buffer=40, draws=40)
    for name in NAMES:
        spread = math.hypot(level.std[name], level.std[name]) / math.sqrt(40)
        assert abs(found[name] - level.mean[name]) <= 4 * spread + 1e-3, name
