"""Plug-ins: measures, detectors, readers, threshold rules and studies of other packages."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vuskit.errors import InvalidInputError, PluginWarning, warn

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_loading: set[tuple[str, str]] = set()  # a plug-in may list registered names during its import
_warned: set[str] = set()


@dataclass(frozen=True)
class EntryPointGroup:
    """Entry points of one group; each is imported on first use."""

    group: str
    expected: str
    accept: Callable[[str, Any], bool]

    def names(self) -> tuple[str, ...]:
        """Return the names of the entry points without importing them."""
        return tuple(self._points())

    def provider(self, name: str) -> str:
        """Return the distribution that provides an entry point, with its version; "" if none."""
        points = self._points().get(name, ())
        return _provider(points[0]) if points else ""

    def load(self, name: str) -> bool:
        """Import and register the entry point with this name."""
        points = self._points().get(name, ())
        if not points or (self.group, name) in _loading:
            return False
        what = f"entry point {name!r} of {self.group!r}"
        provider = _provider(points[0])
        if len(points) > 1:
            listed = " and ".join(map(_provider, points))
            raise InvalidInputError(
                f"{what} must come from one distribution, got {listed}; uninstall one of them"
            )
        _loading.add((self.group, name))
        try:
            loaded = points[0].load()
        except Exception as error:  # imports of other packages can raise anything
            raise InvalidInputError(
                f"{what} must be importable, got {type(error).__name__}: {error}; "
                f"update or uninstall {provider}"
            ) from error
        finally:
            _loading.discard((self.group, name))
        if not self.accept(name, loaded):
            raise InvalidInputError(
                f"{what} must be {self.expected}, got {loaded!r}; update or uninstall {provider}"
            )
        return True

    def load_all(self, known: Container[str]) -> None:
        """Load all entry points whose names are not known yet.

        Built-in names are never replaced. Entry points that cannot be loaded are skipped, with one
        `PluginWarning` each per process.
        """
        for name in self.names():
            if name in known:
                continue
            try:
                self.load(name)
            except InvalidInputError as error:
                if str(error) not in _warned:
                    _warned.add(str(error))
                    warn(f"skipped a plug-in: {error}", PluginWarning)

    def _points(self) -> dict[str, tuple[EntryPoint, ...]]:
        return _found(self.group, tuple(sys.path))


# Cached, because readers are looked up for every file and the search reads all distributions.
@functools.lru_cache(maxsize=64)
def _found(group: str, path: tuple[str, ...]) -> dict[str, tuple[EntryPoint, ...]]:
    """Return the entry points of a group by name; several if distributions share a name."""
    from importlib.metadata import entry_points  # slow import

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=group), key=_provider):
        others = found.get(point.name, ())
        if all(_provider(one) != _provider(point) for one in others):
            found[point.name] = (*others, point)
    return dict(sorted(found.items()))


def _provider(point: EntryPoint) -> str:
    found = point.dist
    return "an unknown distribution" if found is None else f"{found.name} {found.version}"
