"""TSB-UAD: two columns, value and label, without a header line."""

from __future__ import annotations

from pathlib import Path

from vuskit.datasets.readers.registry import parent_name, plain_name, register_format
from vuskit.datasets.series import Series
from vuskit.datasets.tables import read_csv

__all__ = ["read_tsb_uad"]


@register_format(
    name="tsb_uad",
    title="TSB-UAD",
    layout="*.out, *.out.gz: value,label per line, no header",
    matches=lambda file: file.suffix == ".out",
    possible=lambda file: file.suffix in (".out", ".csv", ".txt"),
)
def read_tsb_uad(
    path: Path, *, dataset: str | None = None, train_length: int | None = None
) -> Series:
    """Read one file; the name of the series keeps ``.out``, as in published tables."""
    table = read_csv(path, columns=("value", "label"))
    return Series(
        plain_name(path),
        dataset or parent_name(path),
        table.numbers("value"),
        table.labels("label"),
        train_length,
    )
