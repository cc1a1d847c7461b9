"""The words of the store: kinds of jobs and how a job can end."""

from __future__ import annotations

import enum

__all__ = ["Kind", "Status"]


class Kind(enum.StrEnum):
    """What a job does."""

    SCORE = "score"
    IMPORT = "import"
    EVALUATE = "evaluate"


class Status(enum.StrEnum):
    """How a finished job ended; a job that is not finished has no status and no row."""

    OK = "OK"
    ERROR = "ERROR"
    TIMEOUT = "TIMEOUT"
    OOM = "OOM"
    SKIPPED = "SKIPPED"

    @property
    def failed(self) -> bool:
        """Whether something went wrong."""
        return self in (Status.ERROR, Status.TIMEOUT, Status.OOM)
