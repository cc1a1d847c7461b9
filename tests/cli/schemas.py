"""The generated JSON schemas, for tests of every command that writes JSON."""

from __future__ import annotations

import json

import jsonschema

from vuskit.cli._schemas import list_schemas

SCHEMAS = {entry.name: entry for entry in list_schemas()}


def names():
    """Names of all schemas."""
    return sorted(SCHEMAS)


def assert_valid(found, name):
    """Check data against a schema, and the schema itself."""
    schema = SCHEMAS[name].schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(found)


def strict_json(text):
    """Read JSON, without the words NaN and Infinity that the standard lacks."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)
