"""Freeze the values of other packages as golden data: ``tests/golden/peers.json``.

The peers' requirements exclude each other, so each lives in a virtual environment of its own. With
``E`` a folder of your choice and Python 3.11::

    for peer in vus tsb-ad timeeval dtaianomaly aeon pate prts scikit-learn tsadmetrics; do
        python3 -m venv E/$peer
    done
    E/vus/bin/pip install --no-deps vus==0.0.6
    E/vus/bin/pip install numpy pandas scikit-learn tqdm
    E/tsb-ad/bin/pip install --no-deps TSB-AD==1.5
    E/tsb-ad/bin/pip install "numpy<2" scikit-learn
    E/timeeval/bin/pip install --no-deps timeeval==1.5.0
    E/timeeval/bin/pip install "numpy<2" scikit-learn
    E/dtaianomaly/bin/pip install --no-deps dtaianomaly==0.5.1
    E/dtaianomaly/bin/pip install numpy numba pandas scikit-learn statsmodels toml
    E/aeon/bin/pip install aeon
    E/pate/bin/pip install --no-deps PATE==0.1.1
    E/pate/bin/pip install "scikit-learn<1.6" statsmodels
    E/prts/bin/pip install --no-deps prts
    E/prts/bin/pip install "numpy<2"
    E/scikit-learn/bin/pip install scikit-learn
    E/tsadmetrics/bin/pip install --no-deps tsadmetrics==1.0.16
    E/tsadmetrics/bin/pip install numpy pandas PyYAML

Then, with any Python::

    python benchmarks/freeze_golden.py tests/golden/peers.json --environments E

and, to compare on fresh cases where the environments exist::

    VUSKIT_TEST_PEERS=E python -m pytest tests/test_oracle.py

Each value is stored with the peers that gave it; peers that can answer the same call must agree
to 1e-9, or nothing is written. Inputs on which a peer is known to go wrong are avoided: constant
scores (aeon and TimeEval answer 0), no predicted point (prts stops), integer scores or labels of
other types than int64 (vus computes something else), an event at the end of the series (TSB-AD's
composite F drops its last point) or at its beginning (TSB-AD never adjusts the first point).
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import golden_peers
from golden_peers import PEERS, Call

SEED = 20220901
N_CASES = 40
TOLERANCE = 1e-9

Case = dict[str, Any]  # {"name": ..., "y_true": ..., "y_score": ..., "y_pred": ..., "calls": ...}


# --- the cases -----------------------------------------------------------------------------------


def draw_labels(rng: random.Random, n: int) -> list[int]:
    """Draw a few events of any place and length, both classes present."""
    labels = [0] * n
    for _ in range(rng.choice([1, 1, 2, 3, 5, 8])):
        length = rng.choice([1, 1, 2, 3, 5, 9])
        start = rng.choice([0, n - length, *(rng.randrange(n - length) for _ in range(6))])
        labels[start : start + length] = [1] * length
    return labels


def draw_scores(rng: random.Random, labels: list[int]) -> list[float]:
    """Draw noise, raised at some anomalies and just after them, with ties in half of the cases."""
    digits = rng.choice([1, 4])
    lift = rng.choice([0.0, 0.5, 1.0])
    lag = rng.choice([0, 0, 2])
    shifted = [0] * lag + labels[: len(labels) - lag]
    return [round(rng.random() + lift * label, digits) for label in shifted]


def draw_predictions(rng: random.Random, labels: list[int], scores: list[float]) -> list[int]:
    """Cut the scores at one of them, and wipe or keep whole stretches of the labels."""
    cut = sorted(scores)[rng.randrange(len(scores) // 2, len(scores))]
    keep_labels = rng.random() < 0.5
    return [
        int(score >= cut or (keep_labels and label == 1 and i % 7 != 0))
        for i, (label, score) in enumerate(zip(labels, scores, strict=True))
    ]


def draw_calls(rng: random.Random, n: int) -> Iterator[Call]:
    """Draw what to ask about one case."""
    grid = rng.choice([2, 3, 5, 12, 26, 60, 250])
    buffer = rng.choice([0, 1, 2, rng.randrange(3, 41), rng.randrange(3, 41), 2 * n])
    volumes = [
        {"thresholds": grid, "definition": "journal"},
        {"thresholds": 250, "definition": "pvldb2022"},
        {"thresholds": grid, "definition": "timeeval"},
    ]
    for options in volumes:
        for measure in ("vus_roc", "vus_pr"):
            yield {"measure": measure, "options": {"max_buffer": buffer, **options}}
    for options in volumes[1:]:
        for measure in ("range_auc_roc", "range_auc_pr"):
            yield {"measure": measure, "options": {"buffer": buffer, **options}}
    if grid <= 12:
        options = {"buffer": buffer, "thresholds": grid, "definition": "journal"}
        yield {"measure": "curve", "options": options}
    yield {"measure": "auc_roc", "options": {}}
    for interpolation in ("step", "trapezoid"):
        yield {"measure": "auc_pr", "options": {"interpolation": interpolation}}
    yield {"measure": "precision", "options": {}}
    yield {"measure": "recall", "options": {}}
    yield {"measure": "f_score", "options": {"beta": rng.choice([0.5, 1, 2])}}
    for bias in ("flat", "front", "middle", "back"):
        options = {"cardinality": rng.choice(["one", "reciprocal"]), "bias": bias}
        alpha = rng.choice([0, 0.2, 0.5, 1])
        beta = rng.choice([0.5, 1, 2])
        yield {"measure": "range_precision", "options": options}
        yield {"measure": "range_recall", "options": {"alpha": alpha, **options}}
        yield {
            "measure": "range_f_score",
            "options": {"beta": beta, "alpha": alpha, **options},
        }


def calls_of_other_papers(labels: list[int], scores: list[float]) -> Iterator[Call]:
    """What to ask about the measures beyond the paper, where a peer gives the defined value."""
    yield {"measure": "best_f_score", "options": {}}
    yield {"measure": "event_recall", "options": {}}
    for measure in ("event_precision", "event_f_score"):
        yield {"measure": measure, "options": {"false_alarm_rate": True}}
    for part in ("precision", "recall", "f_score"):
        yield {"measure": f"point_adjusted_{part}", "options": {}}
        yield {"measure": f"affiliation_{part}", "options": {}}
    for buffer in (0, 7, 40):
        yield {"measure": "pate", "options": {"buffer": buffer}}
    if not labels[-1]:
        yield {"measure": "composite_f_score", "options": {}}
    starts = sum(label and not before for before, label in zip([0, *labels], labels, strict=False))
    if starts == 1 and scores.count(max(scores)) == 1:
        yield {"measure": "ucr_score", "options": {"slack": 3}}


def draw_cases(seed: int, count: int) -> Iterator[Case]:
    """Draw the cases, the same for the same seed."""
    rng = random.Random(seed)
    for k in range(count):
        n = rng.randint(20, 120)
        labels = draw_labels(rng, n)
        scores = draw_scores(rng, labels)
        yield {
            "name": f"random-{k}",
            "y_true": labels,
            "y_score": scores,
            "y_pred": draw_predictions(rng, labels, scores),
            "calls": [*draw_calls(rng, n), *calls_of_other_papers(labels, scores)],
        }


# --- putting the answers together ----------------------------------------------------------------


def python_of(environment: str, environments: Path) -> Path:
    """Interpreter of a peer's virtual environment."""
    return environments / environment / "bin" / "python"


