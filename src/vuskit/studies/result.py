"""Results of studies: tables, figures, values of series, and their saved form.

A result is one ``.npz`` archive: JSON for structure, arrays for numbers. Equal results give equal
bytes. Reading a file never imports or executes code: dataclasses and functions are looked up in a
table of known ones.
"""

from __future__ import annotations

import abc
import dataclasses
import hashlib
import io
import json
import os
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from vuskit import __version__
from vuskit._util.files import write_atomically
from vuskit._util.optional import pd, require
from vuskit._util.tables import TableForms, TableLayout
from vuskit._util.text import did_you_mean, plural
from vuskit.bench.run import open_scores
from vuskit.buffers import BufferChoice, buffer_strategy_title
from vuskit.datasets import ScoredSeries
from vuskit.datasets.inputs import Source
from vuskit.errors import InvalidInputError, VuskitError
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure, MeasureProperties, list_measures
from vuskit.measures.settings import EvaluationSettings

SCHEMA_VERSION = 4
"""Incremented when the saved form changes; results in another schema are refused."""

_FORMAT = "vuskit study result"
_ENDING = "_result.npz"


@dataclass(frozen=True)
class SeriesNames:
    """Names of a series, its scores and its detectors."""

    dataset: str
    series: str
    runs: tuple[str, ...]
    detectors: tuple[str, ...]

    @classmethod
    def of(cls, scored: ScoredSeries) -> SeriesNames:
        """Return the names of a series with scores."""
        series = scored.series
        return cls(series.dataset, series.name, tuple(scored.scores), scored.detectors)

    @property
    def title(self) -> str:
        """Data set and series."""
        return f"{self.dataset}/{self.series}"

    def by_placeholder(self) -> dict[str, str]:
        """Return the names of the detectors by the placeholders of `without_names`."""
        return {_placeholder(place): name for place, name in enumerate(self.detectors)}


def _placeholder(place: int) -> str:
    return f"detector {place}"


def without_names(scored: ScoredSeries) -> ScoredSeries:
    """Return the series and its scores with placeholders instead of names."""
    repeats: dict[str, tuple[str, ...]] = {}
    renamed: dict[str, str] = {}
    for place, detector in enumerate(scored.detectors):
        runs = scored.repeats.get(detector, (detector,))
        name = _placeholder(place)
        names = (name,) if len(runs) == 1 else tuple(f"{name} ({run})" for run in range(len(runs)))
        renamed |= dict(zip(runs, names, strict=True))
        if len(runs) > 1:
            repeats[name] = names
    scores = {renamed[run]: score for run, score in scored.scores.items()}
    series = replace(scored.series, dataset="data set", name="series")
    return ScoredSeries(series, scores, repeats)


@dataclass(frozen=True)
class StudyInput:
    """A series that was studied.

    Attributes
    ----------
    name : str
        Data set and series.
    digest : str
        Digest of its content and its scores.
    place : str
        File of scores or folder of a run; empty for a series in memory.
    """

    name: str
    digest: str
    place: str = ""

    @classmethod
    def of(cls, source: Source, names: SeriesNames, digest: str) -> StudyInput:
        """Record the series that a source returned."""
        place: Path | None = getattr(source, "place", None)
        return cls(names.title, digest, "" if place is None else str(place.resolve()))


def changed_inputs(inputs: Iterable[StudyInput]) -> list[StudyInput]:
    r"""Return the inputs whose file or run still exists but whose content has changed.

    Inputs in memory and deleted inputs cannot be checked.

    Parameters
    ----------
    inputs : iterable of StudyInput
        Inputs of one or several results; each file is read once.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from vuskit.studies import run_study
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("a", "b", "c"):
    ...     _ = (folder / f"{name}.csv").write_text("value,label,mine\n1,0,0.1\n9,1,0.8\n")
    >>> found = run_study("consistency", folder, measures=["auc_pr"], buffer=1)
    >>> _ = (folder / "b.csv").write_text("value,label,mine\n1,1,0.1\n9,0,0.8\n")
    >>> [one.name.rpartition("/")[2] for one in changed_inputs(found.inputs)]
    ['b']
    """
    known: dict[str, set[str] | None] = {}
    changed = []
    for one in dict.fromkeys(inputs):
        if one.place not in known:
            known[one.place] = _digests_at(Path(one.place)) if one.place else None
        digests = known[one.place]
        if digests is not None and one.digest not in digests:
            changed.append(one)
    return changed


