"""Labeled series: read from files, downloaded, or generated from a seed."""

from __future__ import annotations

from vuskit.datasets.catalog import (
    DatasetInfo,
    DownloadError,
    cache_folder,
    fetch,
    get_dataset,
    list_datasets,
)
from vuskit.datasets.collection import Collection, read_series
from vuskit.datasets.columns import Columns
from vuskit.datasets.description import DatasetDescription, DatasetTable, describe
from vuskit.datasets.inputs import Inputs, Source, open_inputs
from vuskit.datasets.readers import (
    Format,
    list_formats,
    read_scores,
    register_format,
)
from vuskit.datasets.series import ScoredSeries, Series

__all__ = [
    "Collection",
    "Columns",
    "DatasetDescription",
    "DatasetInfo",
    "DatasetTable",
    "DownloadError",
    "Format",
    "Inputs",
    "ScoredSeries",
    "Series",
    "Source",
    "cache_folder",
    "describe",
    "fetch",
    "get_dataset",
    "list_datasets",
    "list_formats",
    "open_inputs",
    "read_scores",
    "read_series",
    "register_format",
]
