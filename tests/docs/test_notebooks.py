"""The notebooks are valid, short, and print what they store."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
CELL_KEYS = {
    "markdown": {"cell_type", "id", "metadata", "source"},
    "code": {"cell_type", "execution_count", "id", "metadata", "outputs", "source"},
}
OUTPUT_KEYS = {
    "stream": {"name", "output_type", "text"},
    "execute_result": {"data", "execution_count", "metadata", "output_type"},
}
LARGEST = 20_000

notebook_files = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def script():
    """The script that executes the notebooks for their outputs."""
    spec = importlib.util.spec_from_file_location("make_outputs", FOLDER / "make_outputs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_a_notebook_for_each_topic():
    assert [path.stem for path in NOTEBOOKS] == [
        "benchmark",
        "choosing_a_measure",
        "getting_started",
        "reproducing_the_paper",
    ]
    page = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(notebooks/(\w+)\.ipynb\)", page)
    assert sorted(linked) == [path.stem for path in NOTEBOOKS]


@notebook_files
def test_notebooks_follow_the_format(path):
    """As nbformat 4.5 asks for; readers of notebooks reject others."""
    assert path.stat().st_size < LARGEST
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert set(notebook) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    kernel = notebook["metadata"]["kernelspec"]
    assert (kernel["name"], kernel["language"]) == ("python3", "python")
    assert kernel["display_name"]
    cells = notebook["cells"]
    assert 8 <= len(cells) <= 15
    names = [cell["id"] for cell in cells]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    for cell in cells:
        assert set(cell) == CELL_KEYS[cell["cell_type"]]
        check_lines(cell["source"])
        for output in cell.get("outputs", []):
            assert set(output) == OUTPUT_KEYS[output["output_type"]]
            check_lines(output.get("text") or output["data"]["text/plain"])


def check_lines(lines):
    """Every line but the last ends where it should; there is some text."""
    assert "".join(lines).strip()
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines[:-1])


@notebook_files
def test_notebooks_start_with_a_title(path, script):
    first, second, *_ = script.read(path)["cells"]
    assert first["cell_type"] == "markdown"
    assert re.match(r"# \w", first["source"][0])
    assert second["source"]


@notebook_files
def test_cells_print_what_the_notebook_stores(path, script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = script.read(path)
    stored = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert script.execute(notebook) == stored
    assert sum(map(len, stored)) >= 4


def test_values_of_last_expressions_are_shown(script):
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["a = 1\n", "print(a)\n", "a + 1"]},
        {"cell_type": "code", "source": ["b = a"]},
    ]
    first, second = script.execute({"cells": cells})
    assert [one["output_type"] for one in first] == ["stream", "execute_result"]
    assert first[0]["text"] == ["1\n"]
    assert first[1]["data"] == {"text/plain": ["2"]}
    assert second == []
