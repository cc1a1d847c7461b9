"""Options of studies: fields that the command line and the docs read as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, replace
from typing import Any

import numpy as np

from vuskit._util.names import did_you_mean
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_int
from vuskit.measures.registry import Measure, Measures, resolve_measures
from vuskit.studies.specifications import Form, Number, Specification

PUBLISHED_MEASURE_OPTIONS = (
    "precision_at_k.points=predicted",
    "range_precision.cardinality=reciprocal",
    "range_recall.alpha=0.2",
    "range_recall.cardinality=reciprocal",
    "range_f_score.alpha=0.2",
    "range_f_score.cardinality=reciprocal",
    "auc_pr.interpolation=trapezoid",
)
"""Measure options of the published experiments."""

_POINTS = Number("N", minimum=400, whole=True)


@dataclass(frozen=True)
class Option:
    """An option of a study, as data: checks, the command line and the docs are generated from it.

    Attributes
    ----------
    name : str
        Name of the study's field.
    default : object
        Default value.
    help : str
        One line of help.
    type : type
        ``int``, ``float``, ``str`` or ``bool``; the type of each item if `many` is set.
    many : bool
        Whether the value is a tuple.
    minimum, maximum : number, optional
        Smallest and largest allowed value.
    choices : tuple of str
        Allowed values; empty if any value is allowed.
    flag : str
        Name on the command line, such as ``"--pair"``.
    metavar : str
        Placeholder for the value in the command-line help.
    parse : callable, optional
        Converts command-line text to the value, or to one item of it.
    specification : Specification, optional
        Allowed forms of a value such as ``normal:-0.1:0.1``; the value is stored as its full text.
    synonym : str
        Alternative name on the command line.
    hidden : bool
        Whether the command line omits the option.
    stage : {"series", "result"}
        ``"series"`` if the values of the series depend on the option, ``"result"`` if only the
        tables and figures computed from these values do.
    """

    name: str
    default: Any
    help: str = ""
    type: type = str
    many: bool = False
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    flag: str = ""
    metavar: str = ""
    parse: Callable[[str], Any] | None = None
    specification: Specification | None = None
    synonym: str = ""
    hidden: bool = False
    stage: str = "series"

    def check(self, value: Any) -> Any:
        """Return the validated value.

        Raises
        ------
        InvalidInputError
            If the value is invalid.

        Examples
        --------
        >>> Option("count", 10, type=int, minimum=2).check(5.0)
        5
        """
        if value is None and self.default is None:
            return None
        if isinstance(value, Mapping):
            return value
        if self.specification is not None:
            return self.specification.check(self.name, value)
        if not self.many:
            return self._check_one(value)
        if isinstance(value, str) or not isinstance(value, Iterable):
            value = [value]
        return tuple(map(self._check_one, value))

    def _check_one(self, value: Any) -> Any:
        if self.choices:
            return check_choice(self.name, value, self.choices)
        if self.type is int and self.minimum is not None:
            return check_int(self.name, value, minimum=int(self.minimum))
        if self.type is float:
            return self._check_number(value)
        return value

    def text(self, value: Any) -> str:
        """Return a value as text for the notes below a table.

        Examples
        --------
        >>> Option("ratio", (0.01, 0.2), type=float, many=True).text((0.01, 0.2))
        '0.01,0.2'
        """
        if isinstance(value, Mapping):
            return "as given"
        if isinstance(value, (tuple, list)):
            return ",".join(map(self.text, value))
        if isinstance(value, float):
            return format(value, "g")
        return str(getattr(value, "__name__", value))

    def _check_number(self, value: Any) -> float:
        low = -np.inf if self.minimum is None else self.minimum
        high = np.inf if self.maximum is None else self.maximum
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if low <= number <= high:
            return number
        limits = f" from {low:g} to {high:g}" if np.isfinite([low, high]).all() else ""
        if not limits and np.isfinite(low):
            limits = f" >= {low:g}"
        raise InvalidInputError(f"`{self.name}` must be a number{limits}, got {value!r}")


def option(
    default: Any,
    help: str = "",  # noqa: A002 - the usual name
    *,
    type: type | None = None,  # noqa: A002
    **about: Any,
) -> Any:
    """Declare a field of a study as an option with help, limits or choices.

    Parameters
    ----------
    default : object
        Default of the field.
    help : str
        One line of help.
    type : type, optional
        Type of the value or of its items. Default: the type of `default`, or of its first item;
        ``str`` for an empty tuple.
    **about
        Other attributes of :class:`Option`.

    Returns
    -------
    dataclasses.Field
        Assign it in the body of a dataclass: ``count: int = option(10, "Draws.")``.
    """
    many = about.pop("many", isinstance(default, tuple))
    example = next(iter(default), None) if isinstance(default, tuple) else default
    kind = type or (str if example is None else example.__class__)
    declared = Option("", default, help, kind, many, **about)
    return field(default=default, metadata={"option": declared})


def option_of(one: Any) -> Option:
    """Return the option of a field: declared with `option`, or derived from its default."""
    declared: Option | None = one.metadata.get("option")
    if declared is None:
        default = None if one.default is MISSING else one.default
        kind = str if default is None else type(default)
        declared = Option("", default, type=kind, many=isinstance(default, tuple))
    flag = declared.flag or f"--{one.name.replace('_', '-')}"
    return replace(declared, name=one.name, flag=flag)


def section_specification(bare: str) -> Specification:
    """Return the allowed forms of a section; a bare number means the form `bare`."""
    forms = Form("all"), Form("rare", (_POINTS,)), Form("first", (_POINTS,))
    return Specification(*forms, bare=bare)


def with_measure_options(
    measures: Iterable[Measure], options: Iterable[str]
) -> tuple[Measure, ...]:
    """Return the measures with options such as ``"range_recall.alpha=0.2"``; names stay."""
    changed = {one.name: one for one in measures}
    for text in options:
        name, option, value = _split_measure_option(text)
        if name not in changed:
            raise InvalidInputError(
                f"`measure_options` must name measures under study ({', '.join(changed)}), "
                f"got {text!r}{did_you_mean(name, changed)}"
            )
        fixed = changed[name].with_options(**{option: value}).options
        changed[name] = replace(changed[name], options=fixed)
    return tuple(changed.values())


def published_measure_options(measures: Measures, given: Iterable[str]) -> tuple[str, ...]:
    """Return the published options of the measures; `given` overrides them."""
    names = {one.name for one in resolve_measures(measures)}
    listed = [text for text in PUBLISHED_MEASURE_OPTIONS if _split_measure_option(text)[0] in names]
    found = {_split_measure_option(text)[:2]: text for text in (*listed, *given)}
    return tuple(found.values())


def _split_measure_option(text: str) -> tuple[str, str, Any]:
    """Split the text into measure, option and value; numeric values become numbers."""
    left, equals, value = str(text).partition("=")
    name, dot, option = left.rpartition(".")
    if not (equals and dot and name and option and value):
        raise InvalidInputError(
            "`measure_options` must have the form NAME.OPTION=VALUE, such as "
            f"range_recall.alpha=0.2, got {text!r}"
        )
    for kind in (int, float):
        try:
            return name.strip(), option.strip(), kind(value)
        except ValueError:
            continue
    return name.strip(), option.strip(), value.strip()
