"""Identity of what a study finds on a series: the code, settings and versions behind a value.

Together with the content of a series and its scores they determine every value, so a finished
series is reused exactly if none of them changed. Names of series and detectors are no part of it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pickle
import uuid
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import vuskit
from vuskit._util.code_digest import code_digest
from vuskit._util.optional import is_installed
from vuskit.measures.registry import Measure

if TYPE_CHECKING:
    from vuskit.studies.base import Study

__all__ = ["short_digest", "study_digest"]

_WITHOUT_VALUES = ("bench", "cli", "engine", "report")  # packages that compute nothing


def short_digest(parts: Any) -> str:
    """Digest of anything that JSON can hold.

    Examples
    --------
    >>> short_digest({"a": 1, "b": 2}) == short_digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def study_digest(study: Study[Any]) -> str:
    """Digest of everything that the value of a series depends on, besides the series.

    That is: the code of the study and of its measures, with the constants, functions and local
    modules that they use; all options except those of the stage ``"result"``; and the versions of
    vuskit and of the numerical libraries.
    """
    study = study.resolved()
    late = {one.name for one in study.options() if one.stage == "result"}
    options = {
        one.name: _identity(getattr(study, one.name))
        for one in fields(study)
        if one.name not in late
    }
    return short_digest(
        [
            study.name,
            _code_of(type(study)),
            options,
            _vuskit_code(),
            _numeric_versions(),
        ]
    )


@functools.cache
def _vuskit_code() -> str:
    """Digest of the code that computes values: versions stay the same while code is worked on."""
    package = Path(vuskit.__file__).parent
    digest = hashlib.sha256(vuskit.__version__.encode())
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        if place.parts[0] not in _WITHOUT_VALUES:
            digest.update(place.as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _numeric_versions() -> dict[str, str]:
    """Libraries whose sums may round differently; values are stored with all their digits."""
    compiled = is_installed("numba") and os.environ.get("VUSKIT_NUMBA") != "0"
    return {
        "numpy": np.__version__,
        "numba": metadata.version("numba") if compiled else "not used",
    }


def _identity(value: Any) -> Any:
    """The value as JSON knows it; functions and classes by their code, arrays by their digest."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, str, int, float):
        return value
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        data = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return ["array", value.dtype.str, list(value.shape), data]
    if isinstance(value, Measure):
        code = _code_of(value.function)
        return ["measure", value.name, value.higher_is_better, _identity(value.options), code]
    if isinstance(value, Mapping):
        items = [[_identity(key), _identity(item)] for key, item in value.items()]
        return ["mapping", sorted(items, key=json.dumps)]
    if isinstance(value, (set, frozenset)):
        return ["set", sorted(map(_identity, value), key=json.dumps)]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(_identity, value)]
    if is_dataclass(value) and not isinstance(value, type):
        parts = {one.name: _identity(getattr(value, one.name)) for one in fields(value)}
        return ["object", _code_of(type(value)), parts]
    return _code_of(value) if callable(value) else _object_identity(value)


def _object_identity(value: Any) -> Any:
    """Class and state of any other object; a new identity every time if it has no such."""
    try:
        state = hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()
    except Exception:  # whatever the object's own methods raise
        state = uuid.uuid4().hex
    return ["object", _code_of(type(value)), state]


def _code_of(thing: Any) -> list[Any]:
    """Name, code and libraries of a function, a class or another callable."""
    found = code_digest(thing)
    name = getattr(thing, "__qualname__", type(thing).__qualname__)
    return [name, found.version, {one: metadata.version(one) for one in found.libraries}]
