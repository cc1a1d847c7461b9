"""Declare parameters once: default, check and help.

Settings, detectors, studies and the tables of plans are dataclasses whose fields are declared with
:func:`param`. Their command-line options, errors, lists and notes come from this declaration.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field
from numbers import Real
from typing import Any, TypeVar

from vuskit._util.text import did_you_mean, plain_name
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_int

__all__ = [
    "Check",
    "Checked",
    "Param",
    "flag",
    "from_mapping",
    "from_texts",
    "literal",
    "number",
    "one_of",
    "optional",
    "param",
    "params_of",
    "several",
    "text",
    "texts",
    "whole",
]

T = TypeVar("T")


# --- checks --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """A check: ``check(name, value)`` returns the value to store, or raises `InvalidInputError`.

    It must accept the values that it returns.

    Attributes
    ----------
    words : str
        Accepted values, such as ``"an int >= 1"``.
    function : callable
        The check itself.
    choices : tuple of str
        Accepted names, if there are only a few.
    many : bool
        Whether the value is a tuple.
    literal : bool
        Whether a text such as ``"5"`` or ``"none"`` means a number or None.
    """

    words: str
    function: Callable[[str, Any], Any] = field(repr=False)
    choices: tuple[str, ...] = ()
    many: bool = False
    literal: bool = True

    def __call__(self, name: str, value: Any) -> Any:
        """Return the value to store."""
        return self.function(name, value)

    def error(self, name: str, value: Any) -> InvalidInputError:
        """Return the error for a value that is not accepted."""
        return InvalidInputError(f"`{name}` must be {self.words}, got {value!r}")


def whole(minimum: int, *, word: str | None = None) -> Check:
    """Return a check for integers of at least ``minimum``, or one word instead.

    Examples
    --------
    >>> whole(1)("n_trees", 5.0)
    5
    >>> whole(2, word="period")("window", "week")
    Traceback (most recent call last):
        ...
    vuskit.errors.InvalidInputError: `window` must be 'period' or an int >= 2, got 'week'
    """

    def check(name: str, value: Any) -> Any:
        if word is None:
            return check_int(name, value, minimum)
        if isinstance(value, str) and value == word:
            return value
        try:
            return check_int(name, value, minimum)
        except InvalidInputError:
            raise found.error(name, value) from None

    words = f"an int >= {minimum}"
    found = Check(words if word is None else f"{word!r} or {words}", check)
    return found


def number(
    minimum: float = -math.inf, maximum: float = math.inf, *, above: float | None = None
) -> Check:
    """Return a check for finite numbers from ``minimum`` to ``maximum``, or ``above`` a limit.

    Examples
    --------
    >>> number(0, 1)("alpha", 1)
    1.0
    >>> number(above=0)("learning_rate", 0)
    Traceback (most recent call last):
        ...
    vuskit.errors.InvalidInputError: `learning_rate` must be a number > 0, got 0
    """
    words = "a number"
    if above is not None:
        words += f" > {above:g}" + (f" and <= {maximum:g}" if math.isfinite(maximum) else "")
    elif math.isfinite(minimum):
        bounded = math.isfinite(maximum)
        words += f" from {minimum:g} to {maximum:g}" if bounded else f" >= {minimum:g}"

    def check(name: str, value: Any) -> float:
        try:
            given = math.nan if isinstance(value, (str, bytes, bool)) else float(value)
        except (TypeError, ValueError, OverflowError):
            given = math.nan
        inside = minimum <= given <= maximum and (above is None or given > above)
        if not (inside and math.isfinite(given)):
            raise found.error(name, value)
        return given

    found = Check(words, check)
    return found


def one_of(*choices: str | Mapping[str, Any]) -> Check:
    """Return a check for one of several names, or for a key of one mapping.

    Examples
    --------
    >>> one_of("linear", "previous")("impute", "linaer")
    Traceback (most recent call last):
        ...
    vuskit.errors.InvalidInputError: `impute` must be one of 'linear', 'previous', got 'linaer'; \
