"""Use models of other libraries and plain functions as detectors."""

from __future__ import annotations

import copy
import dataclasses
import functools
import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import is_installed
from vuskit._util.text import did_you_mean
from vuskit.detectors._values import IMPUTERS, KEEP
from vuskit.detectors.base import Detector, ModelDetector, Progress, WindowModel
from vuskit.errors import InvalidInputError, MissingDependencyError
from vuskit.inputs import check_choice, check_numbers, doubles_in_order
from vuskit.parameters import Param, one_of, optional, param, whole

__all__ = [
    "ADAPTERS",
    "Adapted",
    "AeonDetector",
    "FunctionDetector",
    "PyODDetector",
    "PyODSeriesDetector",
    "SklearnDetector",
    "adapt",
    "find_model_class",
    "is_model_name",
]

Floats: TypeAlias = NDArray[np.float64]


def _having(*methods: str) -> Callable[[str, Any], Any]:
    """Return a check for an object (not a class) with all of these methods."""

    def check(name: str, value: Any) -> Any:
        missing = [m for m in methods if not callable(getattr(value, m, None))]
        if isinstance(value, type) or missing:
            wanted = " and ".join(f"`{method}`" for method in methods)
            raise InvalidInputError(f"`{name}` must be an object with {wanted}, got {value!r}")
        return value

    return check


def _seeded_copy(estimator: Any, seed: int) -> Any:
    """Copy a model before fitting; set the seed if its ``random_state`` is None."""
    model = copy.deepcopy(estimator)
    if getattr(model, "random_state", 0) is None:
        model.random_state = seed
    return model


def _required(check: Callable[[str, Any], Any]) -> dict[str, Param]:
    """Return metadata of a positional parameter: type checkers know only `dataclasses.field`."""
    return {"param": Param(dataclasses.MISSING, check)}


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class _WindowEstimator(WindowModel):
    """An estimator of another library, fitted to windows."""

    estimator: Any = dataclasses.field(kw_only=False, metadata=_required(_having("fit")))
    max_train_windows: int | None = param(None, optional(whole(2)))

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        windows = self._training_windows(train, limit=self.max_train_windows)
        self._model = _seeded_copy(self.estimator, self.seed)
        self._model.fit(windows)


def _outlier_estimator(name: str, value: Any) -> Any:
    if isinstance(value, type) or not (
        hasattr(value, "fit")
        and (hasattr(value, "score_samples") or hasattr(value, "decision_function"))
    ):
        raise InvalidInputError(
            f"`{name}` must be an estimator with `score_samples` or `decision_function` "
            f"(LocalOutlierFactor: novelty=True), got {value!r}"
        )
    return value


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class SklearnDetector(_WindowEstimator):
    """Adapter for scikit-learn outlier and density estimators, applied to windows.

    Parameters
    ----------
    estimator : estimator
        With ``score_samples`` or ``decision_function``; higher means more normal. The detector
        fits a copy, and sets its ``random_state`` to the seed if it is None.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.covariance import EllipticEnvelope
    >>> series = np.random.default_rng(0).normal(size=300)
    >>> series[200:204] = 9
    >>> detector = SklearnDetector(EllipticEnvelope(), window=4)
    >>> int(detector.fit_score(series).argmax())
    202
    """

    estimator: Any = dataclasses.field(kw_only=False, metadata=_required(_outlier_estimator))
    name: ClassVar[str] = "sklearn"

    def _score_windows(self, windows: Floats) -> Floats:
        rate = getattr(self._model, "score_samples", None) or self._model.decision_function
        scores = check_numbers("scores of the estimator", rate(windows))
        return -doubles_in_order("scores of the estimator", scores)


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class PyODDetector(_WindowEstimator):
    """Adapter for PyOD detectors, applied to windows.

    For the training series, the scores are those that PyOD computed during fitting. They exclude
    each window from its own neighborhood.

    Parameters
    ----------
    estimator : PyOD detector
        With ``decision_function``; higher means more anomalous. The detector fits a copy, and sets
        its ``random_state`` to the seed if it is None.
    """

    estimator: Any = dataclasses.field(
        kw_only=False, metadata=_required(_having("fit", "decision_function"))
    )
    name: ClassVar[str] = "pyod"

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        super()._fit(train, progress)
        self._store_train(train)

    def _score(self, values: Floats) -> NDArray[Any]:
        train_scores = _train_scores(self._model)
        expected = len(values) - self.window_ + 1
        if train_scores is not None and self._is_train(values) and len(train_scores) == expected:
            return self._place(train_scores, values)
        return super()._score(values)

    def _score_windows(self, windows: Floats) -> ArrayLike:
        found: ArrayLike = self._model.decision_function(windows)
        return found


