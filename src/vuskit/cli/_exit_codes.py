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
    ExitCode.DONE: "done",
    ExitCode.FAULT: "a self-test or vuskit itself failed, or the reader of a pipe went away",
    ExitCode.UNUSABLE: "the command, a file or a value cannot be used",
    ExitCode.FAILED_JOBS: (
        "jobs (now or before), series, files of a folder or measures of your own failed, "
        "the rest is done"
    ),
    ExitCode.PROBLEMS: "verify found problems",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C",
}


def exit_codes_text() -> str:
    """The codes on one line, for the end of the help.

    Examples
    --------
    >>> exit_codes_text()[:60]
    'Exit codes: 0 done; 1 a self-test or vuskit itself failed, o'
    """
    return "Exit codes: " + "; ".join(f"{code:d} {code.meaning}" for code in ExitCode) + "."
