"""Keys from content: the same work has the same key, changed work has a new key."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.code_identity import note_module
from vuskit.errors import ChangedInputError, InvalidInputError

__all__ = [
    "canonical",
    "content_key",
    "file_digest",
    "import_object",
    "importable",
    "scores_digest",
    "values_checksum",
]

_SURROGATE = re.compile("[\ud800-\udfff]")
_KEY_LENGTH = 32  # hex digits; 128 bits


def canonical(value: Any) -> str:
    r"""JSON text in canonical form: equal content gives equal text, valid as UTF-8.

    Examples
    --------
    >>> canonical({"b": 1, "a": [2.0, None]})
    '{"a":[2.0,null],"b":1}'
    >>> print(canonical(b"caf\xe9.csv".decode(errors="surrogateescape")))
    "caf\udce9.csv"
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # File names that are not UTF-8 hold lone surrogates. JSON can escape and restore them.
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def content_key(*parts: Any) -> str:
    """Short digest of values that JSON can represent.

    Examples
    --------
    >>> content_key("score", {"window": 10}) == content_key("score", {"window": 10})
    True
    >>> content_key("score", {"window": 10}) == content_key("score", {"window": 11})
    False
    """
    return hashlib.sha256(canonical(parts).encode()).hexdigest()[:_KEY_LENGTH]


def scores_digest(scores: NDArray[np.float64]) -> str:
    """SHA-256 of scores: their shape and bytes.

    Examples
    --------
    >>> import numpy as np
    >>> scores_digest(np.zeros(2))[:8]
    'c0eacbe1'
    """
    data = np.ascontiguousarray(scores, dtype="<f8")
    digest = hashlib.sha256(f"vuskit-scores-1 {data.shape}\n".encode())
    digest.update(data.tobytes())
    return digest.hexdigest()


def values_checksum(values: Mapping[str, float]) -> str:
    """Digest of the values of an evaluation, independent of their order.

    Examples
    --------
    >>> values_checksum({"b": 0.5, "a": 0.25}) == values_checksum({"a": 0.25, "b": 0.5})
    True
    """
    # SQLite does not keep the sign of zero.
    return content_key("values", sorted((name, value + 0.0) for name, value in values.items()))


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextlib.contextmanager
def importable(folder: Path | None) -> Iterator[None]:
    """Make modules in the folder of the plan importable within the block."""
    if folder is None:
        yield
        return
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(str(folder))


def _place(error: BaseException, folder: Path | None) -> str:
    """File and line of an error in an imported module; empty if no module ran."""
    if isinstance(error, SyntaxError):
        return ""  # its message includes the location
    frames = [
        one
        for one in traceback.extract_tb(error.__traceback__)
        if not one.filename.startswith("<frozen ")
        and one.filename not in (__file__, importlib.__file__)
    ]
    # Prefer files next to the plan, which its author can fix, to the imported module.
    beside = [one for one in frames if folder and Path(one.filename).is_relative_to(folder)]
    shown = beside[-1:] or frames[:1]
    return "".join(f" ({one.filename}, line {one.lineno})" for one in shown)


def import_object(name: str, folder: Path | None = None) -> Any:
    """Import ``"module:object"``, also from the folder of the plan.

    Raises
    ------
    ChangedInputError
        If a local file changed after it was imported.
    InvalidInputError
        If there is no such module or object, or importing the module fails; the message names the
        file and line.

    Examples
    --------
    >>> import_object("math:sqrt")(9.0)
    3.0
    """
    module, _, attribute = name.partition(":")
    try:
        with importable(folder):
            if module not in sys.modules:
                importlib.invalidate_caches()
            note_module(module, folder)
            found: Any = importlib.import_module(module)
    except ChangedInputError:
        raise
    except ImportError as error:
        raise InvalidInputError(
            f"`{name}` must be an importable module:name, got {error}{_place(error, folder)}"
        ) from error
    except (Exception, SystemExit) as error:  # a module can raise anything when it is imported
        raise InvalidInputError(
            f"`{name}` must be an importable module:name, "
            f"got {type(error).__name__}: {error}{_place(error, folder)}"
        ) from error
    for part in attribute.split(".") if attribute else ():
        if not hasattr(found, part):
            raise InvalidInputError(
                f"`{name}` must be an importable module:name, "
                f"got a module {module!r} without {part!r}"
            )
        found = getattr(found, part)
    return found
