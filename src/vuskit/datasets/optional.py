"""Optional libraries, imported when they are needed and asked for by their install line."""

from __future__ import annotations

import importlib
from typing import Any

from vuskit.errors import MissingDependencyError

__all__ = ["require"]


def require(module: str, *, purpose: str, extra: str = "bench") -> Any:
    """Import an optional library, or say how to install it.

    Parameters
    ----------
    module : str
        Name to import, such as ``"pyarrow.csv"``.
    purpose : str
        What needs it; the start of the error's sentence.
    extra : str, default="bench"
        The extra of vuskit that brings it.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    MissingDependencyError
        If it is not installed.

    Examples
    --------
    >>> require("json", purpose="reading windows").loads("[1, 2]")
    [1, 2]
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        raise MissingDependencyError(
            f'{purpose} needs {top}, which is not installed: pip install "vuskit[{extra}]"'
        ) from error