def _train_scores(model: Any) -> NDArray[Any] | None:
    """Scores that PyOD computed during fitting, or None for models without them."""
    scores = getattr(model, "decision_scores_", None)
    return None if scores is None else check_numbers("decision_scores_", scores)


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class PyODSeriesDetector(ModelDetector):
    """Adapter for PyOD detectors of series (``pyod.models.ts_...``), which build their own windows.

    Parameters
    ----------
    estimator : PyOD detector
        With ``decision_function`` that returns one score per point; higher means more anomalous.
        The detector fits a copy, and sets its ``random_state`` to the seed if it is None.
    """

    estimator: Any = dataclasses.field(
        kw_only=False, metadata=_required(_having("fit", "decision_function"))
    )
    name: ClassVar[str] = "pyod_series"

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        self._model = _seeded_copy(self.estimator, self.seed)
        self._model.fit(_one_or_two_dimensional(train))
        self._store_train(train)

    def _score(self, values: Floats) -> ArrayLike:
        scores = _train_scores(self._model)
        if scores is not None and self._is_train(values) and len(scores) == len(values):
            return scores
        found: ArrayLike = self._model.decision_function(_one_or_two_dimensional(values))
        return found


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class AeonDetector(ModelDetector):
    """Adapter for aeon anomaly detectors, which build their own windows.

    Parameters
    ----------
    estimator : aeon anomaly detector
        With ``fit`` and ``predict``, which returns one score per point. The detector fits a copy,
        and sets its ``random_state`` to the seed if it is None.
    """

    estimator: Any = dataclasses.field(kw_only=False, metadata=_required(_having("fit", "predict")))
    name: ClassVar[str] = "aeon"

    @property
    def multivariate(self) -> bool:  # type: ignore[override]
        """Whether the estimator accepts several channels, according to its tags."""
        tag = getattr(self.estimator, "get_tag", None)
        return not callable(tag) or bool(tag("capability:multivariate", True, False))

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        self._model = _seeded_copy(self.estimator, self.seed)
        self._model.fit(_one_or_two_dimensional(train), axis=0)

    def _score(self, values: Floats) -> ArrayLike:
        found: ArrayLike = self._model.predict(_one_or_two_dimensional(values), axis=0)
        return found


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class _PlainDetector(ModelDetector):
    """Adapter for any class with ``fit(values)`` and ``score(values)``, one score per point."""

    estimator: Any = dataclasses.field(kw_only=False, metadata=_required(_having("fit", "score")))
    name: ClassVar[str] = "plain"

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        self._model = _seeded_copy(self.estimator, self.seed)
        self._model.fit(_one_or_two_dimensional(train))

    def _score(self, values: Floats) -> ArrayLike:
        found: ArrayLike = self._model.score(_one_or_two_dimensional(values))
        return found


def _one_or_two_dimensional(values: Floats) -> Floats:
    return (values[:, 0] if values.shape[1] == 1 else values).copy()


def _function(name: str, value: Any) -> Any:
    if not callable(value):
        raise InvalidInputError(f"`{name}` must be a function, got {value!r}")
    return value


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class FunctionDetector(Detector):
    """Adapter for a function that maps values of shape (n,) or (n, d) to n scores.

    The detector's ``repr`` shows the function as ``module.name``, so prefer a named function to a
    lambda.

    Parameters
    ----------
    function : callable
        Receives a copy of the values.
    impute : {None, "linear", "previous", "keep"}, default=None
        Treatment of NaN: raise an error (None), interpolate linearly, repeat the previous value,
        or pass NaN to the function.

    Examples
    --------
    >>> import numpy as np
    >>> def jump(values):
    ...     return np.abs(np.diff(values, prepend=values[0]))
    >>> FunctionDetector(jump).fit_score([1.0, 1.0, 4.0])
    array([0., 0., 3.])
    """

    function: Callable[[Floats], ArrayLike] = dataclasses.field(
        kw_only=False, metadata=_required(_function)
    )
    impute: str | None = param(None, optional(one_of(*IMPUTERS, KEEP)))
    name: ClassVar[str] = "function"

    @property
    def params(self) -> dict[str, Any]:
        """Constructor keywords; shows the function by name, not by address."""
        return {**super().params, "function": _Named(self.function)}

    def warm_up(self) -> bool:
        """Call the function's attribute ``warm_up``, if it has one."""
        hook = getattr(self.function, "warm_up", None)
        if not callable(hook):
            return False
        hook()
        return True

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        """Do nothing: the function receives the series to score."""

    def _score(self, values: Floats) -> ArrayLike:
        return self.function(_one_or_two_dimensional(values))


