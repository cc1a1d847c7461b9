"""Put the studies in both settings next to the published values, for the documentation.

    vuskit study all SCORES --output out/default
    vuskit study robustness SCORES --as-published --output out/published
    vuskit study consistency SCORES --as-published --output out/published
    vuskit study separability SCORES --series 'ECG/MBA*' --as-published --output out/published
    python benchmarks/reproducing.py SCORES out/default out/published --published FOLDER

SCORES is a folder of saved scores, FOLDER one of published tables. ``--docs PAGE`` rewrites the
blocks of the page, ``--block NAME`` only some of them. The block ``definitions`` computes
consistency again for each definition and kind of thresholds; finished series are kept.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from docs_block import replace_block

from vuskit.measures.registry import list_measures
from vuskit.report.tables import markdown_table
from vuskit.studies import (
    compare_with_published,
    consistency_study,
    load_study_result,
    open_scores,
)
from vuskit.studies.published import PublishedComparison

STUDIES = ("robustness", "separability", "consistency")
DATASETS = (
    "ECG", "IOPS", "KDD21", "MGAB", "NAB", "NASA-MSL", "NASA-SMAP", "SensorScope", "YAHOO",
)  # fmt: skip
"""Data sets of the published mean ranks."""

RANGE_AWARE = ("range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr")
TITLES = {one.name: one.title for one in list_measures()}


def results_in(folder: Path) -> dict[str, Any]:
    return {name: load_study_result(folder / f"{name}_result.npz") for name in STUDIES}


def number(value: float) -> str:
    return f"{value:.3g}"


def both(
    default: PublishedComparison, published: PublishedComparison, quantity: str
) -> pd.DataFrame:
    """Means of a quantity in both settings next to the published ones."""
    first, second = (
        one.means()[lambda frame: frame["quantity"] == quantity] for one in (default, published)
    )
    names = second["name"].map(TITLES).fillna(second["name"])
    table = pd.DataFrame({"detector" if quantity == "rank" else "measure": names})
    table["published"] = second["published"]
    table["as published"] = second["here"]
    table["factor"] = second["factor"]
    table["default"] = first.set_index("name")["here"].reindex(second["name"]).to_numpy()
    return table.map(lambda one: number(one) if isinstance(one, float) else one)


def agreements(several: dict[str, PublishedComparison]) -> pd.DataFrame:
    rows = [
        {
            "quantity": row.quantity,
            "over": row.over,
            "items": row.items,
            "settings": setting,
            "Spearman": number(row.spearman),
            "Pearson": number(row.pearson),
            "median factor": number(row.factor),
        }
        for setting, comparison in several.items()
        for row in comparison.agreement.itertuples()
    ]
    frame = pd.DataFrame(rows)
    order = list(dict.fromkeys(zip(frame["quantity"], frame["over"], strict=True)))
    place = [
        (order.index((one.quantity, one.over)), list(several).index(one.settings))
        for one in frame.itertuples()
    ]
    return frame.iloc[sorted(range(len(frame)), key=place.__getitem__)]


def all_series(default: Any, published: Any) -> pd.DataFrame:
    """Mean deviations over all series, in both settings."""
    first, second = default.averages(over="series"), published.averages(over="series")
    table = pd.DataFrame({"measure": [TITLES[name] for name in first.index]})
    for kind in first.columns:
        table[f"{kind}, as published"] = [number(one) for one in second[kind]]
        table[f"{kind}, default"] = [number(one) for one in first[kind]]
    return table


def definitions(scores: Path, folder: Path, kept: Path, processes: int) -> Iterator[dict[str, str]]:
    """Agreement of detectors' mean ranks by definition and thresholds, on published data sets."""
    present = [f"{name}/*" for name in DATASETS if (scores / name).is_dir()]
    sources = open_scores(scores, pattern=present)
    for definition in ("pvldb2022", "journal"):
        for thresholds in (250, None):
            found = consistency_study(
                sources,
                as_published=True,
                definition=definition,
                thresholds=thresholds,
                processes=processes,
                folder=kept,
            )
            cells = compare_with_published(found, folder).cells
            cells = cells[cells["quantity"] == "rank"]
            aware = cells[cells["measure"].isin(RANGE_AWARE)]
            vus = cells[cells["measure"] == "vus_roc"].set_index("item")["here"]
            yield {
                "definition": definition,
                "thresholds": "all" if thresholds is None else str(thresholds),
                "Pearson, range-aware": number(aware["here"].corr(aware["published"])),
                "Pearson, all": number(cells["here"].corr(cells["published"])),
                "detectors by VUS-ROC, best first": ", ".join(vus.sort_values().index),
            }


