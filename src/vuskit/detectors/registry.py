"""Registry of detectors: built-in, registered by decorator, or provided by plug-ins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from vuskit._util.optional import EntryPointGroup
from vuskit._util.text import did_you_mean
from vuskit.detectors.adapters import adapt, find_model_class, is_model_name
from vuskit.detectors.base import Detector
from vuskit.errors import InvalidInputError

__all__ = ["ENTRY_POINTS", "detector_class", "get_detector", "list_detectors", "register_detector"]

ENTRY_POINTS = "vuskit.detectors"

D = TypeVar("D", bound=type[Detector])

_REGISTERED: dict[str, type[Detector]] = {}


def register_detector(name: str, *, title: str = "", reference: str = "") -> Callable[[D], D]:
    """Class decorator that registers a detector under a name.

    Parameters
    ----------
    name : str
        Lower-case name; ``repr`` of the detector starts with it.
    title : str, optional
        Name for tables and figures. Defaults to the class name.
    reference : str, optional
        Publication of the method.

    Returns
    -------
    callable
        The decorator.

    Raises
    ------
    InvalidInputError
        If the name is not an identifier or belongs to another class.

    Examples
    --------
    >>> from vuskit.detectors import Detector
    >>> @register_detector("negated_values")
    ... class NegatedValues(Detector):
    ...     def _fit(self, train, progress): ...
    ...     def _score(self, values):
    ...         return -values.mean(axis=1)
    >>> get_detector("negated_values").fit_score([1.0, 3.0])
    array([-1., -3.])
    """
    if not name.isidentifier() or name != name.lower():
        raise InvalidInputError(f"`name` must be a lower-case identifier, got {name!r}")

    def decorate(cls: D) -> D:
        known = _REGISTERED.get(name)
        if known is not None and _where(known) != _where(cls):
            raise InvalidInputError(
                f"`name` must be new, got {name!r} of {_where(known)}; choose another name"
            )
        cls.name, cls.title, cls.reference = name, title or cls.__name__, reference
        _REGISTERED[name] = cls
        return cls

    return decorate


def _where(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _accept_plugin(name: str, loaded: Any) -> bool:
    if not (isinstance(loaded, type) and issubclass(loaded, Detector)):
        return False
    if name not in _REGISTERED:
        own = loaded.__dict__
        register_detector(name, title=own.get("title", ""), reference=own.get("reference", ""))(
            loaded
        )
    return _REGISTERED[name] is loaded


_PLUGINS = EntryPointGroup(ENTRY_POINTS, "a Detector class", _accept_plugin)


def list_detectors() -> tuple[str, ...]:
    """Return the names of all detectors: built-in, registered, and from plug-ins.

    Returns
    -------
    tuple of str
        Names in alphabetical order.

    Examples
    --------
    >>> "lof" in list_detectors()
    True
    """
    return tuple(sorted({*_REGISTERED, *_PLUGINS.names()}))


def detector_class(name: str) -> type[Detector]:
    """Return the class of a detector by name.

    Examples
    --------
    >>> detector_class("lof").title
    'LOF'
    >>> detector_class("lov")
    Traceback (most recent call last):
        ...
    vuskit.errors.InvalidInputError: `name` must be a known detector, got 'lov'; did you mean 'lof'?
    """
    if name not in _REGISTERED and not _PLUGINS.load(name):
        raise InvalidInputError(
            f"`name` must be a known detector, got {name!r}{_suggest(name, list_detectors())}"
        )
    return _REGISTERED[name]


def get_detector(name: str, **params: Any) -> Detector:
    """Create a detector by name.

    Parameters
    ----------
    name : str
        A name from `list_detectors`, or a model of another library: ``pyod:KNN``,
        ``sklearn:IsolationForest``, ``aeon:KMeansAD``.
    **params
        Constructor keywords; for a model of another library, also keywords of its adapter.

    Returns
    -------
    Detector
        An unfitted detector.

    Raises
    ------
    InvalidInputError
        If the name or a keyword is unknown, or a value is invalid.
    MissingDependencyError
        If the library of the model is not installed.

    Examples
    --------
    >>> get_detector("sklearn:KernelDensity", bandwidth=2.0, window=20).window
    20
    >>> get_detector("lof", n_neighbors=30)
    lof(impute=None, n_neighbors=30, normalize=None, seed=0, train_share=None, window='period')
    >>> get_detector("lof", neighbors=30)
    Traceback (most recent call last):
        ...
    vuskit.errors.InvalidInputError: lof has no parameter 'neighbors'; did you mean 'n_neighbors'?
    """
    if is_model_name(name):
        seed = params.pop("seed", 0)
        return adapt(find_model_class(name), params, seed=seed, name=name).detector
    cls = detector_class(name)
    accepted = cls.parameter_names()
    for given in params:
        if given not in accepted:
            raise InvalidInputError(f"{name} has no parameter {given!r}{_suggest(given, accepted)}")
    return cls(**params)


def _suggest(word: str, known: tuple[str, ...]) -> str:
    return did_you_mean(word, known) or f"; choose from {', '.join(known)}"
