"""SensorScope (EPFL): readings of a weather station, and labels in a separate file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.columns import Columns
from vuskit.datasets.readers.registry import Candidate, register_format, stem
from vuskit.datasets.row_times import Times, summarized
from vuskit.datasets.series import Series
from vuskit.datasets.tables import open_table, read_csv
from vuskit.datasets.tickets import WRONG, place_tickets
from vuskit.errors import InvalidInputError

__all__ = ["read_sensorscope"]

_NAME = re.compile(r".+-meteo-\d+", re.IGNORECASE)
_TIME = ("station", "year", "month", "day", "hour", "minute", "second", "epoch")
_READINGS = (
    "ambient_temperature",
    "surface_temperature",
    "solar_radiation",
    "relative_humidity",
    "soil_moisture",
    "watermark",
    "rain_meter",
    "wind_speed",
    "wind_direction",
)
# Some deployments have a sequence number between the time and the readings.
_LAYOUTS = {
    len(columns): columns for columns in ((*_TIME, *_READINGS), (*_TIME, "sequence", *_READINGS))
}
_NO_VALUES = "no values"


def _matches(file: Candidate) -> bool:
    return (
        file.suffix == ".txt"
        and _NAME.fullmatch(stem(file.path)) is not None
        and len(file.columns) in _LAYOUTS
    )


def _companions(path: Path, options: Mapping[str, Any]) -> list[Path | None]:
    return [_labels_file(path, options.get("labels"))]


@register_format(
    name="sensorscope",
    title="SensorScope (EPFL)",
    layout="<deployment>-meteo-<station>.txt: station, year to second, epoch, optional sequence "
    "number, nine readings; anomalies in <deployment>-meteo-<station>.labels.csv: start,end",
    matches=_matches,
    possible=lambda file: file.suffix == ".txt",
    companions=_companions,
)
def read_sensorscope(
    path: Path,
    *,
    dataset: str | None = None,
    labels: str | Path | None = None,
    values: str | None = None,
) -> Series:
    """Read the measurements of one station, in file order.

    The original files have no labels. Measurements without any value are ignored.

    Parameters
    ----------
    path : Path
        The file.
    dataset : str, optional
        Name of the data set. Defaults to ``SensorScope``.
    labels : path, optional
        Csv file of anomalies with the columns ``start,end``: times, or positions from 0. The end is
        inclusive. Defaults to the file with the same name that ends in ``.labels.csv``.
    values : str, optional
        One of the measurements, such as ``ambient_temperature``. Defaults to all that have values.
    """
    source = _labels_file(path, labels)
    if not source.is_file():
        raise InvalidInputError(
            f"{path}: the anomalies must be in {source.name} in the same folder, got no such "
            "file; write a csv file start,end there, or name another file with labels="
        )
    columns = _LAYOUTS.get(len(Candidate(path).columns))
    if columns is None:
        raise InvalidInputError(
            f"{path}: there must be {' or '.join(map(str, _LAYOUTS))} columns, got "
            f"{len(Candidate(path).columns)}; use the original file of a station"
        )
    table = read_csv(path, columns=columns)
    if values is not None and values not in _READINGS:
        raise InvalidInputError(
            f"{path}: `values` must be one of {', '.join(_READINGS)}, got {values!r}"
        )
    found = {name: table.numbers(name) for name in (_READINGS if values is None else (values,))}
    taken = [name for name, numbers in found.items() if not np.isnan(numbers).all()]
    if not taken:
        raise InvalidInputError(
            f"{path}: there must be a measurement with values, got only missing values"
        )
    matrix = np.column_stack([found[name] for name in taken])
    times = table.numbers("epoch").astype("datetime64[s]").astype("datetime64[us]")
    return Series(
        stem(path),
        dataset or "SensorScope",
        matrix[:, 0] if len(taken) == 1 else matrix,
        _labels_of(source, times, path),
        channels=tuple(taken),
        left_out=tuple(f"{name} ({_NO_VALUES})" for name in found if name not in taken),
    )


def _labels_of(source: Path, times: NDArray[np.datetime64], points: Path) -> NDArray[np.bool_]:
    """Return labels from published intervals, all of which must be within the series."""
    known = Times("epoch", times)
    placed = place_tickets(
        open_table(source), Columns(), n_points=times.size, times=known, points=points
    )
    wrong = [one for one in placed.decisions if one.kind in WRONG]
    if wrong:
        raise InvalidInputError(
            f"{source}: intervals must be within the series of {points}, got "
            f"{'; '.join(summarized(wrong))}; use the labels of this station"
        )
    return placed.labels


def _labels_file(path: Path, given: str | Path | None) -> Path:
    return Path(given) if given is not None else path.with_name(f"{stem(path)}.labels.csv")
