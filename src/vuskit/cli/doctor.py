"""``vuskit doctor``: versions, the core, optional packages, the cache and a self-test."""

from __future__ import annotations

import json
import math
import os
import platform
import re
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import typer

from vuskit import __version__
from vuskit._util.text import wrapped_table
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import AsJson
from vuskit.cli._output import chosen_format, emit, terminal_width
from vuskit.kernels.backend import core_name, native_core
from vuskit.measures.evaluate import evaluate

_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)[^;]*;.*extra\s*==\s*['\"]([a-z]+)['\"]")
_NOT_PARTS = {"vuskit", "dev", "docs", "all"}


def doctor(as_json: AsJson = False) -> None:
    """Show versions, the core, optional packages and the cache, and test the measures.

    The exit code is 1 if a measure returns a wrong value.

    Example: vuskit doctor
    """
    found: dict[str, Any] = {
        "versions": _versions(),
        "core": _core(),
        "parts": list(_parts()),
        "cache": _cache(),
        "self_test": list(_self_test()),
    }
    emit(chosen_format(json=as_json), found, text=lambda: _text(found))
    if not all(check["passed"] for check in found["self_test"]):
        raise typer.Exit(ExitCode.FAULT)


def _versions() -> dict[str, str]:
    return {
        "vuskit": __version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
    }


def _core() -> dict[str, str | None]:
    """Return the core in use, its instruction set, and how to get the native one."""
    library = native_core()
    if library is not None:
        hint = None
    elif os.environ.get("VUSKIT_CORE") == "numpy":
        hint = "unset VUSKIT_CORE to use the native core"
    elif sysconfig.get_config_var("Py_GIL_DISABLED"):
        hint = "the native core does not support free-threaded Python"
    else:
        hint = (
            "for the native core, install a C compiler and run "
            "pip install --force-reinstall --no-deps --no-binary vuskit vuskit"
        )
    used = None if library is None else str(library.instruction_set())
    return {"name": core_name(), "instruction_set": used, "hint": hint}


def _parts() -> Iterator[dict[str, Any]]:
    """Yield the optional packages in the metadata of vuskit, with installed versions."""
    import importlib.metadata  # slow to import and only needed here

    try:
        requirements = importlib.metadata.requires("vuskit") or []
    except importlib.metadata.PackageNotFoundError:
        return
    matches = filter(None, map(_REQUIREMENT.match, requirements))
    pairs = [(match[1], match[2]) for match in matches if not _NOT_PARTS & set(match.groups())]
    sizes = Counter(extra for _, extra in pairs)
    # Recommend the smallest extra that installs a package.
    extras = dict(sorted(pairs, key=lambda pair: -sizes[pair[1]]))
    for name, extra in sorted(extras.items(), key=lambda pair: (sizes[pair[1]], pair)):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = None
        install = f'pip install "vuskit[{extra}]"'
        yield {"name": name, "extra": extra, "version": version, "install": install}


def _cache() -> dict[str, Any]:
    from vuskit.datasets import cache_folder

    folder = cache_folder()
    there = folder.is_dir()
    return {
        "folder": str(folder),
        "writable": os.access(folder if there else _nearest(folder), os.W_OK),
        "datasets": sorted(path.name for path in folder.iterdir() if path.is_dir())
        if there
        else [],
    }


def _nearest(folder: Path) -> Path:
    """Return the nearest parent folder that exists."""
    return next(parent for parent in folder.parents if parent.exists())


def golden_case() -> tuple[list[int], list[int]]:
    """Return labels and scores of the self-test; integers are the same on every machine.

    Examples
    --------
    >>> labels, scores = golden_case()
    >>> len(labels), sum(labels), len(set(scores))
    (300, 36, 77)
    """
    events = ((20, 32), (90, 91), (97, 105), (180, 190), (295, 300))
    labels = [int(any(start <= i < stop for start, stop in events)) for i in range(300)]
    # Scores lag by three points; those of the second half exceed mean + 3 sigma.
    raised = [labels[max(i - 3, 0)] * (60 if i < 150 else 240) for i in range(300)]
    return labels, [(i * i * 31 + 7 * i) % 97 + raised[i] for i in range(300)]


def golden_values() -> dict[str, Any]:
    """Return the cases of the self-test (settings and expected values), and their tolerance."""
    file = resources.files("vuskit.cli") / "golden.json"
    golden: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return golden


def _self_test() -> Iterator[dict[str, Any]]:
    labels, scores = golden_case()
    golden = golden_values()
    for case in golden["cases"]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the coarse grid is intended
            got = evaluate(labels, scores, **case["settings"], measures=list(case["values"]))
        wrong = {
            name: got[name]
            for name, wanted in case["values"].items()
            if not math.isclose(got[name], wanted, rel_tol=0, abs_tol=golden["tolerance"])
        }
        yield {
            "settings": str(got.settings),
            "values": len(case["values"]),
            "passed": not wrong,
            "wrong": wrong,
        }


def _text(found: dict[str, Any]) -> str:
    width = terminal_width()
    lines = [" ".join(pair) for pair in found["versions"].items()]
    core = found["core"]
    more = core["hint"] or f"instruction set {core['instruction_set']}"
    lines += f"core {core['name']}: {more}".replace(" pip ", "\n  pip ").splitlines()
    parts = [
        [part["name"], part["version"] or "missing", "" if part["version"] else part["install"]]
        for part in found["parts"]
    ]
    if parts:
        lines += ["", wrapped_table(["optional part", "version", ""], parts, width)]
    cache = found["cache"]
    state = "" if cache["writable"] else " (not writable; set VUSKIT_CACHE)"
    held = ", ".join(cache["datasets"]) or "no data sets yet"
    lines += ["", f"cache: {cache['folder']}{state}: {held}"]
    lines.append("")
    for check in found["self_test"]:
        lines.append(
            f"{'ok    ' if check['passed'] else 'WRONG '} {check['settings']}: "
            f"{check['values']} values"
        )
        lines += [f"        {name} gave {value!r}" for name, value in check["wrong"].items()]
    return "\n".join(lines)
