"""Other packages and the machine: optional imports, versions, and plug-ins."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit.errors import InvalidInputError, MissingDependencyError, PluginWarning, warn

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "EntryPointGroup",
    "core_files",
    "describe_environment",
    "installed_versions",
    "is_installed",
    "pd",
    "require",
]

_CORE = ("kernels/core/*.c", "kernels/core/*.h", "kernels/_core*.so", "kernels/_core*.pyd")
_LIBRARIES = ("numpy", "scipy", "pandas")


def require(module: str, *, purpose: str, extra: str = "bench") -> Any:
    """Import an optional library; the error explains how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        raise MissingDependencyError(
            f'{purpose} needs {top}, which is not installed: pip install "vuskit[{extra}]"'
        ) from error


def is_installed(module: str) -> bool:
    """Whether a library is installed; does not import it."""
    return importlib.util.find_spec(module) is not None


# -- versions --------------------------------------------------------------------------------------


def describe_environment() -> dict[str, Any]:
    """Return versions, the core and the machine."""
    return {
        "vuskit": _version("vuskit"),
        "core": _core_name(),
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "system": platform.system(),
        "machine": platform.machine(),
        "cpu": _cpu_name(),
        "cpus": os.cpu_count(),
    }


def core_files(package: Path) -> list[Path]:
    """Return the C sources and the compiled library of the native core that are present."""
    return sorted(path for part in _CORE for path in package.glob(part))


def installed_versions(libraries: Iterable[str] = ()) -> dict[str, str]:
    """Return versions of vuskit, NumPy and other installed libraries by name.

    The name of the core in use, as ``core``, is one of them: both cores round differently.
    """
    found = {name: _version(name) for name in {"numpy", *libraries}}
    found["vuskit"] = sys.modules["vuskit"].__version__
    found["core"] = _core_name()
    return {name: version for name, version in sorted(found.items()) if version is not None}


def _core_name() -> str:
    # `import vuskit` has loaded the kernels, which this module is not allowed to import.
    return str(sys.modules["vuskit.kernels.backend"].core_name())


def _version(name: str) -> str | None:
    from importlib import metadata  # slow import

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cpu_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


# -- plug-ins --------------------------------------------------------------------------------------

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


if TYPE_CHECKING:
    import pandas as pd
else:

    class _Pandas:
        def __getattr__(self, name: str) -> Any:
            return getattr(require("pandas", purpose="a table"), name)

    pd = _Pandas()
