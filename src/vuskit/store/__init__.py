"""Stores of results: keys from content, one SQLite file, score files, and packs."""

from __future__ import annotations

from vuskit.store.identity import code_of, import_object, key_of
from vuskit.store.store import Named, Result, Start, Store, StoreError

__all__ = [
    "Named",
    "Result",
    "Start",
    "Store",
    "StoreError",
    "code_of",
    "import_object",
    "key_of",
]
