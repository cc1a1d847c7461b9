"""Files that say the same in another way give the same values, or an error."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import vuskit
from vuskit.bench import evaluate_inputs
from vuskit.datasets import open_inputs
from vuskit.datasets.columns import Columns
from vuskit.errors import InvalidInputError

N = 40
EVENTS = {"m1": (5, 9), "m2": (20, 22), "m3": (30, 39)}  # first and last point
BERLIN = "Europe/Berlin"
TIMES = pd.date_range("2026-03-28T23:40", periods=N, freq="5min", tz="UTC")  # clocks change
SETTINGS = vuskit.EvaluationSettings(buffer=3)

SPELLINGS = {
    "Z": lambda times: times.strftime("%Y-%m-%dT%H:%M:%SZ"),
    "offset": lambda times: times.tz_convert("Asia/Kolkata").map(lambda one: one.isoformat()),
    "space": lambda times: times.strftime("%Y-%m-%d %H:%M:%S+00:00"),
    "naive": lambda times: times.tz_convert(BERLIN).strftime("%Y-%m-%d %H:%M:%S"),
    "seconds": lambda times: times.astype("datetime64[s, UTC]").astype("int64"),
    "milliseconds": lambda times: times.astype("datetime64[ms, UTC]").astype("int64"),
}
spellings = st.sampled_from(sorted(SPELLINGS))
names_of_times = st.sampled_from(["ts", "Time", "timestamp", "date", "Zeitstempel", ""])
USUAL = ("ts", "Time", "timestamp", "date")  # numbers are times in these columns only


def labels_of(machine):
    labels = np.zeros(N, dtype=int)
    start, end = EVENTS[machine]
    labels[start : end + 1] = 1
    return labels


SCORES = {
    (machine, detector): np.random.default_rng([place, seed]).random(N) + labels_of(machine)
    for place, machine in enumerate(EVENTS)
    for seed, detector in enumerate(("LOF", "PCA"))
}
EXPECTED = {
    (machine, detector): vuskit.vus_pr(labels_of(machine), score, buffer=SETTINGS.buffer)
    for (machine, detector), score in SCORES.items()
}


def save(frame, path, kind):
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.with_suffix(f".{kind}")
    if kind == "csv":
        frame.to_csv(target, index=False)
    else:
        frame.to_parquet(target)
    return target


def save_points(folder, machine, frame, layout, kind):
    if layout == "a file per series":
        save(frame, folder / machine, kind)
        return
    for detector in ("LOF", "PCA"):
        others = frame.drop(columns=["LOF", "PCA"]).assign(score=frame[detector])
        save(others, folder / detector / machine, kind)


def shuffled(frame, seed):
    return frame if seed is None else frame.sample(frac=1, random_state=seed)


def values_of(*inputs, **options):
    found = evaluate_inputs(open_inputs(*inputs, **options), measures=["vus_pr"], settings=SETTINGS)
    assert not found.failures
    return {(one["series"], one["detector"]): one["value"] for one in found.records()}


seeds = st.none() | st.integers(0, 99)
quick = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)


@quick
@given(
    spelling=spellings,
    of_tickets=spellings,
    name=names_of_times,
    key=st.sampled_from(["machine", "anlage", "series", "Host Name"]),
    layout=st.sampled_from(["a file per series", "a file per detector"]),
    kind=st.sampled_from(["csv", "parquet"]),
    zone=st.sampled_from([None, BERLIN]),
    seed=seeds,
)
def test_tickets(spelling, of_tickets, name, key, layout, kind, zone, seed):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for machine in EVENTS:
            scores = {detector: SCORES[machine, detector] for detector in ("LOF", "PCA")}
            frame = pd.DataFrame({name: SPELLINGS[spelling](TIMES), **scores})
            save_points(folder / "scores", machine, shuffled(frame, seed), layout, kind)
        bounds = np.array(list(EVENTS.values())).T
        start, end = (SPELLINGS[of_tickets](TIMES[one]) for one in bounds)
        tickets = pd.DataFrame({"start": start, key: list(EVENTS), "end": end})
        labels = save(shuffled(tickets, seed), folder / "tickets", kind)
        columns = Columns(timezone=zone)
        try:
            found = values_of(folder / "scores", labels=labels, columns=columns)
        except InvalidInputError:
            mixed = (spelling == "naive") != (of_tickets == "naive") and zone is None
            assert mixed or (name not in USUAL and (kind == "parquet" or "seconds" in spelling))
        else:
            assert found == EXPECTED


@quick
@given(
    spelling=spellings,
    of_labels=spellings,
    name=names_of_times,
    apart=st.booleans(),
    zone=st.sampled_from([None, BERLIN]),
    seed=seeds,
    other_seed=seeds,
)
def test_labels_of_points(spelling, of_labels, name, apart, zone, seed, other_seed):
    assume(name in (*USUAL, "") or "seconds" not in spelling)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for machine in EVENTS:
            scores = {detector: SCORES[machine, detector] for detector in ("LOF", "PCA")}
            labels = {"label": labels_of(machine)}
            frame = pd.DataFrame(
                {name: SPELLINGS[spelling](TIMES), **scores, **({} if apart else labels)}
            )
            save(shuffled(frame, seed), folder / "scores" / machine, "csv")
            if apart:
                table = pd.DataFrame({"ts": SPELLINGS[of_labels](TIMES), **labels})
                save(shuffled(table, other_seed), folder / "labels" / machine, "csv")
        try:
            found = values_of(
                folder / "scores",
                labels=folder / "labels" if apart else None,
                columns=Columns(timezone=zone),
            )
        except InvalidInputError:
            mixed = apart and (spelling == "naive") != (of_labels == "naive") and zone is None
            assert mixed or name == ""  # row numbers out of order
        else:
            assert found == EXPECTED


@quick
@given(
    spelling=spellings,
    by=st.sampled_from(["machine", "Anlage"]),
    ids=st.sampled_from([("m1", "m2", "m3"), ("007", "7", "7.0"), ("..", ".m", "a/b")]),
    seed=seeds,
)
def test_long_tables_and_frames(spelling, by, ids, seed):
    parts = [
        pd.DataFrame(
            {
                by: new,
                "ts": SPELLINGS[spelling](TIMES),
                "label": labels_of(machine),
                **{detector: SCORES[machine, detector] for detector in ("LOF", "PCA")},
            }
        )
        for machine, new in zip(EVENTS, ids, strict=True)
    ]
    frame = shuffled(pd.concat(parts, ignore_index=True), seed)
    names = dict(zip(EVENTS, ids, strict=True))
    expected = {(names[machine], detector): v for (machine, detector), v in EXPECTED.items()}
    with tempfile.TemporaryDirectory() as place:
        for kind in ("csv", "parquet"):
            path = save(frame.reset_index(drop=True), Path(place) / "long", kind)
            assert values_of(path, columns=Columns(by=by)) == expected
    result = vuskit.evaluate_frame(frame, by=by, settings=SETTINGS, measures=["vus_pr"])
    keys = zip(result["series"], result["detector"], strict=True)
    assert dict(zip(keys, result["value"], strict=True)) == expected
