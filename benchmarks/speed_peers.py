"""One virtual environment per peer, made from ``peers/recipes.toml``."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from speed_worker import OWN_ENVIRONMENTS

RULER = ("numpy", "scikit-learn")
RECIPES = Path(__file__).parent / "peers" / "recipes.toml"
INSTALL_SECONDS = 900


@dataclass(frozen=True)
class Recipe:
    """How a peer gets into an environment of its own."""

    name: str
    package: str
    needs: tuple[str, ...]
    probe: str

    @property
    def stamp(self) -> str:
        """Changes with the recipe, so that an environment made from an older one is made anew."""
        text = json.dumps([self.package, self.needs, self.probe, sys.version_info[:2]])
        return hashlib.sha256(text.encode()).hexdigest()


class InstallError(Exception):
    """A peer cannot be installed; the text says why."""


def recipes() -> dict[str, Recipe]:
    """Every recipe by the name of its environment."""
    tables = tomllib.loads(RECIPES.read_text(encoding="utf-8"))
    return {
        name: Recipe(name, table["package"], tuple(map(_pinned, table["needs"])), table["probe"])
        for name, table in tables.items()
    }


def _pinned(requirement: str) -> str:
    """The ruler in the version that is installed here, everything else as it stands."""
    return (
        f"{requirement}=={metadata.version(requirement)}" if requirement in RULER else requirement
    )


def python_of(environment: str, folder: Path) -> Path:
    """The interpreter that runs a worker of ``environment``."""
    if environment in OWN_ENVIRONMENTS:
        return Path(sys.executable)
    binaries = "Scripts" if sys.platform == "win32" else "bin"
    return folder / environment / binaries / "python"


def install(recipe: Recipe, folder: Path) -> None:
    """Make the environment of ``recipe`` under ``folder`` unless it is already there."""
    stamp = folder / recipe.name / "recipe.sha256"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == recipe.stamp:
        return
    python = str(python_of(recipe.name, folder))
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([sys.executable, "-m", "venv", "--clear", str(folder / recipe.name)])
    _run([*pip, *recipe.needs])
    _run([*pip, "--no-deps", recipe.package])
    _run([python, "-c", recipe.probe])
    stamp.write_text(recipe.stamp, encoding="utf-8")


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(str(error)) from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()] or lines or ["no message"]
        raise InstallError(errors[-1].strip()[:200])