class _Named:
    """Shows a function as ``module.name``."""

    def __init__(self, function: Any) -> None:
        owner = function if hasattr(function, "__qualname__") else type(function)
        self._shown = f"{owner.__module__}.{owner.__qualname__}"

    def __repr__(self) -> str:
        return self._shown


# -- models by name ----------------------------------------------------------------------------


class _Library(NamedTuple):
    """A library of models: its name on PyPI, and the packages to search."""

    pip: str
    packages: tuple[str, ...]


_LIBRARIES = {
    "pyod": _Library("pyod", ("pyod.models",)),
    "sklearn": _Library(
        "scikit-learn",
        tuple(
            f"sklearn.{package}"
            for package in (
                "ensemble", "neighbors", "svm", "covariance", "mixture", "linear_model",
            )
        ),
    ),
    "aeon": _Library("aeon", ("aeon.anomaly_detection",)),
}  # fmt: skip

ADAPTERS: Mapping[str, type[Any]] = {
    "pyod": PyODDetector,
    "pyod_series": PyODSeriesDetector,
    "sklearn": SklearnDetector,
    "aeon": AeonDetector,
}
"""Adapters by name. They call a model's methods and know which scores mean anomalous."""

_CLASS = re.compile(r"^class ([A-Za-z]\w*)\(", re.MULTILINE)


def is_model_name(name: str) -> bool:
    """Whether a name is ``library:Class`` of PyOD, scikit-learn or aeon.

    Examples
    --------
    >>> is_model_name("pyod:KNN"), is_model_name("my_module:KNN")
    (True, False)
    """
    return name.partition(":")[0] in _LIBRARIES and ":" in name


def find_model_class(name: str) -> type:
    """Return the class of a model, given as ``library:Class``.

    Examples
    --------
    >>> find_model_class("sklearn:IsolationForest").__name__
    'IsolationForest'
    """
    library, _, wanted = name.partition(":")
    if not is_installed(library):
        raise MissingDependencyError(
            f"{name} needs {library}, which is not installed: pip install {_LIBRARIES[library].pip}"
        )
    modules = _model_modules(library)
    if wanted not in modules:
        raise InvalidInputError(
            f"`name` must be a class of {library}, got {name!r}"
            f"{did_you_mean(wanted, modules) or '; name other classes as package.module:Class'}"
        )
    try:
        found: type = getattr(importlib.import_module(modules[wanted]), wanted)
    except ImportError as error:
        missing = (error.name or str(error)).partition(".")[0]
        raise MissingDependencyError(
            f"{name} needs {missing}, which is not installed: pip install {missing}"
        ) from error
    return found


@functools.cache
def _model_modules(library: str) -> dict[str, str]:
    """Map a library's classes to modules by scanning source files; importing all is slow."""
    found: dict[str, str] = {}
    for package in _LIBRARIES[library].packages:
        spec = importlib.util.find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            folder = Path(place)
            for file in sorted(folder.rglob("*.py")):
                parts = file.relative_to(folder).with_suffix("").parts
                if "tests" in parts:
                    continue
                module = ".".join([package, *(part for part in parts if part != "__init__")])
                for name in _CLASS.findall(file.read_text(encoding="utf-8", errors="replace")):
                    found.setdefault(name, module)
    return found


class Adapted(NamedTuple):
    """A detector, and whether its scores can depend on the seed."""

    detector: Detector
    stochastic: bool


