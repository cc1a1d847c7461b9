"""The core that computes the kernels: the native library, or NumPy where there is none.

The native library is compiled when the package is built, if there is a C compiler. Both cores give
the same values up to rounding in the last digits, so the name of the core belongs to every stored
result. ``VUSKIT_CORE=numpy`` switches the native library off; ``VUSKIT_CORE=native`` makes its
absence an error.
"""

from __future__ import annotations

import os
from typing import Any

from vuskit.errors import InvalidInputError, MissingDependencyError

__all__ = ["core_name", "native_core"]

try:
    from vuskit.kernels import _core as _library  # type: ignore[attr-defined]
except ImportError:
    _library = None


def native_core() -> Any:
    """Return the native library, or None if NumPy computes the kernels."""
    wanted = os.environ.get("VUSKIT_CORE") or None  # an empty variable counts as not set
    if wanted is None:
        return _library
    if wanted == "numpy":
        return None
    if wanted != "native":
        raise InvalidInputError(f"`VUSKIT_CORE` must be 'native' or 'numpy', got {wanted!r}")
    if _library is None:
        raise MissingDependencyError(
            "VUSKIT_CORE=native requires the native core, which was not built; install a C "
            "compiler and reinstall vuskit"
        )
    return _library


def core_name() -> str:
    """Return the name of the core in use: "native" or "numpy".

    Examples
    --------
    >>> core_name() in ("native", "numpy")
    True
    """
    return "numpy" if native_core() is None else "native"
