"""Check that every file states the version of the package; with a tag, that it is that version.

python tests/release_version.py [v0.2.0]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = {
    "src/vuskit/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "recipe/recipe.yaml": r'^  version: "(.+)"$',
}


def stated() -> dict[str, str]:
    """Return the version that each file states."""
    found = {}
    for name, pattern in PLACES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        found[name] = re.findall(pattern, text, re.MULTILINE)[0]
    return found


def problems(tag: str | None) -> list[str]:
    """Return what is wrong, one sentence each."""
    versions = stated()
    version = versions["src/vuskit/__init__.py"]
    wrong = [f"{name} must state {version}, got {one}" for name, one in versions.items()]
    wrong = [text for text, one in zip(wrong, versions.values(), strict=True) if one != version]
    if tag is None:
        return wrong
    if tag.removeprefix("v") != version:
        wrong.append(f"the tag must be v{version}, got {tag}")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE):
        wrong.append(f"CHANGELOG.md must have a section '## [{version}] - <date>'")
    return wrong


if __name__ == "__main__":
    found = problems(sys.argv[1] if len(sys.argv) > 1 else None)
    if found:
        sys.exit("\n".join(found))