def adapt(
    thing: Any, params: Mapping[str, Any], *, seed: int = 0, name: str | None = None
) -> Adapted:
    """Create a detector from a class, an instance or a function.

    Parameters
    ----------
    thing : object
        A `Detector` class or instance; a model class or model of PyOD, scikit-learn or aeon; a
        function without required arguments that returns one of these; or a function from values
        to scores.
    params : mapping
        Parameters of the model or function, and of the adapter (``window``, ``normalize``,
        ``train_share``, ``max_train_windows``, ``impute``). A parameter of both goes to the model.
        ``adapter`` names the adapter for a model of another library.
    seed : int, default=0
        Passed to models and functions that accept ``random_state`` or ``seed``.
    name : str, optional
        Name to use in errors.

    Returns
    -------
    Adapted
        The detector, and whether its scores can depend on the seed.

    Raises
    ------
    InvalidInputError
        If a parameter is unknown, or `thing` cannot be converted to a detector.

    Examples
    --------
    >>> from sklearn.neighbors import KernelDensity
    >>> adapt(KernelDensity, {"bandwidth": 2.0, "window": 20}).detector.window
    20
    >>> adapt(KernelDensity, {"width": 2.0}, name="sklearn:KernelDensity")
    Traceback (most recent call last):
        ...
    vuskit.errors.InvalidInputError: sklearn:KernelDensity has no parameter 'width';
    did you mean 'bandwidth'?
    """
    shown = name or repr(thing)
    given = dict(params)
    if isinstance(thing, type) and issubclass(thing, Detector):
        _check_names(shown, given, thing.parameter_names())
        return Adapted(thing(**given, seed=seed), thing.stochastic)
    if isinstance(thing, Detector):
        _check_names(shown, given, thing.parameter_names())
        detector = dataclasses.replace(thing, **{"seed": seed, **given})
        return Adapted(detector, detector.stochastic)
    if isinstance(thing, type):
        return _adapted_class(shown, thing, given, seed)
    if hasattr(thing, "fit"):
        return _adapted_model(shown, thing, given, seed)
    if not callable(thing):
        raise InvalidInputError(
            f"`{shown}` must be a detector, a model or a function, got {thing!r}"
        )
    if _is_factory(thing):
        return _made_by(shown, thing, given, seed)
    return _adapted_function(shown, thing, given, seed)


def _check_names(name: str, given: Iterable[str], accepted: Iterable[str]) -> None:
    known = sorted(set(accepted))
    for one in given:
        if one not in known:
            listed = f"; choose from {', '.join(known)}" if known else "; it has none"
            hint = did_you_mean(one, known) or listed
            raise InvalidInputError(f"{name} has no parameter {one!r}{hint}")


def _arguments(function: Any) -> tuple[list[str], bool]:
    """Return the arguments of a class or function, and whether it accepts any keyword."""
    entries = inspect.signature(function).parameters.values()
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = [one.name for one in entries if one.kind not in variable]
    return names, any(one.kind is one.VAR_KEYWORD for one in entries)


def _seed_of(accepted: Iterable[str], given: Mapping[str, Any], seed: int) -> dict[str, int]:
    """Return the seed as a keyword; empty if the model accepts none or it is given."""
    for keyword in ("random_state", "seed"):
        if keyword in accepted:
            return {} if keyword in given else {keyword: seed}
    return {}


def _adapter_fields(adapter: type[Any]) -> set[str]:
    return set(adapter.parameter_names()) - {"estimator", "seed"}


def _adapter_of(name: str, kind: type, given: dict[str, Any]) -> type[Any]:
    """Return the adapter for a model class; removes ``adapter`` from the parameters."""
    chosen = given.pop("adapter", None)
    if chosen is not None:
        return ADAPTERS[check_choice("adapter", chosen, ADAPTERS)]
    modules = [base.__module__ for base in kind.__mro__]
    owners = {module.partition(".")[0] for module in modules}
    if "pyod" in owners:
        own = any(module.startswith("pyod.models.ts_") for module in modules)
        return PyODSeriesDetector if own else PyODDetector
    if "aeon" in owners:
        return AeonDetector
    # PyOD and aeon models also derive from scikit-learn's base class, so check it last.
    if "sklearn" in owners or hasattr(kind, "score_samples"):
        return SklearnDetector
    if not hasattr(kind, "fit"):
        raise InvalidInputError(
            f"`{name}` must be a detector, a model with `fit`, or a function, got {kind!r}"
        )
    if hasattr(kind, "score"):
        return _PlainDetector
    raise InvalidInputError(
        f"`{name}` must be a model of PyOD, scikit-learn or aeon, or have `score`, got {kind!r}; "
        'otherwise set adapter = "pyod" (high scores mean anomalous) or "sklearn" (low scores)'
    )


