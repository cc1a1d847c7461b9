"""Detector names: match the different spellings in papers, tables and packages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from vuskit._util.text import did_you_mean
from vuskit.errors import InvalidInputError

PUBLISHED = "published"
"""Value of options that selects what the published experiments used."""

PUBLISHED_DETECTORS = (
    "NormA", "POLY", "IForest", "AE", "OCSVM", "MP", "LOF", "LSTM", "CNN",
)  # fmt: skip
"""Detectors of the published experiments."""

_SYNONYMS = {
    "autoencoder": "ae",
    "isolationforest": "iforest",
    "lstmad": "lstm",
    "matrixprofile": "mp",
}


def detector_key(name: str) -> str:
    """Return the same key for all spellings of a detector's name."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return _SYNONYMS.get(plain, plain)


def find_detectors(
    wanted: Iterable[str], available: Sequence[str], *, name: str = "detectors"
) -> tuple[str, ...]:
    """Return the wanted detectors, with their names in `available`.

    ``"published"`` means those of :data:`PUBLISHED_DETECTORS` that are available, or all detectors
    if none of them is.
    """
    by_key = {detector_key(one): one for one in reversed(available)}
    found: dict[str, None] = {}
    for one in wanted:
        if one == PUBLISHED:
            present = [
                by_key[key] for key in map(detector_key, PUBLISHED_DETECTORS) if key in by_key
            ]
            found |= dict.fromkeys(present or available)
            continue
        exact = one if one in available else by_key.get(detector_key(one))
        if exact is None:
            raise InvalidInputError(
                f"`{name}` must name detectors of the series ({', '.join(available)}), "
                f"got {one!r}{did_you_mean(one, available)}"
            )
        found[exact] = None
    return tuple(found)
