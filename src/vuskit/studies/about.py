"""What the values of a study depend on, besides the series: its options and their code."""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
import uuid
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit._util.text import listed
from vuskit.engine import StaleWorkerError
from vuskit.errors import ChangedInputError
from vuskit.kernels.backend import core_name
from vuskit.measures.registry import Measure
from vuskit.store.identity import Code, changed_modules, code_of

if TYPE_CHECKING:
    from vuskit.studies.base import Study


def about_study(study: Study[Any]) -> tuple[dict[str, Any], Code]:
    """Return what the key of every series is made of, without the series, and all code involved.

    Options that are declared to affect the result only do not count.
    """
    study = study.resolved()
    excluded = {one.name for one in study.options() if one.stage == "result"}
    found = _Description()
    options = {
        one.name: found.of(getattr(study, one.name))
        for one in fields(study)
        if one.name not in excluded
    }
    found.code(type(study))
    # Results of studies are compared byte by byte, and the cores round differently.
    about = {"study": study.name, "options": options, "code": found.parts, "core": core_name()}
    return about, Code(found.parts, tuple(sorted(found.libraries)))


class _Description:
    """Converts values to plain data, and collects the code they depend on."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}
        self.libraries: set[str] = set()

    def code(self, thing: Any) -> str:
        """Note the code of a function, a class or another callable, and return its name."""
        found = code_of(thing)
        self.parts |= found.parts
        self.libraries |= set(found.libraries)
        return f"{getattr(thing, '__qualname__', type(thing).__qualname__)} {found}"

    def of(self, value: Any) -> Any:
        """Return plain data for a value: code of functions and classes, content of arrays."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in (bool, str, int, float):
            return value
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            data = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            return {"array": data, "dtype": value.dtype.str, "shape": list(value.shape)}
        if isinstance(value, Measure):
            options, code = self.of(value.options), self.code(value.function)
            higher = value.higher_is_better
            return {"measure": value.name, "higher": higher, "options": options, "code": code}
        if isinstance(value, Mapping):
            items = [[self.of(key), self.of(item)] for key, item in value.items()]
            return {"mapping": sorted(items, key=json.dumps)}
        if isinstance(value, (set, frozenset)):
            return {"set": sorted(map(self.of, value), key=json.dumps)}
        if isinstance(value, (list, tuple)):
            return list(map(self.of, value))
        if is_dataclass(value) and not isinstance(value, type):
            state = {one.name: self.of(getattr(value, one.name)) for one in fields(value)}
            return {"object": self.code(type(value)), "fields": state}
        if callable(value):
            return {"code": self.code(value)}
        try:
            pickled = hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()
        except Exception:  # methods of the object may raise anything
            pickled = uuid.uuid4().hex  # never the same, so results are not reused
        return {"object": self.code(type(value)), "pickle": pickled}


_checked: set[str] = set()  # code that matches that of this process


def check_code(study: Study[Any], expected: Code) -> None:
    """Check that the user's modules in this process are those that the study was started with.

    Code that was sent by value needs no check. A module that this process imported itself may be a
    different version if its file was edited after the main process imported it.
    """
    if str(expected) in _checked:
        return
    try:
        found = about_study(study)[1].parts
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
    _checked.add(str(expected))
