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

from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure, MeasureProperties, list_measures

__all__ = [
    "UNREADABLE",
    "pack",
    "read_archive",
    "unpack",
]

UNREADABLE = (OSError, EOFError, ValueError, KeyError, TypeError, IndexError, zipfile.BadZipFile)
"""Exceptions that `unpack` raises for damaged files."""

_HEADER = "header"
_NUMBERS = "biufc"
_MEASURE_FIELDS = (
    "name", "title", "family", "bounds", "higher_is_better", "reference", "group",
    "misleading_without_chance", "options",
)  # fmt: skip

Known = Mapping[str, Callable[..., Any]]


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
    value = header.pop("value")
    table = {one.__qualname__: one for one in known}
    return header, _Decoder(arrays, table).decode(value)


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
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in (bool, int, float, str):
            return value
        for kind, encode in _ENCODERS:
            if isinstance(value, kind):
                return encode(self, value)
        if _is_pandas(value):
            return self._table(value)
        if hasattr(value, "to_saved"):
            return {"$type": [type(value).__qualname__, self.encode(value.to_saved())]}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {"$type": [type(value).__qualname__, self.fields(value)]}
        if callable(value):
            return {"$function": getattr(value, "__qualname__", type(value).__name__)}
        raise InvalidInputError(
            "`value` must be plain data, an array, a pandas table or a dataclass to be saved, "
            f"got {type(value).__name__}; convert it in the study's `combine`"
        )

    def fields(self, value: Any) -> dict[str, Any]:
        """Fields of a dataclass by name."""
        chosen = [one.name for one in dataclasses.fields(value) if one.init]
        return {name: self.encode(getattr(value, name)) for name in chosen}

    def array(self, value: NDArray[Any]) -> Any:
        """Return the position of the numbers in the block of their dtype; text as a list."""
        if value.dtype.kind not in _NUMBERS:
            return {"$texts": [list(value.shape), self.encode(value.ravel().tolist())]}
        block = value.dtype.newbyteorder("<").str.lstrip("<|")
        start = self._sizes.get(block, 0)
        self._sizes[block] = start + value.size
        flat = np.ascontiguousarray(value).ravel().astype(value.dtype.newbyteorder("<"))
        self.blocks.setdefault(block, []).append(flat)
        return {"$array": [block, start, list(value.shape)]}

    def mapping(self, value: Mapping[Any, Any]) -> Any:
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: self.encode(item) for key, item in value.items()}
        items = [[self.encode(key), self.encode(item)] for key, item in value.items()]
        return {"$items": items}

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
            return self.array(numbers)
        return [None if _is_missing(item) else self.encode(item) for item in column.tolist()]

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

    def __init__(self, arrays: Mapping[str, NDArray[Any]], known: Known) -> None:
        self._arrays = arrays
        self._known = known

    def decode(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        marker = next(iter(value), "")
        if not marker.startswith("$"):
            return {key: self.decode(item) for key, item in value.items()}
        return _DECODERS[marker](self, value[marker])

    def _array(self, parts: Any) -> NDArray[Any]:
        block, start, shape = parts
        stop = start + int(np.prod(shape))
        numbers = self._arrays[block][start:stop]
        if numbers.size != stop - start:
            raise ValueError(
                f"block {block} must hold {stop} numbers, got {self._arrays[block].size}"
            )
        return numbers.reshape(shape)

    def _texts(self, parts: Any) -> NDArray[Any]:
        shape, items = parts
        return np.array(items).reshape(shape)

    def _tuple(self, items: Any) -> tuple[Any, ...]:
        return tuple(self.decode(items))

    def _items(self, items: Any) -> dict[Any, Any]:
        return {self.decode(key): self.decode(item) for key, item in items}

    def _type(self, parts: Any) -> Any:
        name, values = parts
        kind = self._known[name]
        restore = getattr(kind, "from_saved", None)
        return kind(**self.decode(values)) if restore is None else restore(self.decode(values))

    def _function(self, name: str) -> Any:
        return self._known.get(name) or _NamedFunction(name)

    def _measure(self, values: Any) -> Measure:
        return _restored_measure(self.decode(values))

    def _frame(self, parts: Any) -> Any:
        import pandas as pd

        index, columns, data = parts
        numbers = {place: self.decode(column) for place, column in enumerate(data)}
        frame = pd.DataFrame(numbers, index=self._index(index))
        frame.columns = self._index(columns)
        return frame

    def _series(self, parts: Any) -> Any:
        import pandas as pd

        index, name, data = parts
        return pd.Series(self.decode(data), index=self._index(index), name=self.decode(name))

    def _index(self, parts: Any) -> Any:
        import pandas as pd

        if "range" in parts:
            return pd.RangeIndex(*parts["range"], name=parts["name"])
        if "levels" in parts:
            return pd.MultiIndex.from_arrays(self.decode(parts["levels"]), names=parts["names"])
        return pd.Index(self.decode(parts["values"]), name=parts["name"])


def _is_pandas(value: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series, pandas.Index))


def _is_missing(item: Any) -> bool:
    return item is None or (isinstance(item, float) and item != item)


class _NamedFunction:
    """Placeholder for a function of which only the name was saved."""

    def __init__(self, name: str) -> None:
        self.__qualname__ = self.__name__ = name

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Raise an error, because the function was not saved."""
        raise InvalidInputError(
            f"`{self.__name__}` must be defined to be called, got only its name from a saved "
            "result; run the study again with the function"
        )


def _encode_measure(encoder: _Encoder, measure: Measure) -> Any:
    return {"$measure": {name: encoder.encode(getattr(measure, name)) for name in _MEASURE_FIELDS}}


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
        parameters={} if shared is None else shared.parameters,
        declaration=None if shared is None else shared.declaration,
    )


def _cannot_compute(name: str, *_: Any, **__: Any) -> float:
    raise InvalidInputError(
        f"`measure` must be registered to be computed, got {name!r}, known only from a saved "
        "result; load the module that defines it"
    )


_ENCODERS: tuple[tuple[type | tuple[type, ...], Callable[[_Encoder, Any], Any]], ...] = (
    (np.ndarray, _Encoder.array),
    (Measure, _encode_measure),
    (tuple, lambda encoder, value: {"$tuple": [encoder.encode(item) for item in value]}),
    (list, lambda encoder, value: [encoder.encode(item) for item in value]),
    (Mapping, _Encoder.mapping),
)
_DECODERS: dict[str, Callable[[_Decoder, Any], Any]] = {
    "$array": _Decoder._array,
    "$frame": _Decoder._frame,
    "$function": _Decoder._function,
    "$index": _Decoder._index,
    "$items": _Decoder._items,
    "$measure": _Decoder._measure,
    "$series": _Decoder._series,
    "$texts": _Decoder._texts,
    "$tuple": _Decoder._tuple,
    "$type": _Decoder._type,
}
