"""WFDB records (PhysioNet, such as MIT-BIH): header, signals and annotated beats."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import quoted
from vuskit.datasets.readers.registry import Candidate, parent_name, register_format, stem
from vuskit.datasets.series import Series
from vuskit.errors import InvalidInputError

__all__ = ["NORMAL_BEATS", "read_wfdb"]

NORMAL_BEATS = "NLRBej"
"""Beats of the normal class of AAMI EC57; all other beats are anomalous."""

# Codes of beats in annotation files, with their symbols.
_BEATS = {
    1: "N", 2: "L", 3: "R", 4: "a", 5: "V", 6: "F", 7: "J", 8: "A", 9: "S", 10: "E", 11: "j",
    12: "/", 13: "Q", 25: "B", 30: "?", 31: "!", 34: "e", 35: "n", 38: "f", 41: "r",
}  # fmt: skip
_NOTE, _SKIP, _AUX = 22, 59, 63
_MODIFIERS = (60, 61, 62)  # these codes modify the preceding annotation
_RESOLUTION = b"## time resolution:"
_BEFORE, _AFTER = 0.4, 0.6  # labeled part before and after a beat, as shares of the interval
_DEFAULT_GAIN = 200.0
_DEFAULT_FREQUENCY = 250.0
_MISSING = {212: -(2**11), 16: -(2**15)}
_SIGNAL = re.compile(
    r"(?P<format>\d+)(?:x(?P<frame>\d+))?(?::(?P<skew>\d+))?(?:\+(?P<offset>\d+))?"
)
_GAIN = re.compile(r"(?P<gain>[-+.\deE]+)(?:\((?P<baseline>-?\d+)\))?(?:/.*)?")


@dataclass(frozen=True)
class _Signal:
    file: str
    format: int
    offset: int
    gain: float
    baseline: int
    name: str


@dataclass(frozen=True)
class _Header:
    signals: tuple[_Signal, ...]
    frequency: float
    length: int | None


def _matches(file: Candidate) -> bool:
    return file.suffix == ".hea" and file.path.with_suffix(".atr").is_file()


def _companions(path: Path, options: Mapping[str, Any]) -> list[Path | None]:
    annotations = _annotation_file(path, options.get("annotator", "atr"))
    try:
        files = [path.with_name(signal.file) for signal in _read_header(path).signals]
    except InvalidInputError:  # reading the record reports the error
        files = []
    return [*dict.fromkeys(files), annotations]


@register_format(
    name="wfdb",
    title="WFDB record (PhysioNet, MIT-BIH)",
    layout="<record>.hea with its .dat (formats 212 and 16) and .atr",
    matches=_matches,
    possible=lambda file: file.suffix == ".hea",
    companions=_companions,
)
def read_wfdb(
    path: Path,
    *,
    dataset: str | None = None,
    values: str | Sequence[str] | None = None,
    annotator: str = "atr",
    anomalous: str | None = None,
    window: int | None = None,
) -> Series:
    """Read a record; every signal is a channel, and abnormal beats are anomalies.

    Parameters
    ----------
    path : Path
        The header, ``<record>.hea``.
    dataset : str, optional
        Name of the data set. Defaults to the folder's name.
    values : str or sequence of str, optional
        Names of signals. Defaults to all. The second of two signals with equal names gets the
        suffix ``_2``.
    annotator : str, default="atr"
        Suffix of the annotation file.
    anomalous : str, optional
        Symbols of anomalous beats, such as ``"V"``. Defaults to all except the normal class of
        AAMI EC57: N, L, R, B, e and j. Annotations other than beats are ignored.
    window : int, optional
        Number of points to label around an anomalous beat, centered on it. By default, the label
        starts 40% of the interval to the next beat before the beat, and ends 60% after it.
    """
    if window is not None and window < 1:
        raise InvalidInputError(f"`window` must be at least 1 point, got {window}")
    header = _read_header(path)
    chosen = _chosen(path, header, values)
    matrix = _read_signals(path, header)[:, list(chosen.values())]
    labels = np.zeros(matrix.shape[0], dtype=np.bool_)
    beats = _read_beats(_annotation_file(path, annotator), header.frequency)
    for first, last in _windows(beats, anomalous, window, header.frequency):
        labels[max(first, 0) : max(last + 1, 0)] = True
    return Series(
        stem(path),
        dataset or parent_name(path),
        matrix[:, 0] if len(chosen) == 1 else matrix,
        labels,
        channels=tuple(chosen),
    )


def _annotation_file(path: Path, annotator: str) -> Path:
    return path.with_name(f"{path.stem}.{annotator}")


def _chosen(path: Path, header: _Header, values: str | Sequence[str] | None) -> dict[str, int]:
    """Return the indices of the requested signals by name."""
    known: dict[str, int] = {}
    for place, signal in enumerate(header.signals):
        name, number = signal.name, 2
        while name in known:
            name, number = f"{signal.name}_{number}", number + 1
        known[name] = place
    wanted = list(known) if values is None else [values] if isinstance(values, str) else [*values]
    for name in wanted:
        if name not in known:
            raise InvalidInputError(
                f"{path}: `values` must be among the signals {quoted(known)}, got {name!r}"
            )
    if not wanted:
        raise InvalidInputError(f"{path}: `values` must name at least one signal, got none")
    return {name: known[name] for name in wanted}


# -- beats -------------------------------------------------------------------------------------


def _windows(
    beats: list[tuple[int, str]], anomalous: str | None, window: int | None, frequency: float
) -> list[tuple[int, int]]:
    """Return the first and the last point of each anomalous beat."""
    times = [time for time, _ in beats]
    found = []
    for place, (time, symbol) in enumerate(beats):
        if symbol in NORMAL_BEATS if anomalous is None else symbol not in anomalous:
            continue
        if window is not None:
            first = time - window // 2
            found.append((first, first + window - 1))
            continue
        later = times[place + 1 : place + 2] or [time + _interval(times, frequency)]
        interval = later[0] - time
        found.append((round(time - _BEFORE * interval), round(time + _AFTER * interval)))
    return found


def _interval(times: list[int], frequency: float) -> int:
    """Interval to assume after the last beat: the previous interval, or one second."""
    return times[-1] - times[-2] if len(times) > 1 else round(frequency)


def _read_beats(path: Path, frequency: float) -> list[tuple[int, str]]:
    """Return the times and symbols of the beats in an annotation file."""
    data = _read_bytes(path, "name another suffix with annotator=")
    words = np.frombuffer(data[: len(data) // 2 * 2], dtype="<u2").tolist()
    beats: list[tuple[int, str]] = []
    place, time, latest, scale = 0, 0, 0, 1.0
    while place < len(words):
        code, amount = words[place] >> 10, words[place] & 0x3FF
        place += 1
        if code == 0 and amount == 0:
            return sorted(beats)
        if code == _SKIP:
            if place + 2 > len(words):
                break
            high, low = words[place], words[place + 1]
            time += ((high << 16 | low) ^ 1 << 31) - (1 << 31)
            place += 2
        elif code == _AUX:
            text = data[2 * place : 2 * place + amount]
            if latest == _NOTE and time == 0 and text.startswith(_RESOLUTION):
                scale = frequency / _positive(path, text[len(_RESOLUTION) :])
            place += (amount + 1) // 2
        elif code not in _MODIFIERS:
            time, latest = time + amount, code
            if code in _BEATS:
                beats.append((round(time * scale), _BEATS[code]))
    raise InvalidInputError(
        f"{path}: the annotations must end with a zero, got a truncated file; download it again"
    )


def _positive(path: Path, text: bytes) -> float:
    try:
        number = float(text.split()[0])
    except (ValueError, IndexError):
        number = 0.0
    if not 0 < number < float("inf"):
        raise InvalidInputError(f"{path}: the time resolution must be positive, got {text[:20]!r}")
    return number


# -- header and signals ------------------------------------------------------------------------


def _read_header(path: Path) -> _Header:
    text = _read_bytes(path, "").decode("latin-1")
    lines = [line.split() for line in text.splitlines() if line.strip() and line[0] != "#"]
    if not lines or len(lines[0]) < 2:
        raise InvalidInputError(f"{path}: must begin with a record name and a number of signals")
    record, *numbers = lines[0]
    if "/" in record:
        raise InvalidInputError(
            f"{path}: must be a record with one segment, got {record!r}; "
            "read each segment separately"
        )
    try:
        count = int(numbers[0])
        frequency = float(re.split(r"[/(]", numbers[1])[0]) if numbers[1:] else _DEFAULT_FREQUENCY
        length = int(numbers[2]) if numbers[2:] else 0
        signals = tuple(_signal(path, line) for line in lines[1 : count + 1])
    except ValueError as error:
        raise InvalidInputError(f"{path}: not a readable WFDB header: {error}") from None
    if not 0 < count == len(signals) or length < 0 or not 0 < frequency < float("inf"):
        raise InvalidInputError(
            f"{path}: the header must describe every signal of the record, "
            f"got {len(signals)} of {count} at {frequency:g} Hz"
        )
    return _Header(signals, frequency, length or None)


def _signal(path: Path, cells: list[str]) -> _Signal:
    if len(cells) < 2 or (form := _SIGNAL.fullmatch(cells[1])) is None:
        raise ValueError(f"signal {' '.join(cells)!r}")
    kind = int(form["format"])
    if kind not in _MISSING or form["frame"] not in (None, "1") or form["skew"] not in (None, "0"):
        raise InvalidInputError(
            f"{path}: signals must have format 212 or 16, one sample per frame and no skew, "
            f"got {cells[1]!r}; convert the record with the WFDB tool xform"
        )
    if cells[0] != Path(cells[0]).name:
        raise ValueError(f"file {cells[0]!r} must be in the folder of the header")
    gain = _GAIN.fullmatch(cells[2] if cells[2:] else "0")
    if gain is None:
        raise ValueError(f"gain {cells[2]!r}")
    zero = int(cells[4]) if cells[4:] else 0
    return _Signal(
        file=cells[0],
        format=kind,
        offset=int(form["offset"] or 0),
        gain=float(gain["gain"]) or _DEFAULT_GAIN,
        baseline=zero if gain["baseline"] is None else int(gain["baseline"]),
        name=" ".join(cells[8:]) or "signal",
    )


def _read_signals(path: Path, header: _Header) -> NDArray[np.float64]:
    """Return the signals in physical units, one column each; missing samples are NaN."""
    columns: list[NDArray[np.float64]] = []
    for file, group in groupby(header.signals, key=lambda signal: signal.file):
        together = list(group)
        source = path.with_name(file)
        data = _read_bytes(source, f"{path.name} names it")[together[0].offset :]
        samples = _decode(data, together[0].format)
        length = header.length or samples.size // len(together)
        if samples.size < length * len(together) or length == 0:
            raise InvalidInputError(
                f"{source}: must hold {length:,} samples of {len(together)} signals, "
                f"got {samples.size:,} samples"
            )
        matrix = samples[: length * len(together)].reshape(length, len(together))
        for column, signal in zip(matrix.T, together, strict=True):
            physical = column.astype(np.float64)
            physical = (physical - signal.baseline) / signal.gain
            physical[column == _MISSING[signal.format]] = np.nan
            columns.append(physical)
    if len({column.size for column in columns}) > 1:
        lengths = sorted({column.size for column in columns})
        raise InvalidInputError(f"{path}: signals must have equal length, got {lengths}")
    return np.column_stack(columns)


def _decode(data: bytes, kind: int) -> NDArray[np.int32]:
    """Decode a signal file: 16-bit numbers, or pairs of 12-bit numbers in three bytes."""
    if kind == 16:
        return np.frombuffer(data[: len(data) // 2 * 2], dtype="<i2").astype(np.int32)
    padding = -len(data) % 3  # with an odd number of samples, the last one takes two bytes
    triples = np.frombuffer(data + b"\0" * padding, dtype=np.uint8).reshape(-1, 3).astype(np.int32)
    low, middle, high = triples.T
    pairs = np.column_stack([low | (middle & 0x0F) << 8, high | (middle & 0xF0) << 4]).ravel()
    signed = np.where(pairs > 0x7FF, pairs - 0x1000, pairs)
    return signed[: len(data) * 2 // 3]


def _read_bytes(path: Path, hint: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        what = f"{path}: must be a readable file: {error.strerror or error}"
        raise InvalidInputError(f"{what}; {hint}" if hint else what) from error
