"""Import of optional libraries, with an install command in the error."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from vuskit.errors import MissingDependencyError


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
