"""Registry of studies. The command line, the pages and the summary take their studies from it."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from vuskit._util.names import did_you_mean
from vuskit._util.optional import EntryPointGroup
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.studies.base import Study
from vuskit.studies.result import StudyResult

ENTRY_POINTS = "vuskit.studies"
_STUDIES: dict[str, type[Study[Any]]] = {}
_BETTER = ("lower", "higher")
_INPUTS = ("scores", "none", "results", "cases")

Kind = TypeVar("Kind", bound="type[Study[Any]]")


def study(
    *,
    title: str,
    question: str,
    better: str,
    name: str | None = None,
    input: str = "scores",  # noqa: A002
    order: int = 100,
    known: Iterable[Callable[..., Any]] = (),
) -> Callable[[Kind], Kind]:
    """Register a study; a class decorator.

    Parameters
    ----------
    title : str
        Heading of its section and its page.
    question : str
        The question it answers, as a sentence.
    better : {"lower", "higher"}
        Whether low or high values of the result's `score` are better.
    name : str, optional
        Name in commands and files. Default: the class name in snake case.
    input : {"scores", "none", "results", "cases"}, default="scores"
        Kind of input; see :class:`Study`.
    order : int, default=100
        Position in lists; studies with equal numbers keep their order of registration.
    known : iterable of dataclasses and functions
        Those that the result contains, besides its own class; needed to load a saved result.

    Raises
    ------
    InvalidInputError
        If another study has this name, or the declaration is invalid.

    Examples
    --------
    >>> from vuskit.studies import get_study
    >>> get_study("consistency").question
    'Are detectors ranked alike on series of the same kind?'
    """

    def decorate(cls: Kind) -> Kind:
        own = name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        if re.fullmatch(r"[a-z][a-z0-9_-]*", own) is None:
            raise InvalidInputError(
                f"`name` must be lower-case letters, digits, - or _, got {own!r}"
            )
        other = _STUDIES.get(own)
        if other is not None and _where(other) != _where(cls):
            raise InvalidInputError(
                f"`name` must be unique, got {own!r}, the name of {_where(other)}; choose another"
            )
        cls.name, cls.title, cls.question = own, title, question
        cls.better = check_choice("better", better, _BETTER)
        cls.input = check_choice("input", input, _INPUTS)
        cls.order, cls.result, cls.known = order, _result_class(cls), tuple(known)
        cls.result.kind = own
        _STUDIES[own] = cls
        return cls

    return decorate


def _where(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _result_class(cls: type) -> type[StudyResult]:
    """Return the class R of ``Study[R]``."""
    for base in getattr(cls, "__orig_bases__", ()):
        (found,) = typing.get_args(base) or (None,)
        if isinstance(found, type) and issubclass(found, StudyResult):
            return found
    raise InvalidInputError(
        f"`{cls.__name__}` must be derived from Study[R], where R is the class of its results, "
        f"got {[base.__name__ for base in cls.__bases__]}"
    )


def list_studies() -> list[type[Study[Any]]]:
    """Return all studies: built-in ones, those of loaded modules and of installed packages.

    Packages register studies through the entry point group ``vuskit.studies``. Studies that cannot
    be imported are not listed; :func:`get_study` reports the reason.

    Examples
    --------
    >>> from vuskit.studies import list_studies
    >>> [study.name for study in list_studies()][:3]
    ['robustness', 'separability', 'consistency']
    """
    _PLUGINS.load_all(_STUDIES)
    return sorted(_STUDIES.values(), key=lambda one: one.order)


def get_study(name: str) -> type[Study[Any]]:
    """Return the study with this name.

    Raises
    ------
    InvalidInputError
        If no study has this name, or its package cannot be imported.
    """
    if name not in _STUDIES and not _PLUGINS.load(name):
        raise InvalidInputError(
            f"`name` must be a registered study, got {name!r}"
            f"{did_you_mean(name, [*_STUDIES, *_PLUGINS.names()])}; load the module that defines it"
        )
    return _STUDIES[name]


_PLUGINS = EntryPointGroup(
    ENTRY_POINTS,
    "a class that @study registers under this name",
    lambda name, loaded: _STUDIES.get(name) is loaded,
)
