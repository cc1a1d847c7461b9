"""The shipped JSON schemas, for tests of every command that writes JSON."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema

FOLDER = resources.files("vuskit.report") / "schemas"


def names():
    """Names of all shipped schemas."""
    return sorted(file.name.removesuffix(".json") for file in FOLDER.iterdir())


def assert_valid(found, name):
    """Check data against a shipped schema, and the schema itself."""
    schema = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(found)


def strict_json(text):
    """Read JSON, without the words NaN and Infinity that the standard lacks."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)
