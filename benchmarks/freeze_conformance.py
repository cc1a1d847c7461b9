"""Write the conformance suite, with values by the oracles, into the package.

    python benchmarks/freeze_conformance.py

Raise ``VERSION`` in ``tests/oracle/suite.py`` whenever an input, an option or a value changes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "vuskit" / "conformance.json"
sys.path.insert(0, str(ROOT / "tests"))


def frozen() -> str:
    """Return the suite as it lies in the package: checks by input and measure."""
    from oracle.suite import suite

    made = suite()
    checks: dict[str, dict[str, list[object]]] = {}
    for check in made["checks"]:
        entries = checks.setdefault(check["input"], {}).setdefault(check["measure"], [])
        entries.append([check["options"], check["expected"]])
    inputs = ",\n".join(json.dumps(one, separators=(",", ":")) for one in made["inputs"])
    lines = ",\n".join(
        f"{json.dumps(name)}:{json.dumps(one, separators=(',', ':'))}"
        for name, one in checks.items()
    )
    return f'{{"version":{made["version"]},\n"inputs":[\n{inputs}\n],\n"checks":{{\n{lines}\n}}}}\n'


if __name__ == "__main__":
    TARGET.write_text(frozen(), encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size:,} bytes")
