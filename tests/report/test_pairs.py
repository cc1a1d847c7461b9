"""The multi-comparison matrix as a table, against the numbers of the comparison."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from vuskit.report.pairs import PairTable
from vuskit.statistics.comparison import compare_columns


def compared(detectors, n=20):
    rng = np.random.default_rng(0)
    columns = {f"D{k}": rng.normal(0.5 - 0.1 * k, 0.05, n) for k in range(detectors)}
    return compare_columns(pd.DataFrame(columns), title="VUS-PR", n_resamples=20)


def test_the_matrix_is_shown_if_it_fits():
    found = compared(3)
    lines = PairTable(found).to_text(80).splitlines()
    pairs = found.pairs_frame().set_index(["first", "second"])
    row = next(number for number, line in enumerate(lines) if line.startswith("D0 "))
    first = pairs.loc[("D0", "D1")]
    assert float(lines[row].split()[1].rstrip("*")) == pytest.approx(first["difference"], abs=6e-4)
    assert lines[row + 1].split()[0] == f"{first['wins']}/{first['ties']}/{first['losses']}"
    assert lines[row].split()[1].endswith("*")
    assert lines[-1] == "*: significant at alpha = 0.05."


@pytest.mark.parametrize("detectors", [3, 7, 8, 12])
@pytest.mark.parametrize("bayesian", [False, True])
def test_nothing_is_wider_than_the_terminal(detectors, bayesian):
    found = compared(detectors)
    table = PairTable(found, found.bayesian(n_samples=50) if bayesian else None)
    text = table.to_text(80)
    assert max(map(len, text.splitlines())) <= 80
    assert ("D0 against" in text) == (detectors > 7 or bayesian)
    for name in found.summary.index:
        assert name in text


def test_bayesian_probabilities_of_the_leader():
    found = compared(3)
    test = found.bayesian(rope=0.02, n_samples=200)
    text = PairTable(found, test).leader_layout().to_text()
    row = test.to_frame().iloc[0]
    line = next(line for line in text.splitlines() if line.startswith("D1 "))
    assert [float(part) for part in line.split()[-1].split("/")] == pytest.approx(
        [row["p_first"], row["p_equal"], row["p_second"]], abs=6e-4
    )
    assert "region of practical equivalence ±0.02" in text


def test_latex_has_all_pairs():
    latex = PairTable(compared(12)).to_latex()
    for name in range(12):
        assert latex.count(f"\nD{name} & ") >= 1
    assert r"\textbf{" in latex
