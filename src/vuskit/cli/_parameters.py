"""Options of commands from declared parameters: some as flags, the others by ``--set``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_type_hints

import typer

from vuskit.cli._completion import complete_columns
from vuskit.cli._options import INPUT
from vuskit.datasets.columns import Reading
from vuskit.errors import InvalidInputError
from vuskit.parameters import Param, flag, from_texts, params_of, read_text

__all__ = ["SHOWN", "Flags", "given_of", "input_options", "takes"]

_READING = (
    "labels", "label", "score", "value", "positive", "by", "dataset", "order", "duplicates",
    "timezone", "start", "end", "id", "labels_by", "labels_all", "pattern", "align", "window",
)  # fmt: skip

SHOWN = ("labels", "by", "pattern")
"""Options of input that the help of all commands shows; `vuskit evaluate` shows the others."""

Given = dict[str, Any]
"""Checked values of the parameters on the command line, by name. Options of measures, such as
``range_recall.alpha=0.2``, are texts under the name ``measure_options``."""


@dataclass(frozen=True)
class Flags:
    """Options for the parameters of a class: those in ``names`` are flags, others need ``--set``.

    ``defaults`` differ from those of the class. If ``shown`` is given, the help omits the others.
    """

    cls: type[Any]
    names: tuple[str, ...]
    panel: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    completions: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    shown: tuple[str, ...] | None = None

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """The options by name, and ``set`` if not all parameters are flags."""
        known = params_of(self.cls)
        found = {name: self._flag(name, known[name]) for name in self.names}
        others = [name for name in known if name not in found]
        if others:
            found["set"] = _keyword("set", list[str] | None, None, typer.Option(
                "--set",
                metavar="NAME=VALUE",
                help=f"Set {', '.join(others)}, or an option of a measure such as "
                "range_recall.alpha=0.2. Repeat for several.",
                autocompletion=lambda: [f"{name}=" for name in others],
                rich_help_panel=self.panel,
            ))  # fmt: skip
        return found

    def _flag(self, name: str, declared: Param) -> inspect.Parameter:
        text = declared.help
        default = self.defaults.get(name, declared.default)
        if declared.choices and not any(choice in text for choice in declared.choices):
            *first, last = declared.choices
            text = f"{text.rstrip('.')}: {', '.join(first)} or {last}."
        if "Default:" not in text and default not in (None, (), False):
            text += f" Default: {declared.text(default)}."
        switch = declared.check is flag
        choices = list(declared.choices)
        option = typer.Option(
            f"--{name.replace('_', '-')}",
            metavar="" if switch else declared.metavar or "NAME",
            help=text,
            autocompletion=self.completions.get(name) or ((lambda: choices) if choices else None),
            rich_help_panel=self.panel,
            hidden=self.shown is not None and name not in self.shown,
        )
        kind: Any = bool if switch else list[str] | None if declared.many else str | None
        return _keyword(name, kind, False if switch else None, option)


def input_options(shown: tuple[str, ...] | None = None) -> Flags:
    """Return the options of input, which all commands that read scores have in common."""
    completions = dict.fromkeys(("label", "score", "value"), complete_columns)
    return Flags(Reading, _READING, INPUT, completions=completions, shown=shown)


def takes(**groups: Flags) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace parameters of a command, by name, by the options of a class.

    The command receives an instance of the class, and the texts of ``--set`` that belong to
    measures as ``measure_options``.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        hints = get_type_hints(command, include_extras=True)
        options = {name: group.options for name, group in groups.items()}
        parameters: list[inspect.Parameter] = []
        for name, one in inspect.signature(command).parameters.items():
            if name in groups:
                parameters += options[name].values()
            elif name != "measure_options":
                parameters.append(one.replace(annotation=hints[name]))

        @functools.wraps(command)
        def run(**values: Any) -> Any:
            for name, group in groups.items():
                texts = {option: values.pop(option) for option in options[name]}
                assigned = texts.pop("set", None) or ()
                given = given_of(params_of(group.cls), texts, assigned)
                if "set" in options[name]:
                    values["measure_options"] = given.pop("measure_options", ())
                values[name] = group.cls(**{**group.defaults, **given})
            return command(**values)

        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
        )
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def given_of(
    known: Mapping[str, Param], flags: Mapping[str, Any], assigned: Iterable[str]
) -> Given:
    """Check the texts of flags and of ``--set``; flags that are None were not given."""
    found: Given = {}
    for name, value in flags.items():
        if value is None:
            continue
        one = known[name]
        for part in value if one.many else [value]:
            before = found.get(name, ())
            found[name] = read_text(one, part, before=before) if isinstance(part, str) else part
        found[name] = one.checked(f"--{name.replace('_', '-')}", found[name])
    dotted = tuple(one for one in assigned if "." in one.partition("=")[0])
    try:
        found |= from_texts(known, [one for one in assigned if one not in dotted])
    except InvalidInputError as error:
        raise InvalidInputError(f"`--set`: {error}") from error
    if dotted:
        found["measure_options"] = (*found.get("measure_options", ()), *dotted)
    return found


def _keyword(name: str, kind: Any, default: Any, option: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, option],
    )
