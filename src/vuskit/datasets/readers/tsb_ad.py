"""TSB-AD: columns of channels and Label; data set and train length in the file name."""

from __future__ import annotations

import re
from pathlib import Path

from vuskit.datasets.readers.generic import series_from_table
from vuskit.datasets.readers.registry import Candidate, parent_name, register_format, stem
from vuskit.datasets.series import Series
from vuskit.datasets.tables import read_csv

__all__ = ["read_tsb_ad"]

_NAME = re.compile(r"\d+_(?P<dataset>.+?)_id_\d+_.*_tr_(?P<train>\d+)_1st_\d+$")


def _matches(file: Candidate) -> bool:
    return (
        file.suffix == ".csv"
        and file.columns[-1:] == ("Label",)
        and _NAME.match(stem(file.path)) is not None
    )


@register_format(
    name="tsb_ad",
    title="TSB-AD",
    layout="<nr>_<data set>_id_<k>_<domain>_tr_<train length>_1st_<first anomaly>.csv: "
    "channels, then Label",
    matches=_matches,
    possible=lambda file: file.columns[-1:] == ("Label",),
)
def read_tsb_ad(
    path: Path, *, dataset: str | None = None, train_length: int | None = None
) -> Series:
    """Read one file; data set and train length default to those in its name."""
    match = _NAME.match(stem(path))
    if match is not None:
        dataset = dataset or match["dataset"]
        train_length = int(match["train"]) if train_length is None else train_length
    return series_from_table(
        read_csv(path),
        name=stem(path),
        dataset=dataset or parent_name(path),
        label="Label",
        train_length=train_length,
    )
