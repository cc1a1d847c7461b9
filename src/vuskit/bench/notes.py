"""What a plan has to say about its files: few lines, however many files there are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from vuskit._util.names import matches_name
from vuskit._util.text import listed, quoted
from vuskit.bench.sources import SeriesRef
from vuskit.bench.specs import DetectorSpec

__all__ = ["series_notes", "unclaimed_files", "unfitting_files"]

_SHOWN = 6


def unclaimed_files(
    folder: Path, paths: Iterable[Path], names: Sequence[str], *, wanted: str | None = None
) -> list[str]:
    """Say which files of a folder are read by no format.

    Parameters
    ----------
    folder : Path
        Where they lie.
    paths : iterable of Path
        The files.
    names : sequence of str
        Patterns of the plan; files that fit none of them are nobody's concern.
    wanted : str, optional
        The header that was looked for; otherwise every format.

    Examples
    --------
    >>> unclaimed_files(Path("data"), [Path("data/a.tab"), Path("data/b.csv")], ["a*"])
    ["data: 1 file has no known format (a table needs a column of labels) and is left out: 'a.tab'"]
    """
    keys = [path.relative_to(folder).as_posix() for path in paths]
    kept = [key for key in keys if not names or any(matches_name(key, name) for name in names)]
    if not kept:
        return []
    lacking = (
        "no known format (a table needs a column of labels)"
        if wanted is None
        else f"not the header {wanted}"
    )
    return [f"{folder}: {_files(kept, 'has', 'have')} {lacking} and {_left_out(kept)}"]


def unfitting_files(folder: Path, keys: Sequence[str], pattern: str) -> list[str]:
    """Say which files of a folder the pattern fits for no series of the plan.

    Examples
    --------
    >>> unfitting_files(Path("mine"), ["x.npy"], "{series}.npy")
    ["mine: 1 file fits '{series}.npy' for no series of the plan and is left out: 'x.npy'"]
    """
    if not keys:
        return []
    fit = f"{_files(keys, 'fits', 'fit')} {pattern!r} for no series of the plan"
    return [f"{folder}: {fit} and {_left_out(keys)}"]


def series_notes(series: Iterable[SeriesRef], detectors: Iterable[DetectorSpec]) -> list[str]:
    """Say which columns were taken for no channel, and which series have missing values.

    Parameters
    ----------
    series : iterable of SeriesRef
        Those of the plan.
    detectors : iterable of DetectorSpec
        Those of the plan; some may not be told what to do with missing values.
    """
    by_reason: dict[str, list[str]] = {}
    missing = []
    for ref in series:
        for column in ref.left_out:
            by_reason.setdefault(column, []).append(ref.title)
        if ref.n_missing:
            missing.append(ref.title)
    notes = [
        f"left out as a channel: {column}, in {listed(titles, most=_SHOWN)}; "
        "options = {values = [...]} names the channels"
        for column, titles in by_reason.items()
    ]
    unready = [one.label for one in detectors if json.loads(one.params).get("impute") is None]
    if missing and unready:
        labels = listed(list(dict.fromkeys(unready)), most=_SHOWN)
        notes.append(
            f"missing values (NaN) in {listed(missing, most=_SHOWN)}; "
            f"without `impute` these fail there: {labels}"
        )
    return notes


def _files(names: Sequence[str], one: str, many: str) -> str:
    return f"1 file {one}" if len(names) == 1 else f"{len(names):,} files {many}"


def _left_out(names: Sequence[str]) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"{verb} left out: {quoted(names, most=_SHOWN)}"
