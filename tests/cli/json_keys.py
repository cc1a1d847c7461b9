"""JSON output: strict reading, and the keys of a document."""

from __future__ import annotations

import json


def strict_json(text):
    """Read JSON, without the words NaN and Infinity that the standard lacks."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def key_paths(found, path=""):
    """Paths of all values; the entries of a list share one."""
    if isinstance(found, dict):
        return {line for key, value in found.items() for line in key_paths(value, f"{path}.{key}")}
    if isinstance(found, list):
        return {line for value in found for line in key_paths(value, f"{path}[]")}
    return {path}
