"""Results of studies in files, one for each study, to be looked at later.

A file is an ``.npz`` archive: a header of JSON text that names the kind, the schema and the
settings, and the numbers as arrays. The same result gives the same bytes.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit import __version__
from vuskit._util.files import write_atomically
from vuskit.errors import InvalidInputError
from vuskit.studies.consistency import ConsistencyResult
from vuskit.studies.robustness import RobustnessResult
from vuskit.studies.saved_forms import (
    Arrays,
    Header,
    consistency_parts,
    restore_consistency,
    restore_robustness,
    restore_scenarios,
    restore_separability,
    restore_summary,
    restore_timing,
    robustness_parts,
    scenarios_parts,
    separability_parts,
    summary_parts,
    timing_parts,
)
from vuskit.studies.scenarios import ScenarioResult
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.summary import Summary
from vuskit.studies.timing import TimingResult

__all__ = [
    "SCHEMA_VERSION",
    "list_saved_studies",
    "read_study_result",
    "read_study_results",
    "save_study_result",
]

SCHEMA_VERSION = 1
"""Grows when files that are written can no longer be read by an earlier version."""

_FORMAT = "vuskit study result"
_ENDING = "_result.npz"
_UNREADABLE = (OSError, EOFError, ValueError, KeyError, TypeError, IndexError, zipfile.BadZipFile)


@dataclass(frozen=True)
class _Form:
    """How results of one kind are taken apart and put together."""

    result: type
    parts: Callable[[Any], tuple[Header, Arrays]]
    restore: Callable[[Header, Mapping[str, NDArray[Any]]], Any]


_FORMS: dict[str, _Form] = {
    "robustness": _Form(RobustnessResult, robustness_parts, restore_robustness),
    "separability": _Form(SeparabilityResult, separability_parts, restore_separability),
    "consistency": _Form(ConsistencyResult, consistency_parts, restore_consistency),
    "scenarios": _Form(ScenarioResult, scenarios_parts, restore_scenarios),
    "summary": _Form(Summary, summary_parts, restore_summary),
    "timing": _Form(TimingResult, timing_parts, restore_timing),
}


def list_saved_studies() -> list[str]:
    """Names of the studies whose results can be saved.

    Examples
    --------
    >>> list_saved_studies()
    ['robustness', 'separability', 'consistency', 'scenarios', 'summary', 'timing']
    """
    return list(_FORMS)


def save_study_result(result: Any, folder: str | Path) -> Path:
    """Save the result of a study in a folder, over an earlier one of the same study.

    Parameters
    ----------
    result : RobustnessResult, SeparabilityResult, ConsistencyResult, ScenarioResult, Summary, \
TimingResult
        What a study returned.
    folder : str or Path
        Made if it does not exist.

    Returns
    -------
    Path
        The file, such as ``robustness_result.npz``.

    Raises
    ------
    InvalidInputError
        If it is not the result of a study.

    Examples
    --------
    >>> import tempfile
    >>> from vuskit.studies import scenario_study
    >>> path = save_study_result(scenario_study(measures=["vus_pr"]), tempfile.mkdtemp())
    >>> path.name, float(read_study_result(path).values.max())
    ('scenarios_result.npz', 1.0)
    """
    kind = _kind_of(result)
    header, arrays = _FORMS[kind].parts(result)
    first = {"format": _FORMAT, "schema": SCHEMA_VERSION, "kind": kind, "vuskit": __version__}
    text = json.dumps({**first, **header}, default=_plain)
    stream = io.BytesIO()
    encoded = np.frombuffer(text.encode(), dtype=np.uint8)
    np.savez_compressed(stream, allow_pickle=False, header=encoded, **arrays)
    path = Path(folder) / f"{kind}{_ENDING}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, stream.getvalue())
    return path


def _kind_of(result: Any) -> str:
    for kind, form in _FORMS.items():
        if isinstance(result, form.result):
            return kind
    raise InvalidInputError(
        f"`result` must be the result of a study ({', '.join(_FORMS)}), got {type(result).__name__}"
    )


def _plain(value: Any) -> Any:
    """What JSON does not know: numbers of NumPy as numbers, anything else as its text."""
    return value.item() if isinstance(value, np.generic) else str(value)


def read_study_result(path: str | Path) -> Any:
    """Read what :func:`save_study_result` wrote.

    Measures come back with their names, titles and families. A measure that is not registered
    here can be shown but not computed again.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    object
        A result equal to the one that was saved.

    Raises
    ------
    InvalidInputError
        If it is no such file, is damaged, or comes from a later version.
    """
    place = Path(path)
    try:
        with np.load(io.BytesIO(place.read_bytes()), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop("header").tobytes().decode())
        if header["format"] != _FORMAT:
            raise ValueError(header["format"])
        schema, kind = int(header["schema"]), str(header["kind"])
    except _UNREADABLE as error:
        raise InvalidInputError(
            f"`path` must be a saved result of a study, got {str(place)!r}, which cannot be read "
            f"as one ({type(error).__name__})"
        ) from error
    if schema > SCHEMA_VERSION or kind not in _FORMS:
        raise InvalidInputError(
            f"`path` must hold a result of a kind and schema that vuskit {__version__} knows "
            f"(schema {SCHEMA_VERSION}), got {kind!r} in schema {schema}, written by vuskit "
            f"{header.get('vuskit')}: {place}"
        )
    try:
        return _FORMS[kind].restore(header, arrays)
    except _UNREADABLE as error:
        raise InvalidInputError(
            f"`path` must be a whole result of a study, got {str(place)!r}, in which something "
            f"is missing or damaged ({type(error).__name__}: {error})"
        ) from error


def read_study_results(folder: str | Path) -> list[Any]:
    """Read every saved result in a folder and in the folders below it.

    Parameters
    ----------
    folder : str or Path
        Such as the ``--output`` of ``vuskit study``; a single file will do too.

    Returns
    -------
    list
        In the order of :func:`list_saved_studies`, each kind by path.

    Raises
    ------
    InvalidInputError
        If there is no such folder, it holds no results, or one of them cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from vuskit.studies import scenario_study
    >>> folder = tempfile.mkdtemp()
    >>> _ = save_study_result(scenario_study(measures=["vus_pr"]), folder)
    >>> [type(result).__name__ for result in read_study_results(folder)]
    ['ScenarioResult']
    """
    place = Path(folder)
    if place.is_file():
        return [read_study_result(place)]
    found = [path for kind in _FORMS for path in _files_of(place, kind)]
    if not found:
        raise InvalidInputError(
            f"`folder` must hold results of studies, such as robustness{_ENDING}, got none in "
            f"{str(place)!r}; `vuskit study all SCORES --output FOLDER` makes them"
        )
    return [read_study_result(path) for path in found]


def _files_of(place: Path, kind: str) -> Iterable[Path]:
    return sorted(place.rglob(f"{kind}{_ENDING}"))
