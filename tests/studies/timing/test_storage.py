"""Timings on disk."""

from __future__ import annotations

import json

import pytest

from vuskit._util.environment import describe_environment
from vuskit.errors import InvalidInputError
from vuskit.studies.timing import Sample, Setting, TimingStore

ONE = Sample("a/b,c.csv", "opt", Setting(mean_length=12.5), 0.1 + 0.2, 12345)
TWO = Sample("d", "naive", Setting(n_anomalies=3), 1e-7, 1, "cpu")


def test_what_is_added_is_read_back_exactly(tmp_path):
    TimingStore(tmp_path).add([ONE])
    TimingStore(tmp_path).add([TWO, ONE])
    assert TimingStore(tmp_path).read() == [ONE, TWO, ONE]


def test_empty_folder_holds_nothing(tmp_path):
    store = TimingStore(tmp_path / "deep" / "er")
    store.add([])
    assert store.read() == []


def test_line_torn_by_a_crash_is_cut(tmp_path):
    store = TimingStore(tmp_path)
    store.add([ONE, TWO])
    whole = store.path.read_text()
    store.path.write_text(whole[:-5])
    store = TimingStore(tmp_path)
    assert store.read() == [ONE]
    store.add([TWO])
    assert store.path.read_text() == whole


def test_environment_is_kept_beside(tmp_path):
    TimingStore(tmp_path)
    kept = json.loads((tmp_path / "environment.json").read_text())
    assert kept == describe_environment()
    assert kept["vuskit"]
    assert kept["libraries"]["numpy"]
    assert kept["cpus"] >= 1


def test_timings_of_another_machine_are_not_mixed_in(tmp_path):
    TimingStore(tmp_path)
    path = tmp_path / "environment.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "cpu": "Z80"}))
    with pytest.raises(InvalidInputError, match=r"timings of this machine .* got cpu Z80"):
        TimingStore(tmp_path)


def test_store_of_an_earlier_version_is_read(tmp_path):
    TimingStore(tmp_path)
    (tmp_path / "samples.csv").write_text(
        "series,contestant,n_anomalies,mean_length,std_length,n_points,max_buffer,n_thresholds,"
        "clock,seconds,peak_bytes\n"
        '"a/b,c.csv",opt,10,12.5,0,100000,5,250,wall,0.30000000000000004,12345\n'
    )
    assert TimingStore(tmp_path).read() == [ONE]
