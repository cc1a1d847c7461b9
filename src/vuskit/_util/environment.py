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
    "describe_environment",
    "describe_machine",
    "digest_of_measured_code",
    "installed_versions",
]

_MEASURED = ("*.py", "kernels/**/*.py", "measures/**/*.py", "algorithms/**/*.py")
_LIBRARIES = ("numpy", "numba", "scipy", "pandas")


def describe_environment() -> dict[str, Any]:
    """Return versions, machine and a digest of the measured code.

    Examples
    --------
    >>> sorted(describe_environment())[:3]
    ['code', 'cpu', 'cpus']
    """
    return {
        "vuskit": metadata.version("vuskit"),
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


def digest_of_measured_code(package: Path | None = None) -> str:
    """Return a hash of the modules that compute measures.

    The version number does not identify the measured code, because code changes between releases.

    Examples
    --------
    >>> len(digest_of_measured_code())
    16
    """
    package = package or Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(path for part in _MEASURED for path in package.glob(part)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def installed_versions(libraries: Iterable[str] = ()) -> dict[str, str]:
    """Return versions of vuskit, NumPy and other installed libraries by name.

    Parameters
    ----------
    libraries : iterable of str
        Names of distributions; missing ones are omitted.

    Examples
    --------
    >>> list(installed_versions(["scipy", "no-such-library"]))
    ['numpy', 'scipy', 'vuskit']
    """
    found = {name: _version(name) for name in {"numpy", *libraries}}
    found["vuskit"] = sys.modules["vuskit"].__version__
    return {name: version for name, version in sorted(found.items()) if version is not None}


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
