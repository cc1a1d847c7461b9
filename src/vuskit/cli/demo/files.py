"""Files of the demo, and its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vuskit.cli._files import write_file
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.datasets import Series

__all__ = ["DemoFolder", "plan_text"]

_FIRST_LINE = "# The plan of `vuskit demo`."


@dataclass(frozen=True)
class DemoFolder:
    """Folder of a demo; the demo changes only its own files.

    Parameters
    ----------
    path : Path
        The folder.
    """

    path: Path

    @property
    def plan(self) -> Path:
        """The plan; its first line marks the folder as a demo."""
        return self.path / "plan.toml"

    @property
    def data(self) -> Path:
        """The series, one folder per family."""
        return self.path / "data"

    @property
    def run(self) -> Path:
        """The benchmark run."""
        return self.path / "benchmark"

    @property
    def studies(self) -> Path:
        """The results of the studies."""
        return self.path / "studies"

    @property
    def page(self) -> Path:
        """The page."""
        return self.path / "report.html"

    @property
    def scores(self) -> Path:
        """One series with the scores of three detectors."""
        return self.path / "scores.csv"

    @property
    def overview(self) -> Path:
        """The overview figure."""
        return self.path / "overview.png"

    def to_dict(self) -> dict[str, Path]:
        """Return all paths by name."""
        return {
            "folder": self.path,
            "page": self.page,
            "picture": self.overview,
            "run": self.run,
            "studies": self.studies,
            "scores": self.scores,
            "plan": self.plan,
        }

    def claim(self, plan: str) -> None:
        """Create the folder, or reuse that of an earlier demo, and write the plan.

        Raises
        ------
        InvalidInputError
            If the path exists and is not the folder of a demo.
        """
        if self.path.exists() and not (self.path.is_dir() and self._is_own()):
            raise InvalidInputError(
                "`--output` must be a new or empty folder, or that of an earlier demo, "
                f"got {str(self.path)!r}; choose another"
            )
        self.path.mkdir(parents=True, exist_ok=True)
        write_file(self.plan, plan)

    def _is_own(self) -> bool:
        if not any(self.path.iterdir()):
            return True
        if not self.plan.is_file():
            return False
        with self.plan.open(encoding="utf-8", errors="replace") as lines:
            return lines.readline().rstrip("\n") == _FIRST_LINE

    def write_series(self, series: Sequence[Series]) -> None:
        """Write missing or changed series as csv files."""
        for one in series:
            path = self.data / one.dataset / f"{one.name}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            content = one.to_frame().round(6).to_csv(index=False)
            # The run does not reread unchanged files.
            if not path.is_file() or path.read_text(encoding="utf-8") != content:
                write_file(path, content)


def plan_text(series: Sequence[Series], detectors: Sequence[str], *, seed: int) -> str:
    """Return a plan for these series and detectors, with all thirteen measures.

    Parameters
    ----------
    series : sequence of Series
        The plan names their files, so other files in the folder are ignored.
    detectors : sequence of str
        Entries of ``[[detectors]]`` in TOML.
    seed : int
        Seed of the detectors.
    """
    names = ",\n".join(f'  "{one.dataset}/{one.name}.csv"' for one in series)
    entries = "\n\n".join(f"[[detectors]]\n{entry}" for entry in detectors)
    return f"""\
{_FIRST_LINE}
# Change it and run it again: vuskit bench run THIS_FILE
# `vuskit bench init` writes a plan that explains every key.

folder = "benchmark"
seeds = [{seed}]

[[series]]
folder = "data"
names = [
{names},
]

{entries}

[[evaluate]]
measures = "paper"
buffer = "median_anomaly"
"""
