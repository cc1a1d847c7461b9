"""Description of the environment of results: versions, core and machine."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

_CORE = ("kernels/core/*.c", "kernels/core/*.h", "kernels/_core*.so", "kernels/_core*.pyd")
_LIBRARIES = ("numpy", "scipy", "pandas")


def describe_environment() -> dict[str, Any]:
    """Return versions, the core and the machine."""
    return {
        "vuskit": metadata.version("vuskit"),
        "core": _core_name(),
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "libraries": {name: _version(name) for name in _LIBRARIES},
        **describe_machine(),
    }


def describe_machine() -> dict[str, Any]:
    """Return system, processor and number of cores."""
    return {
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
