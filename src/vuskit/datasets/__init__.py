"""Labelled series: read from files, fetched from the network, or made up with a seed."""

from __future__ import annotations

from vuskit.datasets.cache import cache_folder
from vuskit.datasets.catalog import DatasetInfo, fetch, get_dataset, list_datasets
from vuskit.datasets.collection import Collection, SeriesFile
from vuskit.datasets.readers import (
    Format,
    list_formats,
    read_scores,
    register_format,
)
from vuskit.datasets.reading import read_collection, read_series
from vuskit.datasets.series import ScoredSeries, Series

__all__ = [
    "Collection",
    "DatasetInfo",
    "Format",
    "ScoredSeries",
    "Series",
    "SeriesFile",
    "cache_folder",
    "fetch",
    "get_dataset",
    "list_datasets",
    "list_formats",
    "read_collection",
    "read_scores",
    "read_series",
    "register_format",
]
