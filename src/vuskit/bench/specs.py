"""Detectors and evaluations of a plan: small, picklable, with an identity."""

from __future__ import annotations

import functools
import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vuskit.bench.identity import canonical, code_version, import_object
from vuskit.buffers import BufferChoice, list_buffer_strategies
from vuskit.detectors import KEEP, Detector, FunctionDetector, detector_class, get_detector
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_int
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import Measure, get_measure
from vuskit.measures.settings import EvaluationSettings

__all__ = ["DetectorSpec", "EvaluationSpec", "MeasureSpec"]


@dataclass(frozen=True)
class DetectorSpec:
    """A detector by name (or ``module:object``) with its parameters.

    Parameters
    ----------
    name : str
        A registered name, or ``module:name`` of a `Detector` class or a plain function.
    params : str
        Canonical JSON of the parameters, the seed aside.
    label : str
        Its name in tables.
    folder : str, optional
        Where the plan lies; modules beside it can be imported.

    Examples
    --------
    >>> spec = DetectorSpec("lof", '{"n_neighbors":5}', "LOF")
    >>> spec.build(seed=3)
    lof(impute=None, n_neighbors=5, normalize=None, seed=3, train_share=None, window='period')
    """

    name: str
    params: str
    label: str
    folder: str | None = None

    @classmethod
    def of(cls, name: str, params: dict[str, Any], label: str, folder: str | None) -> DetectorSpec:
        """Make one from a mapping of parameters."""
        return cls(name, canonical(params), label, folder)

    def build(self, seed: int) -> Detector:
        """Make the detector.

        Raises
        ------
        InvalidInputError
            If the name, a parameter or a value is not accepted.
        """
        params = json.loads(self.params)
        if ":" not in self.name:
            return get_detector(self.name, **params, seed=seed)
        thing = self._imported()
        if isinstance(thing, type) and issubclass(thing, Detector):
            return thing(**params, seed=seed)
        if not callable(thing):
            raise InvalidInputError(
                f"`{self.name}` must be a detector or a function, got {thing!r}"
            )
        # Every detector is told so what to do with NaN; a function may do it itself.
        impute = params.get("impute")
        if "impute" in inspect.signature(thing).parameters:
            impute = None if impute is None else KEEP
        else:
            params.pop("impute", None)
        bound = _bound(self.name, thing, params, seed)
        return FunctionDetector(bound, seed=seed, impute=impute)

    def identity(self, seed: int) -> str:
        """All that decides the scores: name, every parameter, seed, version of the code."""
        if ":" not in self.name:
            return f"{self.build(seed)!r} {code_version(detector_class(self.name))}"
        return f"{self.name} {self.params} seed={seed} {code_version(self._imported())}"

    @property
    def stochastic(self) -> bool:
        """Whether the seed can make a difference; a function must take one for that."""
        thing = detector_class(self.name) if ":" not in self.name else self._imported()
        if isinstance(thing, type):
            return bool(getattr(thing, "stochastic", True))
        return "seed" in inspect.signature(thing).parameters

    def accepts(self, n_channels: int) -> bool:
        """Whether series with so many channels are accepted."""
        if ":" not in self.name:
            return n_channels == 1 or detector_class(self.name).multivariate
        return n_channels == 1 or bool(getattr(self._imported(), "multivariate", True))

    def _imported(self) -> Any:
        return import_object(self.name, Path(self.folder) if self.folder else None)


def _bound(name: str, function: Any, params: dict[str, Any], seed: int) -> Any:
    """Fix the parameters of a function; one that takes a seed gets it."""
    accepted = inspect.signature(function).parameters
    takes_all = any(entry.kind is entry.VAR_KEYWORD for entry in accepted.values())
    for given in params:
        if given not in accepted and not takes_all:
            raise InvalidInputError(f"{name} has no parameter {given!r}")
    fixed = {**params, "seed": seed} if "seed" in accepted else params
    bound = functools.partial(function, **fixed)
    functools.update_wrapper(bound, function)  # errors name the function, not the wrapping
    return bound


@dataclass(frozen=True)
class MeasureSpec:
    """A measure by name, with options fixed.

    Examples
    --------
    >>> MeasureSpec("f_score", '{"beta":2}').build().name
    'f_score(beta=2)'
    """

    name: str
    options: str = "{}"

    def build(self) -> Measure:
        """Return the measure.

        Raises
        ------
        InvalidInputError
            If there is none of that name, or it does not have an option.
        """
        measure, options = get_measure(self.name), json.loads(self.options)
        accepted = inspect.signature(measure.function).parameters
        for option in options:
            check_choice(f"{self.name}.{option}", option, list(accepted)[2:])
        return measure.with_options(**options) if options else measure

    @property
    def identity(self) -> str:
        """Name with options, and the version of its code."""
        return _measure_identity(self)

    @property
    def of_package(self) -> bool:
        """Whether it is one of vuskit's, not the user's own."""
        return self.identity.rpartition(" @ ")[2].startswith("vuskit ")


# Asked once per job; looking it up takes as long as a small evaluation.
@functools.lru_cache(maxsize=1024)
def _measure_identity(spec: MeasureSpec) -> str:
    measure = spec.build()
    return f"{measure.name} @ {code_version(measure.function)}"


@dataclass(frozen=True)
class EvaluationSpec:
    """How scores are evaluated: the buffer's strategy and the settings, without the measures.

    Examples
    --------
    >>> EvaluationSpec(buffer="median_anomaly", thresholds=250).identity
    'buffer=median_anomaly, thresholds=250, definition=journal'
    """

    buffer: int | str
    buffer_fallback: int | None = None
    thresholds: int | None = None
    definition: str = EvaluationSettings.definition
    step: int = 1
    side: str = "both"
    threshold: str | float = "sigma"

    def __post_init__(self) -> None:
        if isinstance(self.buffer, str):
            check_choice("buffer", self.buffer, list_buffer_strategies())
        else:
            check_int("buffer", self.buffer, minimum=0)
        # The evaluator is the one that knows which settings go together.
        self.evaluator([0, 1], BufferChoice(0, "number", "given"), ("auc_roc",))([0, 1])

    @property
    def identity(self) -> str:
        """The settings in one line."""
        thresholds = "all" if self.thresholds is None else self.thresholds
        shown = f"buffer={self.buffer}"
        if self.buffer_fallback is not None:
            shown += f" else {self.buffer_fallback}"
        shown += f", thresholds={thresholds}, definition={self.definition}"
        if self.step != 1:
            shown += f", step={self.step}"
        if self.side != "both":
            shown += f", side={self.side}"
        if self.threshold != "sigma":
            shown += f", threshold={self.threshold}"
        return shown

    def evaluator(self, labels: Any, buffer: BufferChoice, measures: Any) -> Evaluator:
        """Return the evaluator of some labels."""
        return Evaluator(
            labels,
            buffer=buffer.length,
            measures=measures,
            thresholds=self.thresholds,
            definition=self.definition,
            step=self.step,
            side=self.side,
            threshold=self.threshold,
        )
