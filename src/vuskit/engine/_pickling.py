"""Pickle actions and values for other processes, including user-defined ones."""

from __future__ import annotations

import functools
import sys
import sysconfig
from dataclasses import dataclass
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from vuskit._util.optional import require

_PURPOSE = "running tasks in other processes"


@dataclass(frozen=True)
class PackedValue:
    """A pickled result; only the process that requested it unpacks it."""

    data: bytes


def pack(value: Any, *, portable: bool = False) -> bytes:
    """Pickle a value for another process, with the modules that it cannot import.

    A ``portable`` value may be sent to another machine, which has only installed packages.
    """
    cloudpickle = require("cloudpickle", purpose=_PURPOSE)
    registered = cloudpickle.list_registry_pickle_by_value()
    by_value: list[ModuleType] = []
    try:
        while True:
            data = bytes(cloudpickle.dumps(value))
            missing = [
                module
                for module in _modules_to_send(portable)
                if module.__name__.encode() in data
                and module.__name__ not in registered
                and module not in by_value
            ]
            if not missing:
                return data
            # Code sent by value may refer to more modules, which then appear in the data.
            for module in missing:
                cloudpickle.register_pickle_by_value(module)
                by_value.append(module)
    finally:
        for module in by_value:
            cloudpickle.unregister_pickle_by_value(module)


def unpack(data: bytes) -> Any:
    """Undo `pack`."""
    return require("cloudpickle", purpose=_PURPOSE).loads(data)


def _modules_to_send(portable: bool) -> list[ModuleType]:
    names = tuple(sys.modules)
    packages = {name.partition(".")[0] for name in names}
    sent = {package for package in packages if _must_be_sent(package, portable)}
    found = ((name, sys.modules.get(name)) for name in names if name.partition(".")[0] in sent)
    return [
        module
        for name, module in found
        if isinstance(module, ModuleType) and module.__name__ == name  # not an alias
    ]


@functools.cache
def _must_be_sent(package: str, portable: bool) -> bool:
    """Whether a worker cannot import a top-level package."""
    if package in ("__main__", "__mp_main__", "vuskit"):
        return False  # cloudpickle sends __main__ by value anyway
    if BuiltinImporter.find_spec(package) or FrozenImporter.find_spec(package):
        return False
    spec = PathFinder.find_spec(package)
    if spec is None:
        return not _is_editable_install(package)
    return portable and not _is_installed(spec)


def _is_editable_install(package: str) -> bool:
    finders = (
        finder for finder in sys.meta_path if "__editable__" in getattr(finder, "__module__", "")
    )
    return any(finder.find_spec(package, None) for finder in finders)


def _is_installed(spec: ModuleSpec) -> bool:
    places = map(Path, [*(spec.submodule_search_locations or ()), spec.origin or ""])
    standard = sysconfig.get_path("stdlib")
    return any(
        {"site-packages", "dist-packages"} & set(place.parts) or place.is_relative_to(standard)
        for place in places
    )
