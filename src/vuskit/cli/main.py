"""Where the command ``vuskit`` begins."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from vuskit.errors import MissingDependencyError, VuskitError

__all__ = ["run"]

_USAGE_ERROR = 2


def run() -> None:
    """Run the command line; what goes wrong is told in a sentence, without a traceback."""
    try:
        _app()()
    except VuskitError as error:
        sys.stderr.write(f"vuskit: {error}\n")
        sys.exit(_USAGE_ERROR)


def _app() -> Callable[[], Any]:
    try:
        from vuskit.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        raise MissingDependencyError(
            f"the command line needs {error.name}, which is not installed: "
            'pip install "vuskit[cli]"'
        ) from error
    return app
