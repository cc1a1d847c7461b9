"""Options of commands from declared parameters: some as flags, the others by ``--set``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, get_type_hints

import typer

from vuskit.errors import InvalidInputError
from vuskit.parameters import Param, from_texts, params_of, read_text

__all__ = ["Given", "given_of", "takes"]

Given = dict[str, Any]
"""Checked values of the parameters on the command line, by name. Options of measures, such as
``range_recall.alpha=0.2``, are texts under the name ``measure_options``."""


def takes(
    *classes: type[Any],
    flags: Sequence[str] = (),
    defaults: Mapping[str, Any] | None = None,
    completions: Mapping[str, Callable[[], Any]] | None = None,
    panel: str | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace a command's parameter ``given: Given`` by options for the parameters of classes.

    ``flags`` get options; all others are given by ``--set NAME=VALUE``. ``defaults``
    differ from those of the classes; the command applies them.
    """
    listed = (pair for cls in classes for pair in params_of(cls).items())
    known = {name: one for name, one in listed if one.check is not None or one.help}

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        hints = get_type_hints(command, include_extras=True)
        added = {
            name: _flag(
                name,
                known[name],
                (defaults or {}).get(name, known[name].default),
                (completions or {}).get(name),
                panel,
            )
            for name in flags
        }
        others = [name for name in known if name not in flags]
        added["set"] = _set(others, panel)
        parameters = []
        for name, one in inspect.signature(command).parameters.items():
            if name == "given":
                parameters += list(added.values())
            else:
                parameters.append(one.replace(annotation=hints[name]))

        @functools.wraps(command)
        def run(**values: Any) -> Any:
            texts = {name: values.pop(name) for name in added}
            assigned = texts.pop("set") or ()
            return command(given=given_of(known, texts, assigned), **values)

        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
        )
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def given_of(
    known: Mapping[str, Param], flags: Mapping[str, Any], assigned: Iterable[str]
) -> Given:
    """Check the texts of flags and of ``--set``; flags that are None were not given.

    Raises
    ------
    InvalidInputError
        If a value is invalid or a name is unknown. The message names the option.
    """
    found: Given = {}
    for name, value in flags.items():
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            one = known[name]
            for part in value if one.many else [value]:
                found[name] = read_text(one, part, before=found.get(name, ()))
            found[name] = one.checked(option, found[name])
    dotted = tuple(one for one in assigned if "." in one.partition("=")[0])
    try:
        found |= from_texts(known, [one for one in assigned if one not in dotted])
    except InvalidInputError as error:
        raise InvalidInputError(f"`--set`: {error}") from error
    if dotted:
        found["measure_options"] = (*found.get("measure_options", ()), *dotted)
    return found


def _flag(
    name: str, declared: Param, default: Any, complete: Callable[[], Any] | None, panel: str | None
) -> inspect.Parameter:
    text = declared.help
    if declared.choices and not any(choice in text for choice in declared.choices):
        *first, last = declared.choices
        text = f"{text.rstrip('.')}: {', '.join(first)} or {last}."
    if "Default:" not in text and default is not None and default != ():
        text += f" Default: {declared.text(default)}."
    choices = list(declared.choices)
    option = typer.Option(
        f"--{name.replace('_', '-')}",
        metavar=declared.metavar or "NAME",
        help=text,
        autocompletion=complete or ((lambda: choices) if choices else None),
        rich_help_panel=panel,
    )
    kind: Any = list[str] | None if declared.many else str | None
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option]
    )


def _set(names: Sequence[str], panel: str | None) -> inspect.Parameter:
    option = typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help=f"Set {', '.join(names)}, or an option of a measure such as range_recall.alpha=0.2. "
        "Repeat for several.",
        autocompletion=lambda: [f"{name}=" for name in names],
        rich_help_panel=panel,
    )
    return inspect.Parameter(
        "set",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[list[str] | None, option],
    )
