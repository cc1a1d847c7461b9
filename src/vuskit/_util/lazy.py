"""pandas, imported on first use: importing vuskit must work, and be fast, without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vuskit._util.optional import require

__all__ = ["pd"]

if TYPE_CHECKING:
    import pandas as pd
else:

    class _Pandas:
        def __getattr__(self, name: str) -> Any:
            return getattr(require("pandas", purpose="a table"), name)

    pd = _Pandas()
