from __future__ import annotations

import pytest

from vuskit.bench import RunSeries
from vuskit.errors import InvalidInputError
from vuskit.report.page.series_filters import filter_data, select_series, series_class


def series(dataset="d", *, points=100, anomalies=1, anomalous=1):
    ends = [2 * place + 1 for place in range(anomalies)]
    events = [(end - 1, end) for end in ends[:-1]]
    if ends:  # the last anomaly is as long as needed
        events.append((ends[-1] - 1, ends[-1] + anomalous - anomalies))
    return RunSeries(dataset, "s", "", "{}", points, 1, (), tuple(events))


@pytest.mark.parametrize(
    ("anomalies", "anomalous", "kind", "number"),
    [
        (1, 1, "point", "one"),
        (3, 3, "point", "several"),
        (1, 9, "sequence", "one"),
        (3, 4, "sequence", "several"),
        (0, 0, "none", "none"),
    ],
)
def test_kinds_of_anomalies(anomalies, anomalous, kind, number):
    one = series(anomalies=anomalies, anomalous=anomalous)
    assert (series_class(one, "kind"), series_class(one, "number")) == (kind, number)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (1, "0-999"),
        (999, "0-999"),
        (1000, "1000-9999"),
        (99_999, "10000-99999"),
        (999_999, "100000-999999"),
        (1_000_000, "1000000-"),
        (10**9, "1000000-"),
    ],
)
def test_lengths(points, expected):
    assert series_class(series(points=points), "length") == expected


def test_all_filters_must_pass():
    listed = [
        series("a", points=10),
        series("a", points=5000, anomalies=2, anomalous=8),
        series("b", points=5000, anomalous=8),
    ]
    assert select_series(listed, {}).tolist() == [0, 1, 2]
    assert select_series(listed, {"dataset": "a", "kind": ""}).tolist() == [0, 1]
    assert select_series(listed, {"kind": "sequence", "number": "one"}).tolist() == [2]
    assert select_series(listed, {"kind": "nothing"}).tolist() == []
    with pytest.raises(InvalidInputError, match=r"must be among .*, got 'color'"):
        select_series(listed, {"color": "red"})
    found = filter_data(listed)
    assert filter_data(listed[:1])["length"]["series"] == ""
    assert [key for key, _ in found["length"]["classes"]] == ["0-999", "1000-9999"]
    assert found["length"]["series"] == "011"
