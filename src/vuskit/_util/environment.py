"""Description of the environment of a timing: versions, machine and measured code."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = [
    "core_files",
    "describe_environment",
    "describe_machine",
    "digest_of_measured_code",
    "installed_versions",
]

_MEASURED = ("*.py", "kernels/**/*.py", "measures/**/*.py", "algorithms/**/*.py")
_CORE = ("kernels/core/*.c", "kernels/core/*.h", "kernels/_core*.so", "kernels/_core*.pyd")
_LIBRARIES = ("numpy", "scipy", "pandas")


def describe_environment() -> dict[str, Any]:
    """Return versions, the core, the machine and a digest of the measured code.

    Examples
    --------
    >>> sorted(describe_environment())[:4]
    ['code', 'core', 'cpu', 'cpus']
    """
    return {
        "vuskit": metadata.version("vuskit"),
        "core": _core_name(),
        "code": digest_of_measured_code(),
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "libraries": {name: _version(name) for name in _LIBRARIES},
        **describe_machine(),
    }


def describe_machine() -> dict[str, Any]:
    """Return system, processor and number of cores.

    Examples
    --------
    >>> describe_machine()["cpus"] >= 1
    True
    """
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "cpu": _cpu_name(),
        "cpus": os.cpu_count(),
    }


def core_files(package: Path) -> list[Path]:
    """Return the C sources and the compiled library of the native core that are present."""
    return sorted(path for part in _CORE for path in package.glob(part))


def digest_of_measured_code(package: Path | None = None) -> str:
    """Return a hash of the modules and the native core that compute measures.

    The version number does not identify the measured code, because code changes between releases.

    Examples
    --------
    >>> len(digest_of_measured_code())
    16
    """
    package = package or Path(__file__).parents[1]
    digest = hashlib.sha256()
    modules = sorted(path for part in _MEASURED for path in package.glob(part))
    for path in (*modules, *core_files(package)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def installed_versions(libraries: Iterable[str] = ()) -> dict[str, str]:
    """Return versions of vuskit, NumPy and other installed libraries by name.

    The name of the core in use, as ``core``, is one of them: both cores round differently.

    Parameters
    ----------
    libraries : iterable of str
        Names of distributions; missing ones are omitted.

    Examples
    --------
    >>> list(installed_versions(["scipy", "no-such-library"]))
    ['core', 'numpy', 'scipy', 'vuskit']
    """
    found = {name: _version(name) for name in {"numpy", *libraries}}
    found["vuskit"] = sys.modules["vuskit"].__version__
    found["core"] = _core_name()
    return {name: version for name, version in sorted(found.items()) if version is not None}


def _core_name() -> str:
    # `import vuskit` has loaded the kernels, which this module is not allowed to import.
    return str(sys.modules["vuskit.kernels.backend"].core_name())


def _version(name: str) -> str | None:
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
