"""Shell completion; imports happen only when a completion is requested."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from vuskit.errors import InvalidInputError


def complete_measures() -> list[tuple[str, str]]:
    """Measures and groups of measures."""
    from vuskit.measures.registry import GROUPS, list_measures

    return [*GROUPS.items(), *((measure.name, measure.title) for measure in list_measures())]


def complete_measure_lists(incomplete: str) -> list[tuple[str, str]]:
    """Comma-separated measures; completes the last one."""
    before, comma, _ = incomplete.rpartition(",")
    return [(f"{before}{comma}{name}", title) for name, title in complete_measures()]


def complete_buffers() -> list[tuple[str, str]]:
    """Strategies for the buffer."""
    from vuskit.buffers import buffer_strategy_title, list_buffer_strategies

    return [
        (name.replace("_", "-"), buffer_strategy_title(name)) for name in list_buffer_strategies()
    ]


def complete_detectors() -> list[tuple[str, str]]:
    """Detectors by name."""
    from vuskit.detectors import (
        list_detectors,
    )
    from vuskit.detectors.registry import detector_class

    found = []
    for name in list_detectors():
        try:
            found.append((name, detector_class(name).title))
        except InvalidInputError:  # a plug-in that cannot be loaded
            continue
    return found


def complete_exhibits(incomplete: str) -> list[tuple[str, str]]:
    """Comma-separated exhibits of the paper; completes the last one."""
    from vuskit.paper import list_exhibits

    before, comma, _ = incomplete.rpartition(",")
    return [(f"{before}{comma}{one.key}", one.title) for one in list_exhibits()]


def complete_averages() -> list[str]:
    """Units to average over."""
    from vuskit.bench.means import AVERAGES

    return list(AVERAGES)


def complete_spreads() -> list[str]:
    """Kinds of spread shown after a mean."""
    from vuskit.report.publication import SPREADS

    return list(SPREADS)


def complete_table_columns() -> list[str]:
    """Kinds of columns of a table of means."""
    from vuskit.report.publication import COLUMNS

    return list(COLUMNS)


def complete_statuses() -> list[str]:
    """Statuses of jobs that did not succeed."""
    from vuskit.bench import Status

    return [status.value for status in Status if status is not Status.OK]


def complete_shapes() -> list[str]:
    """Shapes of an exported table."""
    from vuskit.bench.run import SHAPES

    return list(SHAPES)


def complete_kinds() -> list[str]:
    """Kinds of names that can be listed."""
    from vuskit.cli.list_ import KINDS

    return list(KINDS)


def complete_studies() -> list[tuple[str, str]]:
    """Studies by name, and all."""
    from vuskit.studies import list_studies

    studies = [(one.name, one.title) for one in list_studies() if one.input != "results"]
    return [*studies, ("all", "all studies and their summary")]


def complete_contestants() -> list[tuple[str, str]]:
    """Algorithms of the timing study."""
    from vuskit.studies.timing.contestants import CONTESTANTS

    return [(name, contestant.title) for name, contestant in CONTESTANTS.items()]


def complete_datasets() -> list[tuple[str, str]]:
    """Data sets of the catalog."""
    from vuskit.datasets import list_datasets

    return [(info.name, info.title) for info in list_datasets()]


def complete_figures() -> list[str]:
    """Formats of figures."""
    from vuskit.figures.base import FIGURE_FORMATS

    return list(FIGURE_FORMATS)


def complete_columns() -> Iterable[str]:
    """Columns of the first existing file on the line."""
    from vuskit.datasets.tables import column_names

    try:
        return next((column_names(path) for path in map(Path, _line()) if path.is_file()), [])
    except Exception:  # an unreadable file has no columns to offer; the command reports why
        return []


def _line() -> list[str]:
    """Words of the line being completed; typer does not parse it if it ends in an option."""
    text = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    try:
        return shlex.split(text)[1:]
    except ValueError:  # an open quotation mark
        return text.split()[1:]
