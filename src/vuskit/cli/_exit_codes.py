"""How a command can end: its exit codes, said once for code, help and documentation."""

from __future__ import annotations

import enum

__all__ = ["ExitCode", "exit_codes_text"]


class ExitCode(enum.IntEnum):
    """What a script can tell from the number that a command ends with."""

    DONE = 0
    FAULT = 1
    UNUSABLE = 2
    FAILED_JOBS = 3
    PROBLEMS = 4
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """In words."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.DONE: "success",
    ExitCode.FAULT: "a self-test or vuskit itself failed, or a pipe was closed",
    ExitCode.UNUSABLE: "the command, a file or a value is invalid",
    ExitCode.FAILED_JOBS: (
        "jobs (now or before), series, files or your own measures failed, the rest is complete"
    ),
    ExitCode.PROBLEMS: "verify or conformance check found problems",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C",
}


def exit_codes_text() -> str:
    """The codes on one line, for the end of the help.

    Examples
    --------
    >>> exit_codes_text()[:60]
    'Exit codes: 0 success; 1 a self-test or vuskit itself failed'
    """
    return "Exit codes: " + "; ".join(f"{code:d} {code.meaning}" for code in ExitCode) + "."
