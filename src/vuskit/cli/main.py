"""Entry point of the command ``vuskit``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from vuskit._util.text import escape_control
from vuskit.cli._exit_codes import ExitCode
from vuskit.errors import MissingDependencyError, VuskitError

__all__ = ["run"]


def run() -> None:
    """Run the command line; report errors in one sentence, without a traceback."""
    try:
        _app()()
    except VuskitError as error:
        _end(f"vuskit: {error}", ExitCode.UNUSABLE)
    except KeyboardInterrupt:  # before or after the command itself
        _end("vuskit: stopped", ExitCode.INTERRUPTED)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        kind = type(error).__name__
        _end(
            f"vuskit: internal error ({kind}: {error}); "
            "add --debug to see the traceback, and please report it",
            ExitCode.FAULT,
        )


def _end(text: str, code: ExitCode) -> None:
    sys.stderr.write(f"{escape_control(text)}\n")
    sys.exit(code)


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