def ask(name: str, environments: Path, cases: list[Case]) -> Any:
    """Let a peer answer, in its own environment."""
    python = python_of(PEERS[name][0], environments)
    done = subprocess.run(
        [str(python), "-W", "ignore", golden_peers.__file__, name],
        input=json.dumps(cases),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def numbers(value: Any) -> list[float]:
    """Flatten a value: a number, or the three lists of a curve."""
    if isinstance(value, dict):
        return [number for key in sorted(value) for number in value[key]]
    return [value]


def agreed(case: Case, call: Call, values: dict[str, Any]) -> Call:
    """Join the peers' answers to a call; stop where they differ."""
    if not values:
        raise SystemExit(f"no peer answered {call} on {case['name']}")
    first = next(iter(values.values()))
    for other in values.values():
        gaps = [abs(a - b) for a, b in zip(numbers(first), numbers(other), strict=True)]
        if max(gaps) > TOLERANCE:
            raise SystemExit(f"peers differ on {case['name']}, {call}: {values}")
    return {**call, "peers": list(values), "value": first}


def to_text(golden: Call) -> str:
    """JSON with one line per input and per call, so that a change can be read."""
    lines = ["{", f'"about": {json.dumps(golden["about"])},']
    lines += [f'"tolerance": {golden["tolerance"]},']
    lines += [f'"versions": {json.dumps(golden["versions"])},', '"cases": [']
    for k, case in enumerate(golden["cases"]):
        lines += ["{", f'"name": {json.dumps(case["name"])},']
        lines += [
            f'"{key}": {json.dumps(case[key], separators=(",", ":"))},'
            for key in ("y_true", "y_score", "y_pred")
        ]
        calls = [json.dumps(call, separators=(",", ":")) for call in case["calls"]]
        lines += ['"calls": [', ",\n".join(calls), "]"]
        lines.append("}" if k == len(golden["cases"]) - 1 else "},")
    return "\n".join([*lines, "]", "}", ""])


def freeze(target: Path, environments: Path) -> None:
    """Ask every peer about every case and write what they agree on."""
    cases = list(draw_cases(SEED, N_CASES))
    found = {name: ask(name, environments, cases) for name in PEERS}
    for k, case in enumerate(cases):
        case["calls"] = [
            agreed(
                case,
                call,
                {
                    name: reply["replies"][k][j]
                    for name, reply in found.items()
                    if reply["replies"][k][j] is not None
                },
            )
            for j, call in enumerate(case["calls"])
        ]
    golden = {
        "about": "Values of other packages, made by benchmarks/freeze_golden.py. Measures by "
        "predictions take y_pred, all others y_score.",
        "tolerance": 1e-12,
        "versions": {PEERS[name][0]: reply["version"] for name, reply in found.items()},
        "cases": cases,
    }
    text = to_text(golden)
    json.loads(text)
    target.write_text(text, encoding="utf-8")
    print(f"{len(cases)} cases, {sum(len(c['calls']) for c in cases)} values, {len(text)} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description="Freeze the values of other packages.")
    parser.add_argument("target", type=Path, help="the JSON file to write")
    parser.add_argument(
        "--environments",
        type=Path,
        required=True,
        help="folder that holds one virtual environment per peer",
    )
    arguments = parser.parse_args()
    freeze(arguments.target, arguments.environments)


if __name__ == "__main__":
    main()