def _adapted_class(name: str, kind: type, given: dict[str, Any], seed: int) -> Adapted:
    adapter = _adapter_of(name, kind, given)
    accepted, takes_all = _arguments(kind)
    own = {key for key in given if key in _adapter_fields(adapter) and key not in accepted}
    chosen = {key: value for key, value in given.items() if key not in own}
    if not takes_all:
        _check_names(name, chosen, {*accepted, *_adapter_fields(adapter)})
    # Without `novelty`, scikit-learn's LOF cannot score new windows.
    novelty = {"novelty": True} if "novelty" in accepted and "novelty" not in given else {}
    seeded = _seed_of(accepted, given, seed)
    model = _called(name, kind, {**novelty, **seeded, **chosen})
    detector = adapter(model, **{key: given[key] for key in own}, seed=seed)
    return Adapted(detector, bool(seeded) or _draws(detector))


def _adapted_model(name: str, model: Any, given: dict[str, Any], seed: int) -> Adapted:
    adapter = _adapter_of(name, type(model), given)
    known = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    own = {key for key in given if key in _adapter_fields(adapter) and key not in known}
    chosen = {key: value for key, value in given.items() if key not in own}
    _check_names(name, chosen, {*known, *_adapter_fields(adapter)})
    if chosen:
        model = copy.deepcopy(model).set_params(**chosen)
    detector = adapter(model, **{key: given[key] for key in own}, seed=seed)
    return Adapted(detector, _draws(detector))


def _draws(detector: Any) -> bool:
    """Whether an adapter itself uses the seed."""
    limit = getattr(detector, "max_train_windows", None)
    return limit is not None or getattr(detector.estimator, "random_state", 0) is None


def _called(name: str, function: Any, keywords: Mapping[str, Any]) -> Any:
    try:
        model = function(**keywords)
        # scikit-learn models check their parameters only in `fit`.
        if hasattr(model, "_parameter_constraints"):
            model._validate_params()
    except Exception as error:  # a constructor may raise anything
        raise InvalidInputError(
            f"{name} does not accept its parameters: {type(error).__name__}: {error}"
        ) from error
    return model


def _is_factory(function: Any) -> bool:
    """Whether a function has no required arguments, and thus returns a detector or a model."""
    entries = list(inspect.signature(function).parameters.values())
    if any(one.kind is one.VAR_POSITIONAL for one in entries):
        return False
    return not any(
        one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        for one in entries
    )


def _made_by(name: str, function: Any, given: dict[str, Any], seed: int) -> Adapted:
    """Adapt the detector or model that a function returns."""
    accepted, takes_all = _arguments(function)
    chosen = {key: value for key, value in given.items() if takes_all or key in accepted}
    rest = {key: value for key, value in given.items() if key not in chosen}
    seeded = _seed_of(accepted, chosen, seed)
    made = _called(name, function, {**seeded, **chosen})
    if not isinstance(made, Detector) and (isinstance(made, type) or not hasattr(made, "fit")):
        raise InvalidInputError(
            f"`{name}` must return a detector or a model with `fit`, got {made!r}; a function that "
            "scores a series must take the values as its first argument, without a default"
        )
    adapted = adapt(made, rest, seed=seed, name=name)
    return Adapted(adapted.detector, adapted.stochastic or bool(seeded))


def _adapted_function(name: str, function: Any, given: dict[str, Any], seed: int) -> Adapted:
    accepted, takes_all = _arguments(function)
    # Every detector receives `impute`; a function may handle NaN itself.
    impute = given.get("impute")
    if "impute" in accepted:
        impute = None if impute is None else KEEP
    else:
        given.pop("impute", None)
    if not takes_all:
        _check_names(name, given, {*accepted[1:], "impute"})
    seeded = {"seed": seed} if "seed" in accepted else {}
    bound = functools.partial(function, **{**given, **seeded})
    functools.update_wrapper(bound, function)  # so that errors name the function
    return Adapted(FunctionDetector(bound, seed=seed, impute=impute), bool(seeded))