def order(values: pd.Series, *, ascending: bool) -> list[str]:
    return list(values.sort_values(ascending=ascending).index)


def conclusions(results: dict[str, Any]) -> list[str]:
    """What the paper concludes, checked by numbers; one answer for each conclusion."""
    means = results["robustness"].averages(over="series")
    z = results["separability"].averages()["mean"]
    entropy = results["consistency"].by_family()
    ranks = pd.concat(
        [means.rank(), z.rank(ascending=False), results["consistency"].score().rank()], axis=1
    )
    answers = []
    for kind in ("lag", "noise"):
        first = order(means[kind], ascending=True)[:4]
        others = [TITLES[name] for name in first if name not in RANGE_AWARE]
        answers.append("yes" if not others else f"no: {', '.join(others)} among the first four")
    first = [TITLES[name] for name in order(means["ratio"], ascending=True)]
    place = {title: str(at) for at, title in enumerate(first, 1)}
    roc, pr = (
        ", ".join(place[one] for one in titles)
        for titles in (("AUC-ROC", "R-AUC-ROC", "VUS-ROC"), ("AUC-PR", "R-AUC-PR", "VUS-PR"))
    )
    is_so = max(map(int, roc.split(", "))) <= 3 < min(map(int, pr.split(", ")))
    answers.append(f"{'yes' if is_so else 'no'}: places {roc} against {pr}")
    best = max(RANGE_AWARE, key=lambda name: z[name])
    answers.append(f"{TITLES[best]}: {z[best] / z['auc_roc']:.2f} times AUC-ROC")
    listed = ", ".join(f"{name} {value:.2f}" for name, value in entropy.items())
    falls = entropy["threshold"] > entropy["auc"] > entropy["vus"]
    answers.append(f"{'yes' if falls else 'no'}: {listed}")
    mean = ranks.mean(axis=1).sort_values()[:2]
    answers.append(", then ".join(f"{TITLES[name]} ({rank:.1f})" for name, rank in mean.items()))
    return answers


CONCLUSIONS = (
    "the four range-aware measures are the most robust to lag",
    "they are the most robust to noise",
    "ROC measures are robust to the ratio, PR measures are not",
    "range-aware measures separate up to twice as well as AUC-ROC (mean z)",
    "entropy falls from threshold-based measures over AUC to VUS",
    "VUS-ROC is the best measure overall (mean rank)",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scores", type=Path)
    parser.add_argument("default", type=Path, help="results with default settings")
    parser.add_argument("as_published", type=Path, help="results with --as-published")
    parser.add_argument("--published", type=Path, required=True, help="folder of published tables")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--docs", type=Path, help="page whose blocks are rewritten")
    parser.add_argument("--block", action="append", help="only this block; may be repeated")
    arguments = parser.parse_args()
    default, published = results_in(arguments.default), results_in(arguments.as_published)
    first, second = (
        compare_with_published(one.values(), arguments.published) for one in (default, published)
    )
    blocks = {
        "agreement": lambda: agreements({"as published": second, "default": first}),
        "series": lambda: all_series(default["robustness"], published["robustness"]),
        "conclusions": lambda: pd.DataFrame(
            {
                "conclusion of the paper": CONCLUSIONS,
                "as published": conclusions(published),
                "default": conclusions(default),
            }
        ),
        **{name: partial(both, first, second, name) for name in second.quantities},
        "definitions": lambda: pd.DataFrame(
            definitions(
                arguments.scores,
                arguments.published,
                arguments.as_published / "series",
                arguments.processes,
            )
        ),
    }
    for mark in arguments.block or blocks:
        text = markdown_table(blocks[mark]())
        print(f"{mark}\n\n{text}\n", flush=True)
        if arguments.docs is not None:
            replace_block(arguments.docs, mark, text)


if __name__ == "__main__":
    main()
