"""Marked numbers are colored on a terminal only."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from cli.terminal import COMMAND

TABLE = "LOF,PCA,CNN\n" + "\n".join(f"0.{8 + k % 2},0.{5 - k % 2},0.{1 + k % 3}" for k in range(9))


@pytest.mark.skipif(sys.platform == "win32", reason="pty is not available on Windows")
@pytest.mark.parametrize("without", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_best_values_are_green_and_bold_on_a_terminal(command, tmp_path, without):
    import pty

    (tmp_path / "results.csv").write_text(TABLE)
    reader, writer = pty.openpty()
    env = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [*COMMAND, "compare", "results.csv"],
        stdout=writer,
        cwd=tmp_path,
        env={**env, "COLUMNS": "80", "TERM": "xterm", **without},
    )
    os.close(writer)
    shown = b""
    try:
        while part := os.read(reader, 65536):
            shown += part
    except OSError:  # the terminal was closed
        pass
    assert process.wait() == 0
    os.close(reader)
    text = shown.decode().replace("\r\n", "\n")
    styles = re.findall(r"\x1b\[32m\x1b\[1m([^\x1b]+)\x1b\[0m", text)
    assert bool(styles) != bool(without)
    assert all(one.endswith("*") for one in styles)
    assert re.sub(r"\x1b\[\d+m", "", text) == command("compare", "results.csv").out
