"""Detectors of the package, without those that examples of the docs registered before."""

from __future__ import annotations

from vuskit.detectors import get_detector, list_detectors


def built_in_detectors() -> list[str]:
    places = {name: type(get_detector(name)).__module__ for name in list_detectors()}
    # Examples in docstrings belong to the module of the registry.
    return [
        name
        for name, place in places.items()
        if place.startswith("vuskit.detectors.") and not place.endswith("registry")
    ]
