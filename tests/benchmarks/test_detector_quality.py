"""The comparison with saved scores: finding windows and stretches, and its summary."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import detector_quality as quality
import numpy as np
import pytest

from vuskit.detectors import get_detector
from vuskit.detectors.agreement import AGREEMENT


def centered(window, n=300, seed=0):
    scores = np.random.default_rng(seed).random(n - window + 1)
    return np.pad(scores, (window // 2, (window - 1) // 2), mode="edge")


def predicted(window, n=300, seed=0):
    return np.pad(np.random.default_rng(seed).random(n - window), (window, 0), mode="edge")


@pytest.mark.parametrize("window", [10, 11, 125])
def test_the_window_is_inferred_from_the_repeated_scores(window):
    assert quality.infer_window({"IFOREST": centered(window)}) == window
    assert quality.infer_window({"CNN": predicted(window)}) == window
    # Rounding repeats the first score of one detector more often; another one shows the window.
    rounded = centered(window)
    rounded[: window // 2 + 20] = 0
    assert quality.infer_window({"LOF": rounded, "PCA": centered(window)}) == window
    assert quality.infer_window({"LOF": rounded, "LSTM": predicted(window)}) == window


def test_a_stretch_is_found_by_its_labels_and_values():
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=500), np.zeros(500)
    for start in (100, 300, 420):
        labels[start : start + 10] = 1
    cut = slice(250, 400)
    found = quality.find_stretch(values, labels, values[cut].round(2), labels[cut])
    assert found == 250
    with pytest.raises(SystemExit, match="other labels"):
        quality.find_stretch(values, labels, values[cut], 1 - labels[cut])


@pytest.fixture
def data(tmp_path):
    """Two series; the saved scores are POLY's own, of the series without its first point."""
    rows = []
    for number, n in enumerate((400, 300)):
        rng = np.random.default_rng(number)
        values, labels = rng.normal(size=n).cumsum().round(3), np.zeros(n, dtype=int)
        labels[n // 2 : n // 2 + 20] = 1
        scores = get_detector("poly").fit_score(values[1:])
        name = f"S/{number}.out"
        for kind, end in (("series", ".gz"), ("scores", ".csv.gz")):
            path = tmp_path / kind / f"{name}{end}"
            path.parent.mkdir(parents=True, exist_ok=True)
            with gzip.open(path, "wt", newline="") as file:
                writer = csv.writer(file)
                if kind == "series":
                    writer.writerows(zip(values, labels, strict=True))
                else:
                    writer.writerow(["value", "label", "POLY", "PCA"])
                    columns = values[1:], labels[1:], scores.round(6), centered(10, n - 1)
                    writer.writerows(zip(*columns, strict=True))
        rows.append({"dataset": "S", "file": name, "n": n, "whole_or_snippet": "whole"})
    with open(tmp_path / "series" / "MANIFEST.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path


def test_results_are_saved_and_not_computed_again(data, tmp_path, monkeypatch, capsys):
    results, summary = tmp_path / "results.jsonl", tmp_path / "summary.json"
    arguments = ["detector_quality", "--data", str(data), "--results", str(results)]
    monkeypatch.setattr("sys.argv", [*arguments, "--detectors", "poly", "--summary", str(summary)])
    assert quality.main() == 0
    lines = results.read_text().splitlines()
    assert [json.loads(line)["points"] for line in lines] == [299, 399]
    assert all(json.loads(line)["pearson"][0] > 0.9999 for line in lines)
    assert json.loads(summary.read_text())[0]["median_pearson"] > 0.9999
    assert "| `poly` | 2 | 1.0000 |" in capsys.readouterr().out
    monkeypatch.setattr(quality, "measure", None)
    assert quality.main() == 0
    assert results.read_text().splitlines() == lines


def row(series, aucs, pearson, pearson_of_seeds):
    return {
        "name": "norma",
        "series": series,
        "seeds": len(aucs),
        "pearson": pearson,
        "pearson_of_seeds": pearson_of_seeds,
        "auc_roc": aucs,
        "saved_auc_roc": 0.5,
    }


def test_the_summary_has_the_agreement_of_seeds_beside_that_with_saved_scores():
    rows = [row("a", [0.6, 0.8], [0.9, 0.7], [0.85]), row("b", [0.5, 0.5], [None, None], [None])]
    summary = quality.summarize(rows, "norma")
    assert summary["series"] == 2
    assert summary["median_pearson"] == pytest.approx(0.8)
    assert summary["median_pearson_of_seeds"] == 0.85
    assert summary["median_auc_difference"] == pytest.approx(0.1)
    assert summary["median_spread"] == pytest.approx(np.std([0.6, 0.8], ddof=1) / 2)
    assert not summary["good"]
    assert "| 0.8000 | 0.8000 | 0.8500 | 0.8500 |" in quality.table([summary])
    assert quality.summarize(rows, "poly") is None


def test_the_seeds_of_a_detector_are_compared_with_each_other(data):
    series = quality.SavedSeries(*quality.choose_series(data, 1, 10_000)[0])
    series.scores["IFOREST"] = series.scores["POLY"]
    found = quality.measure(
        [get_detector("iforest", window=10, n_trees=5, seed=seed) for seed in range(3)], series
    )
    assert len(found["pearson"]) == len(found["pearson_of_seeds"]) == 3
    assert all(0 < one < 1 for one in found["pearson_of_seeds"])


def test_the_documented_agreement_is_that_of_the_stored_results():
    """`vuskit list detectors` and the page on detectors show what the script found."""
    root = Path(quality.__file__).parent
    rows = list(quality.finished(root / "detector_quality.jsonl").values())
    summaries = [quality.summarize(rows, name) for name in quality.COLUMNS]
    assert quality.table(summaries) in (root.parent / "docs" / "detectors.md").read_text()
    for one in summaries:
        ceiling = 1.0 if one["median_pearson_of_seeds"] is None else one["median_pearson_of_seeds"]
        assert AGREEMENT[one["detector"]] == pytest.approx(
            (one["median_pearson"], ceiling), abs=0.006
        )
    assert len(summaries) == len(AGREEMENT)
