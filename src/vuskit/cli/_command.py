"""Commands whose errors and notes name options instead of parameters of the library."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

from typer.core import TyperCommand

from vuskit.cli._output import say
from vuskit.errors import InvalidInputError

# Parameters of the library whose option has another name.
_OTHER_NAMES = {
    "measures": "measure",
    "detectors": "detector",
    "by": "unit",
    "select": "series",
    "path": "output",
    "source": "data",
}
PANELS = ("", "Input", "Measures", "Output", "Execution")
_NAME = re.compile(r"`(\w+)`")
_running: ContextVar[Command] = ContextVar("_running")


class Command(TyperCommand):
    """A command that writes `` `label` `` as `` `--label` `` in texts of the library.

    The panels of its help have one order in all commands.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.params.sort(key=lambda one: PANELS.index(getattr(one, "rich_help_panel", None) or ""))

    def get_help_option(self, ctx: Any) -> Any:
        """Return ``--help``, which is no news to readers of the help."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.hidden = True
        return option

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        _running.set(self)
        try:
            return super().invoke(ctx)
        except InvalidInputError as error:
            error.args = (self.with_options(str(error)),)
            raise

    def with_options(self, text: str) -> str:
        """Replace parameter names by the options of this command."""
        if text.startswith("`--set`"):
            return text  # it names the parameter already
        options = {one.name: _shown(one) for one in self.params}
        settable = "--set" in options.values()

        def option(found: re.Match[str]) -> str:
            name = found[1]
            for known in (name, _OTHER_NAMES.get(name)):
                if known in options:
                    return f"`{options[known]}`"
            return f"`--set {name}`" if settable and name in _settings() else found[0]

        return _NAME.sub(option, text)


def say_notes(notes: Iterable[str]) -> None:
    """Write notes of the library to standard error, with the options of the running command."""
    for note in notes:
        say(f"note: {_running.get().with_options(note)}")


def _shown(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return str(parameter.opts[0])
    return str(parameter.metavar or parameter.name).strip("[.]")


def _settings() -> set[str]:
    """Return the names that ``--set`` accepts."""
    from vuskit.measures.settings import EvaluationSettings

    found = {one.name for one in dataclasses.fields(EvaluationSettings)}
    studies = sys.modules.get("vuskit.studies")  # only loaded by commands that run studies
    for study in studies.list_studies() if studies is not None else ():
        found.update(study.options())
    return found
