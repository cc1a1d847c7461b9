"""Tables as csv, the same for files and for standard output."""

from __future__ import annotations

import csv
import io
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit._util.escapes import escape_control, escape_formula

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["csv_text", "frame_csv", "plain_data"]


def plain_data(data: Any) -> Any:
    """Return data as JSON knows it; what is missing or not finite becomes None.

    Examples
    --------
    >>> plain_data({"a": np.float64("nan"), "b": (np.int64(3), 0.5)})
    {'a': None, 'b': [3, 0.5]}
    """
    if isinstance(data, Mapping):
        return {str(key): plain_data(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [plain_data(value) for value in data]
    if isinstance(data, np.generic):
        data = data.item()
    if isinstance(data, float) and not math.isfinite(data):
        return None
    pandas = sys.modules.get("pandas")  # not loaded means that nothing of it is here
    if pandas is not None and data is pandas.NA:
        return None
    return os.fspath(data) if isinstance(data, os.PathLike) else data


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Lay out as csv, without a final line break.

    What is missing or not finite is empty. A text that a spreadsheet would take for a formula
    begins with a quote; control characters are escaped.

    Examples
    --------
    >>> csv_text(["a", "b"], [[1, None], ["x,y", -0.5], [float("nan"), "=1+1"]])
    'a,b\n1,\n"x,y",-0.5\n,\'=1+1'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, header))
    writer.writerows(map(_cell, row) for row in rows)
    return text.getvalue().removesuffix("\n")


def _cell(value: Any) -> Any:
    plain = plain_data(value)
    if isinstance(plain, list):
        plain = " ".join(map(str, plain))
    return escape_control(escape_formula(plain)) if isinstance(plain, str) else plain


def frame_csv(frame: pd.DataFrame) -> str:
    """Lay out a table as csv, in full precision; see `csv_text`."""
    return csv_text(list(map(str, frame.columns)), frame.itertuples(index=False, name=None))
