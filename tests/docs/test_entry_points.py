"""The documented entry point, with the documented detector, in an installation that has both."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def installation(tmp_path):
    """A folder of packages that holds the one of the documentation."""
    text = (DOCS / "extending.md").read_text(encoding="utf-8")
    block = re.search(r"```toml\n(\[project\.entry-points.*?)```", text, re.DOTALL)[1]
    ((group, points),) = tomllib.loads(block)["project"]["entry-points"].items()
    ((name, target),) = points.items()
    module, _, attribute = target.partition(":")

    source = (DOCS / "detectors.md").read_text(encoding="utf-8").split("## Your own")[1]
    examples = doctest.DocTestParser().get_examples(source)
    code = "".join(e.source for e in examples if e.source.startswith(("import", "from", "@")))
    assert f"class {attribute}(" in code

    file = tmp_path.joinpath(*module.split(".")).with_suffix(".py")
    file.parent.mkdir(parents=True)
    file.write_text(f"import numpy as np\n{code}", encoding="utf-8")
    about = tmp_path / "my_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")
    return tmp_path


def python(code, path):
    known = os.pathsep.join([str(path), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": known},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_detector_is_found_by_its_name(installation):
    code = (
        "from vuskit.detectors import get_detector, list_detectors\n"
        "assert 'level' in list_detectors()\n"
        "print(get_detector('level', power=2).fit_score([1.0, 1.0, 4.0]).tolist())"
    )
    assert python(code, installation) == "[1.0, 1.0, 4.0]\n"


def test_without_the_package_it_is_not(tmp_path):
    code = "from vuskit.detectors import list_detectors; print('level' in list_detectors())"
    assert python(code, tmp_path) == "False\n"
