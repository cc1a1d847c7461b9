"""All commands of the command line, found by walking its tree."""

from __future__ import annotations

import typer.main

from vuskit.cli.app import app


def leaves(command=None, path=()):
    """All commands, by the words that call them."""
    command = command or typer.main.get_command(app)
    inner = getattr(command, "commands", None)
    if inner is None:
        return {" ".join(path): command}
    return {
        line: leaf
        for name, one in inner.items()
        for line, leaf in leaves(one, (*path, name)).items()
    }


LEAVES = leaves()
