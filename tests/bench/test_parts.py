"""A benchmark on files that hold several series."""

from __future__ import annotations

import json

from vuskit.bench import Run
from vuskit.datasets import describe

N = 60
SERIES = '[[series]]\nfolder = "kpis"'


def write_kpis(folder, *, shift=0):
    """Two KPIs, row by row; `shift` moves the anomaly of the second one."""
    rows = ["timestamp,value,label,KPI ID"]
    for place in range(N):
        rows.append(f"{place},{place * 7 % 11},{int(10 <= place < 14)},left")
        rows.append(f"{place},{place * 5 % 13},{int(30 <= place - shift < 34)},right")
    folder.mkdir(exist_ok=True)
    (folder / "kpis.csv").write_text("\n".join(rows))


def test_parts_run_as_series_and_only_changed_ones_run_again(workshop):
    write_kpis(workshop.base / "kpis")
    workshop.write(series=SERIES)
    workshop.run()
    run = Run(workshop.folder)
    assert [one.name for one in run.series()] == ["KPI-left", "KPI-right"]
    assert [json.loads(one.source)["options"] for one in run.series()] == [
        {"part": "left"},
        {"part": "right"},
    ]
    assert [one.read().n_points for one in run.series()] == [N, N]
    (row,) = describe(run.series()).rows
    assert (row.dataset, row.n_series, row.mean_anomalous_points) == ("IOPS", 2, 4)

    write_kpis(workshop.base / "kpis", shift=5)
    done = workshop.run()
    assert {job.series.name for job, _ in done} == {"KPI-right"}


def test_names_select_parts_and_options_split_long_tables(workshop):
    write_kpis(workshop.base / "kpis")
    workshop.write(series=SERIES + '\nnames = ["kpis.csv/left"]')
    workshop.run()
    assert [one.name for one in Run(workshop.folder).series()] == ["KPI-left"]
    options = '\nformat = "table"\noptions = {by = "KPI ID", dataset = "Mine"}'
    workshop.write(series=SERIES + options)
    workshop.run()
    names = [one.title for one in Run(workshop.folder).series()]
    assert names == ["Mine/left", "Mine/right"]
