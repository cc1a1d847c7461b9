"""The store of a run folder: one SQLite file and score files named by their content. All SQL."""

from __future__ import annotations

from vuskit.bench.store.reader import (
    DATABASE,
    StoreReader,
    find_damages,
    open_store,
    open_store_or_empty,
    text_to_path,
)
from vuskit.bench.store.score_files import ScoreFiles
from vuskit.bench.store.writer import BenchStorageError, Store, is_gone

__all__ = [
    "DATABASE",
    "BenchStorageError",
    "ScoreFiles",
    "Store",
    "StoreReader",
    "find_damages",
    "is_gone",
    "open_store",
    "open_store_or_empty",
    "text_to_path",
]
