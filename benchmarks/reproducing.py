"""Put the results of `vuskit paper --findings` next to the published values, for the docs.

    vuskit paper SCORES --findings --output findings
    python benchmarks/reproducing.py SCORES findings --published FOLDER

SCORES is a folder of saved scores, FOLDER one of published tables. ``--docs PAGE`` rewrites the
blocks of the page, ``--block NAME`` only some of them. The block ``details`` is on the page
``findings.md`` in the same folder. The block ``definitions`` computes consistency again for each
definition and kind of thresholds; finished series are kept.
"""

from __future__ import annotations

import argparse
import os
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from docs_block import replace_block

from vuskit.measures.registry import list_measures
from vuskit.paper.findings import Verdict
from vuskit.paper.reproduce import READINGS, folder_of
from vuskit.report.tables import markdown_table
from vuskit.studies import compare_with_published, load_study_result, open_scores, run_study
from vuskit.studies.published import PublishedComparison

STUDIES = ("robustness", "separability", "consistency")
DATASETS = (
    "ECG", "IOPS", "KDD21", "MGAB", "NAB", "NASA-MSL", "NASA-SMAP", "SensorScope", "YAHOO",
)  # fmt: skip
"""Data sets of the published mean ranks."""

RANGE_AWARE = ("range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr")
TITLES = {one.name: one.title for one in list_measures()}


def results_in(folder: Path, reading: str) -> dict[str, Any]:
    studies = folder / "work" / "studies" / folder_of(reading)
    return {name: load_study_result(studies / f"{name}_result.npz") for name in STUDIES}


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
    sources = open_scores(scores, select=present)
    for definition in ("pvldb2022", "journal"):
        for thresholds in (250, None):
            found = run_study(
                "consistency",
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


def judged(found: pd.DataFrame, reading: str) -> pd.Series:
    """Verdicts under a reading; the number of parts that hold if only some do."""
    verdict, holding = found[f"verdict, {reading}"], found[f"holding, {reading}"]
    return verdict.mask(verdict == str(Verdict.IN_PART), "in part: " + holding)


def findings(found: pd.DataFrame) -> str:
    """Statements of the paper, their criteria, and the verdicts of all readings."""
    columns = {"": [f"[{one}](findings.md#{one})" for one in found["number"]]}
    columns |= {"the paper states": found["paper"], "agrees if": found["criterion"]}
    columns |= {reading: judged(found, reading) for reading in READINGS}
    return markdown_table(pd.DataFrame(columns)).replace("---:", "---")


def details(found: pd.DataFrame) -> str:
    """Place and criterion of each statement; numbers and exceptions under each reading."""
    return "\n\n".join(_details_of(row) for _, row in found.iterrows())


def _details_of(row: pd.Series) -> str:
    lines = [
        f"## {row['number']}. {row['place']} {{#{row['number']}}}",
        "",
        *_wrapped(f"*{row['paper']}*"),
        "",
        *_wrapped(f"Agrees if: {row['criterion']}."),
        "",
    ]
    texts: dict[str, list[str]] = {}
    for reading in READINGS:
        verdict, holding = row[f"verdict, {reading}"], row[f"holding, {reading}"]
        said = f"{verdict} ({holding})" if holding else verdict
        exceptions = row[f"exceptions, {reading}"]
        text = f"{said}. {_sentence(row[f'measured, {reading}'])}"
        texts.setdefault(text + (f" {_sentence(exceptions)}" if exceptions else ""), []).append(
            reading
        )
    for text, readings in texts.items():
        name = "all readings" if len(readings) == len(READINGS) else "; ".join(readings)
        lines += _wrapped(f"- **{name}**: {text}", "  ")
    return "\n".join(lines)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, 100, subsequent_indent=indent, break_on_hyphens=False)


def verdicts(found: pd.DataFrame) -> pd.DataFrame:
    """Number of findings by verdict and reading, and the series behind the means."""
    rows = []
    for reading in READINGS:
        counts = found[f"verdict, {reading}"].value_counts()
        row = {str(one): int(counts.get(str(one), 0)) for one in Verdict}
        rows.append({"reading": reading, "series": found[f"n_series, {reading}"].max(), **row})
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scores", type=Path)
    parser.add_argument("findings", type=Path, help="folder of `vuskit paper --findings`")
    parser.add_argument("--published", type=Path, required=True, help="folder of published tables")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--docs", type=Path, help="page whose blocks are rewritten")
    parser.add_argument("--block", action="append", help="only this block; may be repeated")
    arguments = parser.parse_args()
    default, published = (
        results_in(arguments.findings, reading) for reading in ("text", "as published")
    )
    first, second = (
        compare_with_published(one.values(), arguments.published) for one in (default, published)
    )
    found = pd.read_csv(arguments.findings / "findings.csv", keep_default_na=False)
    blocks = {
        "agreement": lambda: agreements({"as published": second, "default": first}),
        "series": lambda: all_series(default["robustness"], published["robustness"]),
        "verdicts": lambda: verdicts(found),
        "findings": lambda: findings(found),
        "details": lambda: details(found),
        **{name: partial(both, first, second, name) for name in second.quantities},
        "definitions": lambda: pd.DataFrame(
            definitions(
                arguments.scores,
                arguments.published,
                arguments.findings / "work" / "results",
                arguments.processes,
            )
        ),
    }
    for mark in arguments.block or blocks:
        made = blocks[mark]()
        text = made if isinstance(made, str) else markdown_table(made)
        print(f"{mark}\n\n{text}\n", flush=True)
        if arguments.docs is not None:
            page = arguments.docs.with_name("findings.md") if mark == "details" else arguments.docs
            replace_block(page, mark, text)


if __name__ == "__main__":
    main()
