"""What other packages answer to a few plain questions: the measured cells of README's table.

The peers live in virtual environments, one each, made as ``freeze_golden.py`` describes::

    python benchmarks/peer_answers.py --environments E

Each question is put to vuskit and, in its own environment, to every peer; the answer is the
VUS-PR, or the first words of the error.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from golden_peers import PEERS

ASKED = ("vus opt", "TSB-AD", "aeon", "TimeEval", "dtaianomaly", "tsadmetrics")
THRESHOLDS = 250
WORDS = 60


def ten_anomalies(n: int, length: int) -> tuple[Any, Any]:
    """Labels, and a score that puts every anomalous point above all others."""
    import numpy as np

    labels = np.zeros(n, dtype=np.int64)
    for start in range(n // 20, n, n // 10):
        labels[start : start + length] = 1
    return labels, labels + np.random.default_rng(0).random(n) / 2


def noisy() -> tuple[Any, Any]:
    """A short series, and a score that is right in part."""
    import numpy as np

    labels, _ = ten_anomalies(2000, 20)
    return labels, labels + 2 * np.random.default_rng(1).random(2000)


def perfect() -> tuple[Any, Any, int]:
    """A perfect detector on 100,000 points."""
    return (*ten_anomalies(100_000, 20), 100)


def plain() -> tuple[Any, Any, int]:
    """Integer labels, float scores: what every package expects."""
    return (*noisy(), 20)


def nan() -> tuple[Any, Any, int]:
    """One score is NaN."""
    labels, scores = noisy()
    scores[77] = float("nan")
    return labels, scores, 20


def bool_labels() -> tuple[Any, Any, int]:
    """The plain question with labels of type bool."""
    labels, scores = noisy()
    return labels.astype(bool), scores, 20


def byte_labels() -> tuple[Any, Any, int]:
    """The plain question with labels of type uint8."""
    labels, scores = noisy()
    return labels.astype("uint8"), scores, 20


def column() -> tuple[Any, Any, int]:
    """Labels and scores of shape (n, 1)."""
    labels, scores = noisy()
    return labels[:, None], scores[:, None], 20


def lengths() -> tuple[Any, Any, int]:
    """Ten scores too many."""
    import numpy as np

    labels, scores = noisy()
    return labels, np.append(scores, scores[:10]), 20


def two() -> tuple[Any, Any, int]:
    """Labels 0 and 2."""
    labels, scores = noisy()
    return 2 * labels, scores, 20


QUESTIONS: dict[str, Callable[[], tuple[Any, Any, int]]] = {
    question.__name__: question
    for question in (perfect, plain, nan, bool_labels, byte_labels, column, lengths, two)
}


def vuskit_answer(thresholds: int | None = None) -> Callable[[Any, Any, int], float]:
    """VUS-PR of vuskit; by default every score is a threshold."""
    from vuskit import vus_pr

    return lambda labels, scores, buffer: vus_pr(
        labels, scores, max_buffer=buffer, thresholds=thresholds
    )


OURS = {"vuskit": vuskit_answer, "vuskit at 250": lambda: vuskit_answer(THRESHOLDS)}


def peer_answer(name: str) -> Callable[[Any, Any, int], float]:
    """VUS-PR of a peer in its own definition."""
    answers = PEERS[name][1]()
    known = next(d for d in ("journal", "timeeval", "pvldb2022") if f"vus_pr/{d}" in answers)
    ask = answers[f"vus_pr/{known}"]
    return lambda labels, scores, buffer: ask(
        labels, scores, None, {"max_buffer": buffer, "thresholds": THRESHOLDS}
    )


def answer_all(name: str) -> dict[str, str]:
    """Answers of one package, in this process."""
    compute = OURS[name]() if name in OURS else peer_answer(name)
    found = {}
    for question, make in QUESTIONS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[question] = f"{float(compute(*make())):.3f}"
            except Exception as error:  # whatever a package raises is its answer
                found[question] = f"{type(error).__name__}: {error}"[:WORDS].replace("\n", " ")
    return found


def in_environment(name: str, environments: Path) -> dict[str, str]:
    """Answers of one package, from the Python that has it."""
    python = sys.executable
    if name not in OURS:
        python = str(environments / PEERS[name][0] / "bin" / "python")
    command = [python, __file__, "--inside", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Ask everybody everything and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, help="folder of virtual environments")
    parser.add_argument("--only", help="packages, separated by commas; default: all")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(answer_all(options.inside)))
        return
    if options.environments is None:
        parser.error("--environments is needed")
    names = (*OURS, *(options.only.split(",") if options.only else ASKED))
    answers = {name: in_environment(name, options.environments) for name in names}
    for question, make in QUESTIONS.items():
        print(f"{question}: {(make.__doc__ or '').strip()}")
        for name in names:
            print(f"  {name:<12} {answers[name][question]}")


if __name__ == "__main__":
    main()
