"""Values of results as text or bytes: plain data as JSON, data with arrays as npz."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.errors import InvalidInputError

__all__ = ["decode_value", "encode_value"]


def encode_value(value: Any) -> str | bytes:
    """Encode numbers, strings, None, arrays, and lists, tuples and dicts of these.

    Equal values give equal text or bytes. Unlike unpickling, decoding executes no code.

    Raises
    ------
    InvalidInputError
        If the value contains anything else.

    Examples
    --------
    >>> encode_value({"a": [1, 2.5, None]})
    '{"a": [1, 2.5, null]}'
    >>> decode_value(encode_value({"a": (1, 2.5, None), "b": np.array([1.0, 2.0])}))
    {'a': (1, 2.5, None), 'b': array([1., 2.])}
    """
    if _is_plain(value):
        return json.dumps(value)
    arrays: list[NDArray[Any]] = []
    text = json.dumps(_to_json(value, arrays)).encode()
    stream = io.BytesIO()
    np.savez(
        stream,
        content=np.frombuffer(text, dtype=np.uint8),
        **{f"array{index}": array for index, array in enumerate(arrays)},  # type: ignore[arg-type]
    )
    return stream.getvalue()


def decode_value(data: str | bytes) -> Any:
    """Undo `encode_value`.

    Raises
    ------
    Exception
        If the data are damaged.
    """
    if isinstance(data, str):
        return json.loads(data)
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return _from_json(json.loads(arrays["content"].tobytes()), arrays)


def _is_plain(value: Any) -> bool:
    """Whether JSON restores the value."""
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    return value is None or isinstance(value, (bool, int, float, str))


def _to_json(value: Any, arrays: list[NDArray[Any]]) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic):
        return _to_json(value.item(), arrays)
    if isinstance(value, list):
        return [_to_json(item, arrays) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_to_json(item, arrays) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": [[key, _to_json(item, arrays)] for key, item in value.items()]}
    raise InvalidInputError(
        "a stored result must consist of numbers, strings, arrays, lists, tuples and dicts, "
        f"got {type(value).__name__}"
    )


def _from_json(content: Any, arrays: Any) -> Any:
    if isinstance(content, list):
        return [_from_json(item, arrays) for item in content]
    if not isinstance(content, dict):
        return content
    ((kind, inner),) = content.items()
    if kind == "array":
        return arrays[f"array{inner}"]
    if kind == "tuple":
        return tuple(_from_json(item, arrays) for item in inner)
    return {key: _from_json(item, arrays) for key, item in inner}
