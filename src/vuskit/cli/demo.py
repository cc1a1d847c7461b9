"""``vuskit demo``: the measures on a built-in series."""

from __future__ import annotations

import numpy as np
import typer

from vuskit import choose_buffer, evaluate_many, events
from vuskit.datasets.synthetic import three_scores
from vuskit.measures.results import text_table

__all__ = ["demo"]


def demo(seed: int = typer.Option(0, min=0, help="Seed of the built-in series.")) -> None:
    """Evaluate a built-in series with three scores on all thirteen measures.

    Example: vuskit demo --seed 1
    """
    scored = three_scores(seed)
    series = scored.series
    buffer = choose_buffer("median_anomaly", y_true=series.labels)
    typer.echo(
        f"{series.n_points:,} points, {series.n_anomalies} anomalies (premature heart beats). "
        f"Three scores:\n"
        "  good   rises over each anomaly\n"
        "  late   the same, two thirds of an anomaly too late\n"
        "  noisy  rises in the right places, under noise\n"
    )
    table = evaluate_many(series.labels, scored.scores, buffer=buffer.length)
    titles = {measure.name: measure.title for measure in table.measures}
    rows = [
        [
            title,
            *(f"{table[name][measure]:.3f}" for name in table),
            f"{table.chance.mean[measure]:.3f}",
        ]
        for measure, title in titles.items()
    ]
    typer.echo(text_table(["measure", *table, "chance"], rows))
    typer.echo(f"({table.settings}; buffer: {buffer.reason})\n")
    delay = {
        name: np.nanmedian(events(series.labels, scored.scores[name]).delay)
        for name in ("good", "late")
    }
    typer.echo(
        f"At its threshold the good score fires {delay['good']:.0f} points into an anomaly, "
        f"the late one {delay['late']:.0f}\n"
        "points (medians). Point-wise measures punish that hard, range-aware ones less.\n\n"
        "Try next:\n"
        '  python -c "import vuskit; help(vuskit.evaluate)"\n'
        "  vuskit study timing --quick\n"
        "  make bench ARGS=--quick"
    )
