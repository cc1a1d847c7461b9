"""Training lengths given in file names."""

from __future__ import annotations

import re
from pathlib import Path

from vuskit.datasets.readers.registry import stem

__all__ = ["declared_train_length"]

# TSB-AD: ..._tr_<train length>_1st_<first anomaly>
# UCR: ..._UCR_Anomaly_..._<train length>_<start>_<stop>
_NAMES = (
    re.compile(r".*_tr_(?P<train>\d+)_1st_\d+"),
    re.compile(r".*UCR_Anomaly_.*_(?P<train>\d+)_\d+_\d+"),
)


def declared_train_length(path: Path) -> int | None:
    """Return the number of leading training points given in a file name, or None.

    Understands the names of the TSB-AD and UCR archives; any text may follow them.

    Examples
    --------
    >>> declared_train_length(Path("001_NAB_id_1_Facility_tr_1007_1st_2014.csv"))
    1007
    >>> declared_train_length(Path("scores.csv")) is None
    True
    """
    plain = stem(path)
    if "_tr_" not in plain and "UCR_Anomaly_" not in plain:
        return None
    found = (name.match(plain) for name in _NAMES)
    return next((int(match["train"]) for match in found if match is not None), None)
