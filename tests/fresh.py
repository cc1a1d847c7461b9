"""What a new process would not know, for tests that run several commands in one process."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys

REGISTRIES = {
    "vuskit.measures.registry": "_MEASURES",
    "vuskit.detectors.registry": "_REGISTERED",
    "vuskit.studies.base": "_STUDIES",
    "vuskit.datasets.readers.registry": "_FORMATS",
}


@contextlib.contextmanager
def forgotten_modules(folder):
    """Forget the modules of a folder at the end: a process imports each name only once."""
    before = set(sys.modules)
    try:
        yield
    finally:
        place = os.path.realpath(folder) + os.sep
        for name in sys.modules.keys() - before:
            file = getattr(sys.modules[name], "__file__", None)
            if isinstance(file, str) and os.path.realpath(file).startswith(place):
                del sys.modules[name]


@contextlib.contextmanager
def forgotten_names():
    """Forget the measures, detectors, studies and formats that are registered meanwhile."""
    registries = [getattr(importlib.import_module(one), name) for one, name in REGISTRIES.items()]
    before = [dict(registry) for registry in registries]
    try:
        yield
    finally:
        for registry, known in zip(registries, before, strict=True):
            registry.clear()
            registry.update(known)
