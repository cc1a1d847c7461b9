"""Measures as DuckDB functions over lists of labels and scores.

>>> import duckdb
>>> import vuskit.sql
>>> connection = duckdb.connect()
>>> vuskit.sql.register(connection)
>>> _ = connection.sql(
...     "create table points as select * from (values ('a', 1, 0, 0.1), ('a', 2, 0, 0.2),"
...     " ('a', 3, 1, 0.9), ('a', 4, 0, 0.3)) as _(series, t, label, score)"
... )
>>> connection.sql(
...     "select series, auc_pr(list(label order by t), list(score order by t)) as value"
...     " from points group by series"
... ).fetchall()
[('a', 1.0)]
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Unpack

import numpy as np

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError, VuskitError
from vuskit.inputs import check_pair
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import Measure, Measures, resolve_measures
from vuskit.measures.settings import EvaluationSettings, SettingOptions, settings_from
from vuskit.measures.workspace import warn_long_buffer

__all__ = ["register"]

_USAGE = "(labels, scores), (labels, scores, buffer) or (labels, scores, buffer, values)"


def register(
    connection: Any,
    *,
    measures: Measures = ("paper", "extra"),
    prefix: str = "",
    settings: EvaluationSettings | None = None,
    **options: Unpack[SettingOptions],
) -> None:
    """Add measures to a DuckDB connection as functions over lists.

    Each measure becomes ``name(labels, scores[, buffer[, values]])``. Build the lists with
    ``list(column order by time)``. The buffer is a number of points or the name of a strategy;
    measures without a buffer ignore it. Results equal those of :func:`vuskit.evaluate`. A result is
    NULL if an argument is NULL, or if only one class is present.

    ``precision`` is an SQL keyword: write ``"precision"(...)`` with quotes, or use a prefix.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Connection that receives the functions. Functions from earlier calls are replaced.
    measures : as for :func:`vuskit.evaluate`, default=("paper", "extra")
        Measures to add.
    prefix : str, default=""
        Prefix of each function's name.
    settings : EvaluationSettings, optional
        Base settings; keywords override them. Their buffer becomes the default buffer.
    **options
        As for :class:`vuskit.EvaluationSettings`.

    Raises
    ------
    InvalidInputError
        If a parameter is invalid, or a name collides with a built-in function of DuckDB.

    Examples
    --------
    >>> import duckdb
    >>> from vuskit import sql
    >>> connection = duckdb.connect()
    >>> sql.register(connection, prefix="m_")
    >>> connection.sql("select m_vus_pr([0, 1, 1, 0, 0], [1, 5, 6, 2, 0], 2) as value").fetchall()
    [(1.0,)]
    """
    require("pyarrow", purpose="vuskit.sql", extra="frames")
    duckdb = require("duckdb", purpose="vuskit.sql", extra="frames")
    defaults = settings_from(settings or EvaluationSettings(), options)
    for measure in resolve_measures(measures):
        name = f"{prefix}{measure.name}"
        with suppress(duckdb.InvalidInputException):  # not registered yet
            connection.remove_function(name)
        try:
            connection.create_function(
                name,
                _function_over_lists(name, measure, defaults),
                None,
                "DOUBLE",
                type="arrow",
                null_handling="special",
            )
        except duckdb.CatalogException as error:
            raise InvalidInputError(
                f"`prefix` must avoid names of DuckDB functions, got {name!r} ({error}); "
                "use another prefix"
            ) from error


def _function_over_lists(
    name: str, measure: Measure, settings: EvaluationSettings
) -> Callable[..., Any]:
    """Return the function that DuckDB calls with columns of lists, one row per series."""
    needs_buffer = measure.takes("buffer")

    def function(*columns: Any) -> Any:
        import pyarrow

        if not 2 <= len(columns) <= 4:
            raise InvalidInputError(
                f"{name} must have 2 to 4 arguments, got {len(columns)}; use {name}{_USAGE}"
            )
        arguments = [_rows(name, place, column) for place, column in enumerate(columns)]
        excess: list[str] = []
        results = [_value(excess, *row) for row in zip(*arguments, strict=True)]
        if excess:
            warn_long_buffer(excess[0])
        return pyarrow.array(results, type=pyarrow.float64())

    def _value(excess: list[str], labels: Any, scores: Any, *others: Any) -> float | None:
        if labels is None or scores is None or any(other is None for other in others):
            return None
        buffer, values = (*others, None, None)[:2]
        try:
            used = settings
            if needs_buffer and buffer is not None:
                used = settings.replace(buffer=buffer)
            elif not needs_buffer:
                used = settings.replace(buffer=0)
            if used.buffer is None:
                raise InvalidInputError(
                    "`buffer` must be the third argument, got none; give a number of points or the "
                    "name of a strategy"
                )
            checked, numbers = check_pair(labels, scores, used.nan)
            if not checked.has_both_classes:
                return None
            evaluator = Evaluator._of_many(
                checked, measures=(measure,), settings=used, values=values
            )
            excess += [evaluator._excess_of_buffer] if evaluator._excess_of_buffer else []
            (value,) = evaluator(numbers).values()
        except VuskitError as error:
            raise InvalidInputError(f"{name}: {error}") from None
        return None if np.isnan(value) else value

    function.__name__ = name
    return function


def _rows(name: str, place: int, column: Any) -> list[Any]:
    """Return an argument by row: arrays for lists, Python objects for the buffer."""
    import pyarrow

    column = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
    if place == 2:
        return [_buffer(value) for value in column.to_pylist()]
    kind = column.type
    if pyarrow.types.is_null(kind):
        return [None] * len(column)
    if not _is_list(kind):
        argument = ("labels", "scores", "", "values")[place]
        raise InvalidInputError(
            f"{name}: `{argument}` must be a list, got {kind}; aggregate the rows of a series with "
            "list(column order by time)"
        )
    if pyarrow.types.is_decimal(kind.value_type):
        column = column.cast(pyarrow.list_(pyarrow.float64()))
    return [
        scalar.values.to_numpy(zero_copy_only=False) if scalar.is_valid else None
        for scalar in column
    ]


def _buffer(value: Any) -> Any:
    # In SQL, a literal with a decimal point is a DECIMAL.
    return value if value is None or isinstance(value, (str, int)) else float(value)


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))
