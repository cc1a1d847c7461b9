"""Identity of the values of a study: the code, settings and versions that determine them.

Together with the content of a series and its scores, these determine every value. A finished series
is reused if and only if none of them changed. Names of series and detectors are not part of it.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import vuskit
from vuskit.store.identity import CodeDigest, changed_modules, code_of
from vuskit._util.environment import installed_versions
from vuskit._util.text import listed
from vuskit.engine import StaleWorkerError
from vuskit.errors import ChangedInputError
from vuskit.measures.registry import Measure

if TYPE_CHECKING:
    from vuskit.studies.base import Study

__all__ = ["StudyIdentity", "check_code", "identify_study", "short_digest"]


def short_digest(parts: Any) -> str:
    """Return a digest of plain data."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class StudyIdentity:
    """Everything that the values of a study depend on, besides the series."""

    digest: str  # of code, options of the stage "series", and versions
    parts: Mapping[str, str]  # hashes of the user's files by module
    libraries: Mapping[str, str]  # versions of the libraries involved, and the name of the core


def identify_study(study: Study[Any]) -> StudyIdentity:
    """Return the identity of a study."""
    study = study.resolved()
    excluded = {one.name for one in study.options() if one.stage == "result"}
    found = _Identities()
    options = {
        one.name: found.of(getattr(study, one.name))
        for one in fields(study)
        if one.name not in excluded
    }
    code = found.code(type(study))
    # Values are stored with all digits; other versions and the other core may round differently.
    libraries = installed_versions(found.libraries)
    digest = short_digest([study.name, code, options, code_of(vuskit), libraries])
    return StudyIdentity(digest, found.parts, libraries)


class _Identities:
    """Converts values to plain data for a digest, and collects the code they depend on."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}
        self.libraries: set[str] = set()

    def code(self, thing: Any) -> list[str]:
        """Return name and digest of a function, a class or another callable."""
        found = CodeDigest.of(thing)
        self.parts |= found.parts
        self.libraries |= set(found.libraries)
        return [getattr(thing, "__qualname__", type(thing).__qualname__), found.version]

    def of(self, value: Any) -> Any:
        """Return plain data for a value: code of functions and classes, content of arrays."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in (bool, str, int, float):
            return value
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            data = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            return ["array", value.dtype.str, list(value.shape), data]
        if isinstance(value, Measure):
            options, code = self.of(value.options), self.code(value.function)
            return ["measure", value.name, value.higher_is_better, options, code]
        if isinstance(value, Mapping):
            items = [[self.of(key), self.of(item)] for key, item in value.items()]
            return ["mapping", sorted(items, key=json.dumps)]
        if isinstance(value, (set, frozenset)):
            return ["set", sorted(map(self.of, value), key=json.dumps)]
        if isinstance(value, (list, tuple)):
            return [type(value).__name__, *map(self.of, value)]
        if is_dataclass(value) and not isinstance(value, type):
            state = {one.name: self.of(getattr(value, one.name)) for one in fields(value)}
            return ["object", self.code(type(value)), state]
        return self.code(value) if callable(value) else self._object(value)

    def _object(self, value: Any) -> Any:
        """Return class and pickled state of an object; unique if it cannot be pickled."""
        try:
            state = hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()
        except Exception:  # methods of the object may raise anything
            state = uuid.uuid4().hex
        return ["object", self.code(type(value)), state]


# ---- workers ----

_checked: set[str] = set()  # digests of identities that match the code of this process


def check_code(study: Study[Any], expected: StudyIdentity) -> None:
    """Check that the user's modules in this process are those that the study was started with."""
    if not expected.parts or expected.digest in _checked:
        return
    try:
        found = identify_study(study).parts
    except ChangedInputError as error:
        raise StaleWorkerError(str(error)) from error
    known = {name: expected.parts.get(name, digest) for name, digest in found.items()}
    imported = sys.modules.keys() - {"__main__"}
    changed = [name for name in changed_modules(known, found) if name in imported]
    if changed:
        raise StaleWorkerError(
            f"{listed(changed, most=3)} must be the code that the study was started with, got "
            "another version; import it again, or restart the program"
        )
    _checked.add(expected.digest)
