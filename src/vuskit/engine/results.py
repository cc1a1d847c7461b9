"""Folder of finished results, one file per task, from which an interrupted run resumes."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.files import write_atomically
from vuskit.engine.tasks import Outcome, Status
from vuskit.errors import InvalidInputError

__all__ = ["ResultFolder", "decode_value", "encode_value"]

_VALID_KEY = re.compile(r"\w[\w.-]{0,199}")


def encode_value(value: Any) -> bytes:
    """Encode numbers, strings, None, arrays, and lists, tuples and dicts of these.

    Equal values give equal bytes. Unlike unpickling, decoding executes no code.

    Raises
    ------
    InvalidInputError
        If the value contains anything else.

    Examples
    --------
    >>> decode_value(encode_value({"a": (1, 2.5, None), "b": np.array([1.0, 2.0])}))
    {'a': (1, 2.5, None), 'b': array([1., 2.])}
    """
    arrays: list[NDArray[Any]] = []
    text = json.dumps(_to_json(value, arrays)).encode()
    stream = io.BytesIO()
    np.savez(
        stream,
        content=np.frombuffer(text, dtype=np.uint8),
        **{f"array{index}": array for index, array in enumerate(arrays)},  # type: ignore[arg-type]
    )
    return stream.getvalue()


def decode_value(data: bytes) -> Any:
    """Undo `encode_value`.

    Raises
    ------
    Exception
        If the bytes are damaged.
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return _from_json(json.loads(arrays["content"].tobytes()), arrays)


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
        f"got {type(value).__name__}; pass `encode` and `decode` functions to `ResultFolder`"
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


@dataclass(frozen=True)
class ResultFolder:
    """Results of finished tasks, one file per key.

    Files are written atomically, so none is incomplete. Different data, settings or code give
    different keys, so outdated results are never read. Failures are not stored: the next run
    repeats them.

    Attributes
    ----------
    folder : Path
        Created when the first result is saved.
    encode, decode : callable
        Convert a value to bytes and back. Default: `encode_value` and `decode_value`.
    suffix : str
        Suffix of the files.

    Examples
    --------
    >>> import tempfile
    >>> results = ResultFolder(Path(tempfile.mkdtemp()))
    >>> results.save("0123", [0.5, 1.5])
    >>> results.load("0123").value, results.load("4567")
    ([0.5, 1.5], None)
    """

    folder: Path
    encode: Callable[[Any], bytes] = encode_value
    decode: Callable[[bytes], Any] = decode_value
    suffix: str = ".npz"

    def path(self, key: str) -> Path:
        """Path of the file for a key.

        Raises
        ------
        InvalidInputError
            If the key is not a valid file name.
        """
        if not _VALID_KEY.fullmatch(key):
            raise InvalidInputError(
                f"`key` must consist of at most 200 letters, digits, '.', '-' and '_', got {key!r}"
            )
        return Path(self.folder) / f"{key}{self.suffix}"

    def load(self, key: str) -> Outcome | None:
        """Outcome with the saved value; None if the file is missing or damaged."""
        try:
            value = self.decode(self.path(key).read_bytes())
        except InvalidInputError:
            raise
        except Exception:  # a damaged file can make decoders raise anything
            return None
        return Outcome(Status.OK, value, stored=True)

    def save(self, key: str, value: Any) -> None:
        """Save the value of a task.

        Raises
        ------
        OSError
            If the folder cannot be written.
        """
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, self.encode(value), durable=True)
