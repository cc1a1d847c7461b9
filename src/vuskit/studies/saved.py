"""File format of results: JSON for structure and arrays for numbers, in one ``.npz`` archive.

Plain data, arrays, pandas tables, measures, settings and dataclasses can be saved. Equal values
give equal bytes. Reading a file never imports or executes code: dataclasses and functions are
looked up in a table of known ones.
"""

from __future__ import annotations

import dataclasses
import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure, MeasureProperties, list_measures

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
