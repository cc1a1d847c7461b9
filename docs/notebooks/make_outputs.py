"""Execute the notebooks and store what their cells print.

Run with ``python docs/notebooks/make_outputs.py [NAME ...]``, in any folder: files that the cells
write go to a temporary one. No Jupyter is needed. The tests execute the notebooks the same way and
compare the outputs.
"""

from __future__ import annotations

import ast
import io
import json
import os
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def read(path: Path) -> dict[str, Any]:
    """Read a notebook."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def execute(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Execute all code cells in one namespace, in order, and return the outputs of each."""
    names: dict[str, Any] = {"__name__": "__notebook__"}
    sources = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    return [_execute_cell(source, number, names) for number, source in enumerate(sources, 1)]


def _execute_cell(source: str, number: int, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Execute a cell; as in Jupyter, the value of a last expression is shown."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    place, value = f"<cell {number}>", None
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, place, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        outputs.append(
            {
                "data": {"text/plain": repr(value).splitlines(keepends=True)},
                "execution_count": number,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs


def store(path: Path) -> None:
    """Execute a notebook and write its outputs into the file."""
    notebook = read(path)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(code, execute(notebook), strict=True), 1):
        cell.update(execution_count=number, outputs=outputs)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    for path in sorted(HERE.glob("*.ipynb")):
        if not sys.argv[1:] or path.stem in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                store(path)
                os.chdir(HERE)
            print(path.name)


if __name__ == "__main__":
    main()