did you mean 'linear'?
    """
    known: Any = choices if isinstance(choices[0], str) else choices[0]
    words = f"one of {', '.join(map(repr, known))}"
    return Check(words, lambda name, value: check_choice(name, value, known), tuple(known))


def _check_flag(name: str, value: Any) -> bool:
    if type(value).__name__ not in ("bool", "bool_"):  # bool_: NumPy's
        raise flag.error(name, value)
    return bool(value)


flag = Check("true or false", _check_flag)
"""Check for booleans."""


def _check_text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise text.error(name, value)
    return value


text = Check("a text that is not empty", _check_text, literal=False)
"""Check for texts."""


def optional(check: Check) -> Check:
    """Return a check that also accepts None. The default of a parameter needs no such check.

    Examples
    --------
    >>> optional(whole(1))("max_train_windows", None) is None
    True
    """
    return dataclasses.replace(
        check, function=lambda name, value: None if value is None else check(name, value)
    )


def several(check: Check, *, minimum: int = 0) -> Check:
    """Return a check for a list of values; a single value becomes a list of one.

    Examples
    --------
    >>> several(one_of("lag", "noise", "ratio"))("perturbations", "lag")
    ('lag',)
    """

    def check_all(name: str, value: Any) -> tuple[Any, ...]:
        one = isinstance(value, (str, Mapping)) or not isinstance(value, Iterable)
        given = (value,) if one else tuple(value)
        if len(given) < minimum:
            raise InvalidInputError(
                f"`{name}` must be a list with at least one entry, got {value!r}"
            )
        if one:
            return (check(name, value),)
        return tuple(check(f"{name}[{place}]", entry) for place, entry in enumerate(given))

    return Check(f"a list of: {check.words}", check_all, check.choices, True, check.literal)


# --- declarations --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Param:
    """What a parameter accepts and how it is shown; see :func:`param`.

    Attributes
    ----------
    default : object
        Default value; ``dataclasses.MISSING`` if the parameter is required.
    check : Check or callable
        ``check(name, value)`` returns the value to store, or raises `InvalidInputError`. A value
        that is the default itself is not checked.
    help : str
        One line of help.
    metavar : str
        Placeholder of the value on the command line.
    stage : {"series", "result"}
        For studies: ``"series"`` if the values of the series depend on the parameter, ``"result"``
        if only the tables and figures computed from these values do.
    shown : bool
        Whether notes below tables show it at its default, too.
    write : callable, optional
        Turns a value into text for these notes.
    """

    default: Any
    check: Callable[[str, Any], Any] | None = None
    help: str = ""
    metavar: str = ""
    stage: str = "series"
    shown: bool = False
    write: Callable[[Any], str] | None = None

    @property
    def words(self) -> str:
        """Accepted values, in words."""
        return getattr(self.check, "words", "")

    @property
    def choices(self) -> tuple[str, ...]:
        """Accepted names, if there are only a few."""
        return getattr(self.check, "choices", ())

    @property
    def many(self) -> bool:
        """Whether the value is a tuple."""
        return getattr(self.check, "many", False)

    def checked(self, name: str, value: Any) -> Any:
        """Return the value to store.

        Raises
        ------
        InvalidInputError
            If the value is invalid.
        """
        return value if value is self.default or self.check is None else self.check(name, value)

    def text(self, value: Any) -> str:
        """Return a value as text, for help and notes."""
        if self.write is not None:
            return self.write(value)
        return _text(value)


def param(
    default: Any,
    check: Callable[[str, Any], Any] | None = None,
    help: str = "",  # noqa: A002 - the usual name
    **more: Any,
) -> Any:
    """Declare a parameter: a dataclass field with a check and help.

    Parameters
    ----------
    default : object
        Default value; ``dataclasses.MISSING`` for a required parameter.
    check : Check or callable, optional
        ``check(name, value)`` returns the value to store, or raises `InvalidInputError`.
    help : str
        One line of help.
    **more
        Other attributes of :class:`Param`.

    Returns
    -------
    dataclasses.Field
        Assign it to an annotated name in the body of a dataclass that inherits `Checked`.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Forest(Checked):
    ...     n_trees: int = param(100, whole(1), "Number of trees.")
    >>> Forest(), Forest(n_trees=5.0)
    (Forest(n_trees=100), Forest(n_trees=5))
    >>> Forest(n_trees=0)
    Traceback (most recent call last):
        ...
    vuskit.errors.InvalidInputError: `n_trees` must be an int >= 1, got 0
    """
    declared = Param(default, check, help, **more)
    return field(default=default, metadata={"param": declared})


class Checked:
    """Base class of dataclasses that check their parameters."""

    def __post_init__(self) -> None:
        values = self.__dict__  # works for frozen classes
        for name, declared in params_of(type(self)).items():
            if values[name] is not declared.default:
                values[name] = declared.checked(name, values[name])


_PARAMS: dict[type, Mapping[str, Param]] = {}


def params_of(cls: type[Any]) -> Mapping[str, Param]:
    """Return the parameters of a dataclass by name; undeclared fields accept any value.

    Examples
    --------
    >>> from vuskit import EvaluationSettings
    >>> params_of(EvaluationSettings)["step"].words
    'an int >= 1'
    """
    if cls not in _PARAMS:
        _PARAMS[cls] = {
            one.name: one.metadata.get("param") or Param(one.default)
            for one in dataclasses.fields(cls)
            if one.init
        }
    return _PARAMS[cls]


def from_mapping(cls: type[T], given: Mapping[str, Any], *, where: str = "") -> T:
    """Create an instance from a table of a plan or from JSON; errors name the place.

    Parameters
    ----------
    cls : type
        A dataclass.
    given : mapping
        Values by name.
    where : str
        Place of the table, such as ``"evaluate[0]"``.

    Raises
    ------
    InvalidInputError
        If a name is unknown, a required value is missing, or a value is invalid.

    Examples
    --------
    >>> from vuskit import EvaluationSettings
    >>> from_mapping(EvaluationSettings, {"buffer": 10, "step": 0}, where="evaluate[0]")
    Traceback (most recent call last):
        ...
    vuskit.errors.InvalidInputError: `evaluate[0].step` must be an int >= 1, got 0
    """
    prefix = f"{where}." if where else ""
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"`{where}` must be a table, got {given!r}")
    known = params_of(cls)
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f"; known keys: {', '.join(known)}"
            has = f"`{where}` has no key" if where else "got an unknown key"
            raise InvalidInputError(f"{has} {name!r}{hint}")
    for one in dataclasses.fields(cls):  # type: ignore[arg-type]
        if one.init and one.name not in given and one.default is one.default_factory is MISSING:
            raise InvalidInputError(f"`{prefix}{one.name}` must be given, got nothing")
    values = {name: known[name].checked(prefix + name, value) for name, value in given.items()}
    try:
        return cls(**values)
    except InvalidInputError as error:
        # Checks of several parameters name them without the table.
        reason = str(error)
        if not (prefix and reason.startswith("`")):
            raise
        raise type(error)(f"`{prefix}{reason[1:]}") from None


def from_texts(known: Mapping[str, Param], given: Iterable[str]) -> dict[str, Any]:
    """Return values from texts such as ``"step=2"``, as on a command line.

    Numbers, ``true``, ``false`` and ``none`` are recognized. A list is separated by commas, or its
    name is repeated.

    Parameters
    ----------
    known : mapping
        Parameters by name; see :func:`params_of`.
    given : iterable of str
        Texts of the form NAME=VALUE.

    Raises
    ------
    InvalidInputError
        If a text has another form, a name is unknown, or a value is invalid.

    Examples
    --------
    >>> from vuskit import EvaluationSettings
    >>> from_texts(params_of(EvaluationSettings), ["step=2", "buffer=auto"])
    {'step': 2, 'buffer': 'auto'}
    """
    found: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals:
            raise InvalidInputError(f"a parameter must have the form NAME=VALUE, got {one!r}")
        name = plain_name(name)
        if name not in known:
            raise InvalidInputError(
                f"`{name}` must be the name of a parameter ({', '.join(known)}), "
                f"got {one!r}{did_you_mean(name, known)}"
            )
        found[name] = read_text(known[name], value, before=found.get(name, ()))
    return {name: known[name].checked(name, value) for name, value in found.items()}


def read_text(declared: Param, given: str, *, before: tuple[Any, ...] = ()) -> Any:
    """Return the value of a text; for a list, append its entries to those before."""
    if not getattr(declared.check, "literal", True):
        return (*before, given) if declared.many else given
    values = [
        word if (word := part.strip()) in declared.choices else literal(word)
        for part in (given.split(",") if declared.many else [given])
    ]
    return (*before, *values) if declared.many else values[0]


def literal(given: str) -> Any:
    """Return the number, boolean or None that a text means, or the text.

    Examples
    --------
    >>> literal("5"), literal("0.5"), literal("none"), literal(" auto ")
    (5, 0.5, None, 'auto')
    """
    word = given.strip()
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(word.lower(), word)


def texts(instance: Any, *, defaults: bool = False) -> dict[str, str]:
    """Return parameters as text, for the notes below a table.

    Parameters
    ----------
    instance : object
        An instance of a dataclass.
    defaults : bool, default=False
        Whether to list parameters at their defaults, too, unless these are None or empty.

    Examples
    --------
    >>> from vuskit import EvaluationSettings
    >>> texts(EvaluationSettings(buffer=100, side="after"))
    {'buffer': '100', 'thresholds': 'all', 'definition': 'journal', 'side': 'after'}
    """
    found = {}
    for name, declared in params_of(type(instance)).items():
        value = getattr(instance, name)
        if defaults:
            listed = value is not None and value != ()
        else:
            listed = declared.shown or not _same(value, declared.default)
        if listed:
            found[name] = declared.text(value)
    return found


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "as given"
    if isinstance(value, (tuple, list)):
        return ",".join(map(_text, value))
    if isinstance(value, float):
        return format(value, "g")
    return str(getattr(value, "__name__", value))


Numbers = Mapping[str, tuple[float | None, Check]]
"""Numbers of a procedure by name: default (None: required) and check."""


class Specification:
    """A check for procedures, by name; `bare` is the one of numbers without a name.

    Examples
    --------
    >>> from vuskit.parameters import number
    >>> noise = Specification(
    ...     "uniform",
    ...     uniform={"SHARE": (None, number(0))},
    ...     normal={"MEAN": (-0.1, number()), "STD": (0.1, number(0))},
    ... )
    >>> noise.words
    'uniform:SHARE|normal[:MEAN][:STD]'
    >>> noise("noise", 0.05), noise("noise", "normal:-0.2")
    ('uniform:0.05', 'normal:-0.2:0.1')
    >>> noise.parse("noise", "normal:-0.2")
    ('normal', (-0.2, 0.1))
    """

    def __init__(self, bare: str = "", /, **procedures: Numbers) -> None:
        self.bare = bare
        self.procedures = procedures
        self.words = "|".join(map(self._notation, procedures))

    def __call__(self, name: str, value: Any) -> str:
        """Return the full text of a specification, including defaults."""
        procedure, numbers = self.parse(name, value)
        return ":".join([procedure, *(format(one, ".12g") for one in numbers)])

    def parse(self, name: str, value: Any) -> tuple[str, tuple[float, ...]]:
        """Return the name of the procedure and its numbers."""
        if isinstance(value, str):
            parts: list[Any] = [part.strip() for part in value.split(":")]
        elif isinstance(value, Iterable):
            parts = list(value)
        else:
            parts = [value]
        first = parts.pop(0) if parts else ""
        if first not in self.procedures:
            number = literal(first) if isinstance(first, str) else first
            if not self.bare or isinstance(number, bool) or not isinstance(number, Real):
                raise self._error(name, value, did_you_mean(first, self.procedures))
            first, parts = self.bare, [number, *parts]
        known = self.procedures[first]
        if len(parts) > len(known):
            raise self._error(name, value, f"; write {self._notation(first)}")
        parts += [None] * (len(known) - len(parts))
        numbers = []
        for part, (label, (default, check)) in zip(parts, known.items(), strict=True):
            try:
                given = literal(part) if isinstance(part, str) else part
                numbers.append(check(label, default if given is None else given))
            except InvalidInputError as error:
                raise self._error(name, value, f"; {error}") from None
        return first, tuple(numbers)

    def _notation(self, procedure: str) -> str:
        """Return the notation of a procedure; optional numbers are in brackets."""
        return procedure + "".join(
            f":{name}" if default is None else f"[:{name}]"
            for name, (default, _) in self.procedures[procedure].items()
        )

    def _error(self, name: str, value: Any, hint: str) -> InvalidInputError:
        allowed = self.words.replace("|", " or ")
        return InvalidInputError(f"`{name}` must be {allowed}, got {value!r}{hint}")
