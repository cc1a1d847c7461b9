"""Measured tables in the documentation: rewritten between two marks by the script that measures."""

from __future__ import annotations

from pathlib import Path


def replace_block(page: Path, mark: str, text: str) -> None:
    """Replace what stands between ``<!-- mark -->`` and ``<!-- /mark -->``."""
    start, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, _, rest = page.read_text().partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{page} has no block {start} ... {end}")
    page.write_text(f"{before}{start}\n{text}\n{end}{after}")
