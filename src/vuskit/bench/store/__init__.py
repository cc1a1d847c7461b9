"""Store of a run folder: one SQLite file, and score files named by their digest.

All SQL of the benchmark is in this package.
"""

from __future__ import annotations

from vuskit.bench.store.portable import PORTABLE_TABLES, Rows, load_tables
from vuskit.bench.store.reader import (
    DATABASE,
    StoreReader,
    find_damages,
    open_store,
    open_store_or_empty,
    text_to_path,
)
from vuskit.bench.store.schema import SCHEMA_VERSION
from vuskit.bench.store.score_files import ScoreFiles
from vuskit.bench.store.writer import BenchStorageError, Store, is_gone

__all__ = [
    "DATABASE",
    "PORTABLE_TABLES",
    "SCHEMA_VERSION",
    "BenchStorageError",
    "Rows",
    "ScoreFiles",
    "Store",
    "StoreReader",
    "find_damages",
    "is_gone",
    "load_tables",
    "open_store",
    "open_store_or_empty",
    "text_to_path",
]
