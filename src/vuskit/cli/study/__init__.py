"""``vuskit study``: one command per registered study, and ``all``.

Commands are built from the registry on demand. Studies of plug-ins (entry point
``vuskit.studies``) and of a file given with ``--load`` become commands, too.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from vuskit.cli._options import load_file

__all__ = ["DEFAULT_OUTPUT", "StudyGroup", "app"]

DEFAULT_OUTPUT = Path("out") / "studies"
_LOAD = "--load"
_UsageError: Any = typer.BadParameter.__base__  # from click, which newer versions of typer bundle


class StudyGroup(TyperGroup):
    """Command group of all registered studies."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Run the file of ``--load`` first: it may register the study on the line."""
        for word, following in pairwise([*args, ""]):
            if word == _LOAD and following:
                load_file(Path(following))
            elif word.startswith(f"{_LOAD}="):
                load_file(Path(word.partition("=")[2]))
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Explain how to run an unregistered study and how to show its saved result."""
        try:
            return super().resolve_command(ctx, args)
        except _UsageError as error:
            text = f"{error.message} For a custom study, add its file: --load FILE."
            saved = _saved_result(args)
            if saved is not None:
                text += f" To show its saved result: vuskit report {saved.parent} --load FILE"
            raise _UsageError(text, error.ctx) from error

    @property
    def commands(self) -> Any:
        """Commands by name, in registry order."""
        from vuskit.cli.study._command import build_all, build_command
        from vuskit.studies import list_studies

        for study in list_studies():
            if study.name not in self._built:
                self._built[study.name] = build_command(study)
        return {**self._built, "all": build_all()}

    @commands.setter
    def commands(self, given: Any) -> None:
        self._built: dict[str, Any] = dict(given)


def _saved_result(args: list[str]) -> Path | None:
    """Return the saved result of the study on the line, in its output folder."""
    folder = DEFAULT_OUTPUT
    for word, following in pairwise([*args, ""]):
        if word in ("--output", "-o"):
            folder = Path(following)
        elif word.startswith("--output="):
            folder = Path(word.partition("=")[2])
    path = folder / f"{Path(args[0]).name}_result.npz"
    return path if path.is_file() else None


app = typer.Typer(cls=StudyGroup, help="Study how the measures behave.", no_args_is_help=True)


@app.callback()
def study() -> None:
    """Study how the measures behave."""
