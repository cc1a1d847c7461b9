"""Slopes, ratios, figures and page, from timings made up so that the answer is known."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from vuskit._util.optional import describe_environment
from vuskit.errors import InvalidInputError
from vuskit.report.page import write_study
from vuskit.studies.timing import Setting, TimingResult
from vuskit.studies.timing.cases import PARAMETERS, settings_of
from vuskit.studies.timing.contestants import CONTESTANTS
from vuskit.studies.timing.results import Sample
from vuskit.studies.timing.tables import (
    complexity_table,
    exponents,
    joint_slopes,
    parameter_table,
    single_slopes,
    speed_ratios,
)

# Milliseconds of each contestant: fixed, for each anomaly, and for each point of the series.
COSTS = {
    "naive": (50.0, 0.5, 0.02),
    "opt": (20.0, 0.25, 0.004),
    "opt_mem": (10.0, 0.125, 0.002),
    "fast_grid": (1.0, 0.0, 0.0001),
    "fast_exact": (1.0, 0.0, 0.0002),
}


def cost(name, setting):
    fixed, for_anomaly, for_point = COSTS[name]
    return fixed + for_anomaly * setting.n_anomalies + for_point * setting.n_points


def made_up(settings, series="synthetic-0", dropped=()):
    samples = [
        Sample(series, name, setting, factor * cost(name, setting) / 1000, 1000)
        for name in COSTS
        for setting in settings
        for factor in (0.9, 1.0, 1.2)  # the median is the cost
    ]
    return TimingResult(tuple(samples), tuple(dropped), describe_environment())


def slopes():
    rows = single_slopes(made_up(settings_of())).itertuples()
    return {(row.contestant, row.parameter): row for row in rows}


def test_slopes_of_one_parameter():
    found = slopes()
    assert found["naive", "n_anomalies"].slope == pytest.approx(0.5)
    assert found["naive", "n_anomalies"].r_squared == pytest.approx(1)
    assert found["opt", "n_points"].slope == pytest.approx(0.004)
    assert found["opt", "n_points"].to_naive == pytest.approx(0.2)
    assert found["opt", "max_buffer"].slope == pytest.approx(0, abs=1e-12)


def test_no_ratio_to_a_naive_that_does_not_grow():
    assert np.isnan(slopes()["opt", "max_buffer"].to_naive)
    assert np.isnan(slopes()["naive", "std_length"].to_naive)


def test_the_papers_numbers_stand_beside():
    row = slopes()["opt", "max_buffer"]
    assert (row.paper_slope, row.paper_r_squared) == (27.8, 0.99)
    assert row.paper_to_naive == pytest.approx(27.8 / 212)
    assert np.isnan(slopes()["naive", "std_length"].paper_slope)
    assert np.isnan(slopes()["fast_grid", "n_points"].paper_slope)


def test_two_points_make_no_line():
    settings = [Setting(), Setting(n_anomalies=20)]
    frame = single_slopes(made_up(settings))
    assert frame.empty
    assert list(frame.columns)[:2] == ["contestant", "parameter"]


def real_settings():
    triples = itertools.product((1, 10, 30), (5, 50, 60), (1000, 5000, 20_000))
    return [Setting(a, length, 0, n) for a, length, n in triples]


def test_slopes_of_all_properties_together():
    frame = joint_slopes(made_up(real_settings(), "ECG/1"))
    rows = {row.contestant: row for row in frame.itertuples()}
    assert rows["opt"].n_anomalies == pytest.approx(0.25)
    assert rows["opt"].n_points == pytest.approx(0.004)
    assert rows["opt"].mean_length == pytest.approx(0, abs=1e-9)
    assert rows["opt"].r_squared == pytest.approx(1)
    assert (rows["opt"].paper_n_points, rows["opt"].paper_r_squared) == (1.70, 0.96)
    assert np.isnan(rows["fast_grid"].paper_n_points)


def test_ratios_over_all_cells():
    settings = [Setting(n_points=n) for n in (1000, 10_000, 100_000)]
    rows = {(row.slow, row.fast): row for row in speed_ratios(made_up(settings)).itertuples()}
    assert set(rows) == set(
        itertools.product(("naive", "opt", "opt_mem"), ("fast_grid", "fast_exact"))
    )
    expected = [cost("naive", s) / cost("fast_grid", s) for s in settings]
    row = rows["naive", "fast_grid"]
    assert row.cells == 3
    assert (row.smallest, row.median, row.largest) == pytest.approx(sorted(expected))


def test_cells_that_only_one_side_has_do_not_count():
    both, one = Setting(), Setting(n_anomalies=0)
    result = made_up([both, one])
    kept = tuple(s for s in result.samples if s.contestant != "fast_grid" or s.setting == both)
    frame = speed_ratios(TimingResult(kept, (), result.environment))
    assert frame.set_index(["slow", "fast"])["cells"]["naive", "fast_grid"] == 1


def test_six_panels_hold_the_sweeps():
    figure = made_up(settings_of(quick=True)).figures()["seconds"].plot().figure_
    assert [axis.get_yscale() for axis in figure.axes] == ["log"] * 6
    assert [axis.get_xscale() for axis in figure.axes] == [p.scale for p in PARAMETERS.values()]
    for axis, parameter in zip(figure.axes, PARAMETERS.values(), strict=True):
        assert parameter.title in axis.get_xlabel().replace("\n", " ")
        assert len(axis.lines) == len(COSTS)
        assert len(axis.collections) == len(COSTS)  # envelopes
        assert tuple(axis.lines[0].get_xdata()) == parameter.quick_values
    medians = figure.axes[0].lines[0].get_ydata()
    expected = [cost("naive", Setting(n_anomalies=a)) / 1000 for a in (0, 10, 500, 2000)]
    assert medians == pytest.approx(expected)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        CONTESTANTS[name].title for name in COSTS
    ]


def test_three_panels_hold_the_series():
    figure = made_up(real_settings(), "ECG/1").figures()["seconds"].plot().figure_
    labels = [axis.get_xlabel().replace("\n", " ") for axis in figure.axes]
    assert ["number of anomalies" in labels[0], "mean anomaly" in labels[1]] == [True, True]
    assert "length of the series" in labels[2]
    dots = figure.axes[2].collections[0].get_offsets()
    assert len(dots) == len(real_settings())


def test_unknown_quantity_is_named():
    with pytest.raises(
        InvalidInputError, match="`quantity` must be one of 'seconds', 'mean_seconds'"
    ):
        replace(made_up([Setting()]).figures()["seconds"], quantity="volts")


@pytest.mark.parametrize(("table_format", "figure_format"), [("csv", "png"), ("parquet", "svg")])
def test_report_of_generated_series(tmp_path, table_format, figure_format):
    result = made_up(settings_of(quick=True), dropped=["VUS, maximum buffer length 1000"])
    files = write_study(result, tmp_path, table_format=table_format, figure_format=figure_format)
    names = {path.name for path in files}
    assert names >= {f"timing_{name}.{figure_format}" for name in ("seconds", "memory")}
    assert files[0] == tmp_path / "timing.md"
    assert all(path.stat().st_size > 0 for path in files)
    text = files[0].read_text()
    assert "VUS, maximum buffer length 1000" in text
    assert describe_environment()["cpu"] in text
    assert "| opt | n_anomalies | 0.25 | 1 | 0.5 | 24.2 | 0.99 | 1.11 |" in text
    reader = {"csv": pd.read_csv, "parquet": pd.read_parquet}[table_format]
    assert len(reader(tmp_path / f"timing_samples.{table_format}")) == len(result.samples)
    assert set(reader(tmp_path / f"timing_ratios.{table_format}")["slow"]) == {
        "naive",
        "opt",
        "opt_mem",
    }


def test_report_of_real_series_has_no_sweeps(tmp_path):
    files = write_study(made_up(real_settings(), "ECG/1"), tmp_path)
    text = files[0].read_text()
    assert "### Slopes" not in text
    assert "| paper_n_anomalies | " in text
    assert not (tmp_path / "timing_slopes.csv").exists()
    assert (tmp_path / "timing_joint_slopes.csv").exists()


def test_report_refuses_what_it_cannot_write(tmp_path):
    with pytest.raises(InvalidInputError, match="`table_format` must be one of 'csv', 'parquet'"):
        write_study(made_up([Setting()]), tmp_path, table_format="xls")
    with pytest.raises(InvalidInputError, match="`figure_format` must be one of 'png', 'pdf'"):
        write_study(made_up([Setting()]), tmp_path, figure_format="gif")
    with pytest.raises(InvalidInputError, match="at least one sample"):
        write_study(TimingResult((), (), {}), tmp_path)
    assert list(tmp_path.iterdir()) == []


def powers(settings):
    """Timings that are powers of the parameters, and memory that grows with the points only."""
    samples = [
        Sample(
            "synthetic-0",
            name,
            setting,
            1e-6 * setting.n_points**order * setting.n_thresholds,
            8 * setting.n_points,
        )
        for name, order in (("naive", 1.0), ("fast_exact", 0.5))
        for setting in settings
    ]
    return TimingResult(tuple(samples), (), describe_environment())


def test_exponents_of_powers_are_found():
    result = powers(settings_of())
    rows = {
        (row.contestant, row.quantity, row.parameter): row for row in exponents(result).itertuples()
    }
    assert rows["naive", "time", "n_points"].exponent == pytest.approx(1.0)
    assert rows["naive", "time", "n_points"].r_squared == pytest.approx(1.0)
    assert rows["fast_exact", "time", "n_points"].exponent == pytest.approx(0.5)
    assert rows["naive", "time", "n_thresholds"].exponent == pytest.approx(1.0)
    assert rows["naive", "time", "n_anomalies"].exponent == pytest.approx(0.0, abs=1e-12)
    assert rows["naive", "space", "n_points"].exponent == pytest.approx(1.0)
    assert rows["naive", "space", "n_thresholds"].exponent == pytest.approx(0.0, abs=1e-12)
    # 0 has no logarithm.
    anomalies = PARAMETERS["n_anomalies"].values
    assert rows["naive", "time", "n_anomalies"].values == len(anomalies) - 1


def test_complexity_lies_beside_the_exponents():
    table = powers(settings_of()).tables()["complexity"]
    rows = ["VUS, time", "VUS, space", "VUS fast (exact), time", "VUS fast (exact), space"]
    assert table["algorithm"].tolist() == rows
    naive = table.set_index("algorithm").loc["VUS, time"]
    assert naive["complexity"] == CONTESTANTS["naive"].time
    assert naive["T"] == "1.00 (1.00)"
    few = powers(settings_of()[:2])
    assert (complexity_table(few)[["T", "a", "l", "L", "N"]] == "").all(axis=None)


def test_parameters_lie_beside_the_paper():
    table = made_up(settings_of()).tables()["parameters"].set_index("parameter")
    points = table.loc["length of the series"]
    assert points[["default", "lowest", "highest"]].tolist() == [100_000, 1000, 100_000]
    assert table.loc["number of thresholds", "paper_lowest"] == 2
    real = made_up([Setting(n_points=n) for n in (500, 700, 2000)], series="plant/a")
    row = parameter_table(real).set_index("parameter").loc["length of the series"]
    assert row[["median", "lowest", "highest"]].tolist() == [700, 500, 2000]


def test_mean_and_standard_deviation_as_in_the_paper():
    result = made_up(settings_of())
    summary = result.summary()
    cell = summary.iloc[0]
    seconds = cell["median"] * np.array([0.9, 1.0, 1.2])
    assert cell["mean"] == pytest.approx(seconds.mean())
    assert cell["standard_deviation"] == pytest.approx(seconds.std())
    display = replace(result, average="mean").figures()["seconds"]
    curve = display.to_dict()["panels"][2]["curves"][0]
    assert curve["upper"][0] / curve["middle"][0] == pytest.approx(
        1 + seconds.std() / seconds.mean()
    )
    assert display.caption.startswith("Mean of 3 runs. Shade: one standard deviation")
    assert result.figures()["seconds"].caption.startswith("Median of 3 runs. Shade: from the lower")
    with pytest.raises(InvalidInputError, match="`average` must be"):
        replace(result, average="mode").figures()
