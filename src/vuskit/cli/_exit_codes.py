"""Exit codes of all commands, with their meaning."""

from __future__ import annotations

import enum

__all__ = ["ExitCode", "exit_codes_text"]


class ExitCode(enum.IntEnum):
    """Exit codes for scripts."""

    DONE = 0
    FAULT = 1
    UNUSABLE = 2
    FAILED_JOBS = 3
    PROBLEMS = 4
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """Meaning in words."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.DONE: "success",
    ExitCode.FAULT: "a self-test or vuskit itself failed, or a pipe was closed",
    ExitCode.UNUSABLE: "the command, a file or a value is invalid",
    ExitCode.FAILED_JOBS: ("some jobs (now or earlier), series, files or custom measures failed"),
    ExitCode.PROBLEMS: "verify or conformance check found problems",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C",
}


def exit_codes_text() -> str:
    """Return all codes on one line, for the end of the help.

    Examples
    --------
    >>> exit_codes_text()[:60]
    'Exit codes: 0 success; 1 a self-test or vuskit itself failed'
    """
    return "Exit codes: " + "; ".join(f"{code:d} {code.meaning}" for code in ExitCode) + "."
