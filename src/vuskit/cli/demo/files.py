"""What the demo keeps where, and the plan that it runs."""

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
    """The folder of a demo; nothing in it that the demo did not write is touched.

    Parameters
    ----------
    path : Path
        The folder.
    """

    path: Path

    @property
    def plan(self) -> Path:
        """The plan, by whose first line a folder is known as the demo's."""
        return self.path / "plan.toml"

    @property
    def data(self) -> Path:
        """The series, in one folder for each family."""
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
        """The picture."""
        return self.path / "overview.png"

    def to_dict(self) -> dict[str, Path]:
        """Where everything is, by what it is."""
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
        """Make the folder, or take that of an earlier demo, and write the plan.

        Raises
        ------
        InvalidInputError
            If there is something else in its place.
        """
        if self.path.exists() and not (self.path.is_dir() and self._is_own()):
            raise InvalidInputError(
                "`--output` must be a new or empty folder, or that of an earlier demo, "
                f"got {str(self.path)!r}"
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
        """Write every series that is not there yet as a csv file."""
        for one in series:
            path = self.data / one.dataset / f"{one.name}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            content = one.to_frame().round(6).to_csv(index=False)
            # Untouched files need not be read again by the run.
            if not path.is_file() or path.read_text(encoding="utf-8") != content:
                write_file(path, content)


def plan_text(series: Sequence[Series], detectors: Sequence[str], *, seed: int) -> str:
    """Write the plan: these series, these detectors, all thirteen measures.

    Parameters
    ----------
    series : sequence of Series
        Their files are asked for by data set and name, so that others in the folder do not matter.
    detectors : sequence of str
        Entries of ``[[detectors]]`` in TOML.
    seed : int
        Of the detectors.
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