def _digests_at(place: Path) -> set[str] | None:
    """Digests of the series that a file or a run holds now; None if it was deleted."""
    if not place.exists():
        return None
    found = set()
    with suppress(VuskitError, OSError):  # files that can no longer be read count as changed
        for source in open_scores(place):
            with suppress(VuskitError, OSError):
                found.add(content_of(source.read()))
    return found


def shared_place(inputs: Iterable[StudyInput]) -> str:
    """Return the common file or folder of all inputs; empty if one was in memory."""
    places = {one.place for one in inputs}
    if not places or "" in places:
        return ""
    try:
        return os.path.commonpath(places)
    except ValueError:  # the inputs are on different drives
        return ""


def content_of(scored: ScoredSeries) -> str:
    """Return a digest of values, labels, scores and their grouping by detector, without names."""
    runs = list(scored.scores)
    together = [
        [runs.index(run) for run in scored.repeats.get(detector, (detector,))]
        for detector in scored.detectors
    ]
    digest = hashlib.sha256(f"vuskit-scored-1 {together}\n".encode())
    digest.update(scored.series.content_hash.encode())
    for score in scored.scores.values():
        digest.update(np.ascontiguousarray(score, dtype="<f8").tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Failure:
    """A series that could not be studied.

    Attributes
    ----------
    name : str
        Name of the series or its file.
    reason : str
        Error message.
    """

    name: str
    reason: str


@dataclass(frozen=True, eq=False)
class StudyResult(TableForms, abc.ABC):
    """Base class of results; subclasses are frozen dataclasses.

    Fields hold plain data, arrays, pandas tables, measures, `SeriesValues`, or dataclasses that the
    study declares as ``known``. Tables and figures are computed from them.

    Attributes
    ----------
    study : Study
        The study with its settings and options.
    failures : tuple of Failure
        Series that could not be studied.
    inputs : tuple of StudyInput
        The series that were studied: names, digests of their content, and locations.
    core : str
        Core that computed the values, ``"native"`` or ``"numpy"``; empty if unknown. A summary of
        results from both lists both.
    kind : str
        Name of the study.
    """

    kind: ClassVar[str] = ""

    study: Any = field(default=None, kw_only=True)
    failures: tuple[Failure, ...] = field(default=(), kw_only=True)
    inputs: tuple[StudyInput, ...] = field(default=(), kw_only=True)
    core: str = field(default="", kw_only=True)

    @abc.abstractmethod
    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables by name, as they are written to files."""

    def figures(self) -> dict[str, Any]:
        """Return the displays by name, in page order."""
        return {}

    def score(self) -> pd.Series | pd.DataFrame | None:
        """Return one number per measure for the summary.

        A table adds one column of the summary for each of its columns. None excludes the study
        from the summary.
        """
        return None

    def overview(self) -> pd.DataFrame:
        """Return the table to print: one row for each measure, indexed by name."""
        found: Any = self.score()
        if found is None:
            raise InvalidInputError(
                f"`{type(self).__name__}` must define overview() or score(), got neither"
            )
        return found if hasattr(found, "columns") else found.to_frame(self.kind)

    def to_frame(self) -> pd.DataFrame:
        """Return the overview; studies with a table of all values return that table."""
        return self.overview()

    @property
    def _layout(self) -> TableLayout:
        """Lay out the overview, with the titles of the measures."""
        frame = self.overview().rename(index={one.name: one.title for one in self.measures})
        frame.index.name = "measure"
        caption, lines = self.about(), [] if self.study is None else [self.options_line]
        notes = [f"{note}." for note in (*self.notes(), *lines)]
        return TableLayout.of_frame(frame.reset_index(), notes=notes, caption=caption)

    def about(self) -> str:
        """Describe the study in sentences; the caption of its table."""
        return str(self.study.question)

    def notes(self) -> tuple[str, ...]:
        """Return remarks on the numbers, as phrases without a final period."""
        return ()

    @property
    def options_line(self) -> str:
        """All options and settings of the study in one line."""
        return str(self.study.options_line())

    def facts(self) -> dict[str, Any]:
        """Return the facts behind caption and notes as plain data."""
        return {}

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        measures: tuple[Measure, ...] = self.study.measures
        return measures

    @property
    def buffers(self) -> BufferUse | None:
        """Buffers of the series; None if the study has no series."""
        return None

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data set of each series; empty unless the numbers are means over data sets."""
        return ()

    def with_options(self, **options: Any) -> Self:
        """Return the result with other values of options of the stage ``"result"``.

        Raises
        ------
        InvalidInputError
            If the values of the series depend on an option; run the study again instead.
        """
        free = [name for name, one in self.study.options().items() if one.stage == "result"]
        for name in options:
            check_choice("options", name, free)
        return replace(self, study=replace(self.study, **options))

    def save(self, folder: str | Path) -> Path:
        """Save the result as ``<study>_result.npz``; replaces an earlier result of the study.

        Parameters
        ----------
        folder : str or Path
            Created if it does not exist.

        Returns
        -------
        Path
            The file; :func:`load_study_result` loads it.

        Examples
        --------
        >>> import tempfile
        >>> from vuskit.studies import load_study_result, run_study
        >>> path = run_study("scenarios", measures=["vus_pr"]).save(tempfile.mkdtemp())
        >>> path.name, float(load_study_result(path).values.max())
        ('scenarios_result.npz', 1.0)
        """
        data = pack(
            self,
            format=_FORMAT,
            schema=SCHEMA_VERSION,
            kind=self.kind,
            vuskit=__version__,
        )
        path = Path(folder) / f"{self.kind}{_ENDING}"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
        return path


@dataclass(frozen=True, eq=False)
class SeriesValues:
    """Values of measures on one series.

    Attributes
    ----------
    dataset, series : str
        Names of the data set and the series.
    buffer : int
        Buffer of R-AUC.
    axes : mapping from str to tuple of str
        Axes of `values` in order, with the names along each axis.
    values : array
        NaN where a measure is undefined.
    notes : mapping
        Additional facts, as plain data.
    """

    dataset: str
    series: str
    buffer: int
    axes: Mapping[str, tuple[str, ...]]
    values: NDArray[np.float64]
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = tuple(map(len, self.axes.values()))
        if np.shape(self.values) != shape:
            raise ValueError(
                f"`values` must have the shape of the axes, {shape}, got {np.shape(self.values)}"
            )

    @classmethod
    def of(
        cls,
        scored: ScoredSeries,
        buffer: BufferChoice,
        axes: Mapping[str, tuple[str, ...]],
        values: NDArray[np.float64],
        **notes: Any,
    ) -> Self:
        """Return values on a series with scores."""
        return cls(scored.series.dataset, scored.series.name, buffer.length, axes, values, notes)

    @property
    def name(self) -> str:
        """Data set and series."""
        return f"{self.dataset}/{self.series}"

    def frame(self, *axes: str, **columns: NDArray[Any]) -> pd.DataFrame:
        """Return arrays over some of the axes as columns, one row for each combination of names."""
        places = pd.MultiIndex.from_product([self.axes[axis] for axis in axes], names=axes)
        frame = places.to_frame(index=False)
        for place, name in enumerate(("dataset", "series", "buffer")):
            frame.insert(place, name, getattr(self, name))
        return frame.assign(**{name: values.ravel() for name, values in columns.items()})


@dataclass(frozen=True, eq=False)
class ValuesResult(StudyResult):
    """A result that stores the values of every series.

    Attributes
    ----------
    values : tuple of SeriesValues
        One for each series.
    """

    values: tuple[SeriesValues, ...]

    @property
    def buffers(self) -> BufferUse:
        """Buffers of the series."""
        return BufferUse.of(self.study.settings, (one.buffer for one in self.values))

    def series_named(self, name: str) -> SeriesValues:
        """Return the values of one series, given its name with or without the data set.

        Raises
        ------
        InvalidInputError
            If no series, or more than one, has this name.
        """
        found = [one for one in self.values if name in (one.series, one.name)]
        if len(found) != 1:
            raise InvalidInputError(
                f"`series` must name one series, got {name!r}, which names {len(found)} series"
                f"{did_you_mean(name, [one.name for one in self.values])}"
            )
        return found[0]

    def _concat(self, frame_of: Callable[[SeriesValues], pd.DataFrame]) -> pd.DataFrame:
        """Concatenate the tables of all series."""
        if not self.values:
            raise InvalidInputError(
                f"`values` must hold at least one series, got none{_failures_hint(self.failures)}"
            )
        return pd.concat(list(map(frame_of, self.values)), ignore_index=True)

    def _by_series(self, frame: pd.DataFrame, column: str, how: str) -> pd.DataFrame:
        """Mean or sum of a column: one row for each series, one column for each measure."""
        table = frame.pivot_table(
            index=["dataset", "series"],
            columns="measure",
            values=column,
            aggfunc=how,
            dropna=False,
            sort=False,
            observed=True,
        )
        order = list(dict.fromkeys(zip(frame["dataset"], frame["series"], strict=True)))
        return table.loc[order, list(self.study.names)]


def _failures_hint(failures: tuple[Failure, ...]) -> str:
    """Return how many series failed, and the reason of the first failure."""
    if not failures:
        return ""
    first = failures[0]
    count = plural(len(failures), "series", "series")
    return f"; {count} failed; the first one, {first.name}: {first.reason}"


@dataclass(frozen=True)
class BufferUse:
    """Buffers that a study used.

    Attributes
    ----------
    strategy : str or int
        Strategy that chose the buffers, or the length that was given.
    shortest, typical, longest : int
        Smallest, median and largest buffer of R-AUC.
    volume_factor : float
        Longest buffer of VUS, as a multiple of the buffer of R-AUC.
    """

    strategy: str | int
    shortest: int
    typical: int
    longest: int
    volume_factor: float

    @classmethod
    def of(cls, settings: EvaluationSettings, buffers: Iterable[int]) -> BufferUse:
        """Summarize the buffers of several series.

        Examples
        --------
        >>> settings = EvaluationSettings(buffer="median_anomaly", volume_factor=1.0)
        >>> print(BufferUse.of(settings, [20, 50, 30]))
        the median length of the anomalies (median_anomaly): 20 to 50 points, median 30
        >>> print(BufferUse.of(EvaluationSettings(buffer=24, volume_factor=2.0), [24, 24]))
        24 points; VUS up to 2 times that
        """
        lengths = list(buffers) or [0]
        rule = settings.buffer
        return cls(
            rule if isinstance(rule, str) else int(rule or 0),
            min(lengths),
            round(median(lengths)),
            max(lengths),
            settings.volume_factor,
        )

    def __str__(self) -> str:
        longer = self.volume_factor != 1
        return self._lengths() + f"; VUS up to {self.volume_factor:g} times that" * longer

    def _lengths(self) -> str:
        if not isinstance(self.strategy, str):
            return f"{self.strategy} points"
        rule = f"{buffer_strategy_title(self.strategy)} ({self.strategy})"
        if self.shortest == self.longest:
            return f"{rule}: {self.longest} points"
        return f"{rule}: {self.shortest} to {self.longest} points, median {self.typical}"

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as plain data."""
        return {
            "strategy": self.strategy if isinstance(self.strategy, str) else "number",
            "shortest": self.shortest,
            "median": self.typical,
            "longest": self.longest,
            "volume_factor": self.volume_factor,
        }


KNOWN = (SeriesValues, Failure, StudyInput, EvaluationSettings, BufferChoice)
"""Classes that every saved result may contain."""


def load_study_result(path: str | Path) -> Any:
    """Load a result that :meth:`StudyResult.save` wrote.

    Measures keep their names, titles and families. A measure that is not registered here can be
    shown but not computed.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    StudyResult
        A result equal to the one that was saved.

    Raises
    ------
    InvalidInputError
        If the file is not a saved result, is damaged, has another schema, or belongs to a study
        that is not registered.
    """
    from vuskit.studies.base import get_study  # imports this module

    place = Path(path)
    try:
        header, arrays = read_archive(place.read_bytes())
        if header["format"] != _FORMAT:
            raise ValueError(header["format"])
        schema, kind = int(header["schema"]), str(header["kind"])
    except UNREADABLE as error:
        raise InvalidInputError(
            f"`path` must be a saved result of a study, got {str(place)!r}, which cannot be read "
            f"as one ({type(error).__name__})"
        ) from error
    if schema != SCHEMA_VERSION:
        raise InvalidInputError(
            f"`path` must hold a result in schema {SCHEMA_VERSION}, got {kind!r} in schema "
            f"{schema}, written by vuskit {header.get('vuskit')}: {place}; run the study again"
        )
    cls = get_study(kind)
    try:
        known: tuple[Callable[..., Any], ...] = (*KNOWN, cls, cls.result, *cls.known)
        result: Any = decode(header["value"], arrays, known)
        if not isinstance(result, cls.result):
            raise TypeError(type(result).__name__)
    except UNREADABLE as error:
        raise InvalidInputError(
            f"`path` must be a complete result of a study, got {str(place)!r}: something is "
            f"missing or damaged ({type(error).__name__}: {error}); run the study again"
        ) from error
    return result


def load_study_results(folder: str | Path) -> list[Any]:
    """Load every saved result in a folder and its subfolders.

    Parameters
    ----------
    folder : str or Path
        A folder, such as the ``--output`` of ``vuskit study``, or a single file.

    Returns
    -------
    list of StudyResult
        In the order of :func:`list_studies`; results of the same study by path.

    Raises
    ------
    InvalidInputError
        If the folder does not exist or holds no results, or a result cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from vuskit.studies import run_study
    >>> folder = tempfile.mkdtemp()
    >>> _ = run_study("scenarios", measures=["vus_pr"]).save(folder)
    >>> [type(result).__name__ for result in load_study_results(folder)]
    ['ScenarioResult']
    """
    from vuskit.studies.base import list_studies

    place = Path(folder)
    if place.is_file():
        return [load_study_result(place)]
    order = {f"{one.name}{_ENDING}": number for number, one in enumerate(list_studies())}
    found = sorted(
        place.rglob(f"*{_ENDING}"), key=lambda path: (order.get(path.name, len(order)), path)
    )
    if not found:
        raise InvalidInputError(
            f"`folder` must hold results of studies, such as robustness{_ENDING}, got none in "
            f"{str(place)!r}; `vuskit study all SCORES --output FOLDER` creates them"
        )
    return [load_study_result(path) for path in found]


UNREADABLE = (OSError, EOFError, ValueError, KeyError, TypeError, IndexError, zipfile.BadZipFile)
"""Exceptions that `unpack` raises for damaged files."""

_HEADER = "header"
_NUMBERS = "biufc"
_MEASURE_FIELDS = (
    "name", "title", "family", "bounds", "higher_is_better", "reference", "group",
    "misleading_without_chance", "options",
)  # fmt: skip


def pack(value: Any, **header: Any) -> bytes:
    """Return a value and a JSON header as bytes."""
    encoder = _Encoder()
    text = json.dumps({**header, "value": encoder.encode(value)})
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        allow_pickle=False,
        header=np.frombuffer(text.encode(), dtype=np.uint8),
        **{name: np.concatenate(parts) for name, parts in encoder.blocks.items()},
    )
    return stream.getvalue()


def unpack(data: bytes, known: Iterable[Callable[..., Any]] = ()) -> tuple[dict[str, Any], Any]:
    """Return the header and the value from the bytes of `pack`."""
    header, arrays = read_archive(data)
    return header, decode(header.pop("value"), arrays, known)


def decode(
    value: Any, arrays: Mapping[str, NDArray[Any]], known: Iterable[Callable[..., Any]]
) -> Any:
    """Return the value of an archive; `known` are the dataclasses and functions it may contain."""
    return _Decoder(arrays, {one.__qualname__: one for one in known}).decode(value)


def read_archive(data: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the JSON header and the arrays of an archive."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays.pop(_HEADER).tobytes().decode())
    if not isinstance(header, dict):
        raise ValueError("the header is not an object")
    return header, arrays


class _Encoder:
    """Converts a value to JSON, and collects its arrays in one block for each dtype."""

    def __init__(self) -> None:
        self.blocks: dict[str, list[NDArray[Any]]] = {}
        self._sizes: dict[str, int] = {}

    def encode(self, value: Any) -> Any:
        match value:
            case np.generic():
                return self.encode(value.item())
            case None | bool() | int() | float() | str():
                return value
            case np.ndarray():
                return self._array(value)
            case Measure():
                return {"$measure": self._attributes(value, _MEASURE_FIELDS)}
            case tuple():
                return {"$tuple": list(map(self.encode, value))}
            case list():
                return list(map(self.encode, value))
            case Mapping() if all(isinstance(key, str) and key[:1] != "$" for key in value):
                return {key: self.encode(item) for key, item in value.items()}
            case Mapping():
                return {"$items": [[self.encode(key), self.encode(value[key])] for key in value]}
        if _is_pandas(value):
            return self._table(value)
        kind = type(value).__qualname__
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [one.name for one in dataclasses.fields(value) if one.init]
            return {"$type": [kind, self._attributes(value, names)]}
        if callable(value):
            return {"$function": getattr(value, "__qualname__", kind)}
        raise InvalidInputError(
            "`value` must be plain data, an array, a pandas table or a dataclass to be saved, "
            f"got {type(value).__name__}; convert it in the study's `combine`"
        )

    def _attributes(self, value: Any, names: Iterable[str]) -> dict[str, Any]:
        return {name: self.encode(getattr(value, name)) for name in names}

    def _array(self, value: NDArray[Any]) -> Any:
        """Return the position of the numbers in the block of their dtype; text as a list."""
        if value.dtype.kind not in _NUMBERS:
            return {"$texts": [list(value.shape), self.encode(value.ravel().tolist())]}
        block = value.dtype.newbyteorder("<").str.lstrip("<|")
        start = self._sizes.get(block, 0)
        self._sizes[block] = start + value.size
        flat = np.ascontiguousarray(value).ravel().astype(value.dtype.newbyteorder("<"))
        self.blocks.setdefault(block, []).append(flat)
        return {"$array": [block, start, list(value.shape)]}

    def _table(self, value: Any) -> Any:
        pandas = sys.modules["pandas"]
        if isinstance(value, pandas.DataFrame):
            columns = [self._column(value.iloc[:, place]) for place in range(value.shape[1])]
            return {"$frame": [self._index(value.index), self._index(value.columns), columns]}
        if isinstance(value, pandas.Series):
            column = self._column(value)
            return {"$series": [self._index(value.index), self.encode(value.name), column]}
        return {"$index": self._index(value)}

    def _column(self, column: Any) -> Any:
        numbers = column.to_numpy()
        if isinstance(column.dtype, np.dtype) and numbers.dtype.kind in _NUMBERS:
            return self._array(numbers)
        missing = column.isna()
        return [
            None if gone else self.encode(item)
            for item, gone in zip(column.tolist(), missing, strict=True)
        ]

    def _index(self, index: Any) -> Any:
        pandas = sys.modules["pandas"]
        if isinstance(index, pandas.RangeIndex):
            return {"name": index.name, "range": [index.start, index.stop, index.step]}
        if isinstance(index, pandas.MultiIndex):
            levels = [index.get_level_values(place).tolist() for place in range(index.nlevels)]
            return {"names": list(index.names), "levels": self.encode(levels)}
        return {"name": index.name, "values": self.encode(index.tolist())}


class _Decoder:
    """Converts the JSON and the arrays of `_Encoder` back to the value."""

    def __init__(
        self, arrays: Mapping[str, NDArray[Any]], known: Mapping[str, Callable[..., Any]]
    ) -> None:
        self._arrays = arrays
        self._known = known

    def decode(self, value: Any) -> Any:
        match value:
            case list():
                return list(map(self.decode, value))
            case {"$array": [block, start, shape]}:
                return self._array(block, start, shape)
            case {"$texts": [shape, items]}:
                return np.array(items).reshape(shape)
            case {"$tuple": items}:
                return tuple(self.decode(items))
            case {"$items": items}:
                return {self.decode(key): self.decode(item) for key, item in items}
            case {"$type": [name, fields]}:
                return self._known[name](**self.decode(fields))
            case {"$function": name}:
                return self._known.get(name) or _NamedFunction(name)
            case {"$measure": fields}:
                return _restored_measure(self.decode(fields))
            case {"$frame": [index, columns, data]}:
                pandas = _pandas()
                numbers = {place: self.decode(column) for place, column in enumerate(data)}
                frame = pandas.DataFrame(numbers, index=self._index(index))
                frame.columns = self._index(columns)
                return frame
            case {"$series": [index, name, data]}:
                return _pandas().Series(
                    self.decode(data), index=self._index(index), name=self.decode(name)
                )
            case {"$index": index}:
                return self._index(index)
            case dict() if any(key.startswith("$") for key in value):
                raise KeyError(next(iter(value)))
            case dict():
                return {key: self.decode(item) for key, item in value.items()}
        return value

    def _array(self, block: str, start: int, shape: list[int]) -> NDArray[Any]:
        stop = start + int(np.prod(shape))
        numbers = self._arrays[block][start:stop]
        if numbers.size != stop - start:
            raise ValueError(
                f"block {block} must hold {stop} numbers, got {self._arrays[block].size}"
            )
        return numbers.reshape(shape)

    def _index(self, parts: Any) -> Any:
        pandas = _pandas()
        match parts:
            case {"range": numbers, "name": name}:
                return pandas.RangeIndex(*numbers, name=name)
            case {"levels": levels, "names": names}:
                return pandas.MultiIndex.from_arrays(self.decode(levels), names=names)
        return pandas.Index(self.decode(parts["values"]), name=parts["name"])


def _pandas() -> Any:
    return require("pandas", purpose="tables of saved results")


def _is_pandas(value: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series, pandas.Index))


class _NamedFunction:
    """Placeholder for a function of which only the name was saved."""

    def __init__(self, name: str) -> None:
        self.__qualname__ = self.__name__ = name

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise InvalidInputError(
            f"`{self.__name__}` must be defined to be called, got only its name from a saved "
            "result; run the study again with the function"
        )


def _restored_measure(parts: dict[str, Any]) -> Measure:
    """Return the measure; one that is not registered can be shown but not computed."""
    known = {measure.name: measure for measure in list_measures()}
    same = known.get(parts["name"].partition("(")[0])
    function = partial(_cannot_compute, parts["name"]) if same is None else same.function
    shared = same if same is not None and same.name == parts["name"] else None
    return Measure(
        **{**parts, "bounds": tuple(parts["bounds"])},
        function=function,
        properties=MeasureProperties() if shared is None else shared.properties,
    )


def _cannot_compute(name: str, *_: Any, **__: Any) -> float:
    raise InvalidInputError(
        f"`measure` must be registered to be computed, got {name!r}, known only from a saved "
        "result; load the module that defines it"
    )
