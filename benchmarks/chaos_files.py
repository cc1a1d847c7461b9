"""Files of a user during a storm: plan, code, series, labels and scores, and edits of each."""

from __future__ import annotations

import copy
import csv
import io
import json
import os
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

MODULES = Path(__file__).parent / "chaos"
N_POINTS = 600
FIRST_NUMBER = 100  # number of the first series: its first value, by which faults find it
TIME_LIMIT = 8  # seconds of a job; honest ones take milliseconds
N_SEEDS = 2

# Detectors that the plan always has, and those that edits add and remove.
BASE = (
    {"label": "Distance", "name": "storm_detectors:distance", "power": 1.0},
    {"label": "Jump", "name": "storm_detectors:jump"},
    {"label": "Noise", "name": "storm_detectors:noise", "weight": 0.5},
    {"label": "Level", "name": "storm_detectors:Level"},
    {"label": "Spread", "name": "storm_detectors:spread", "window": 11},
    {"label": "Wide spread", "name": "storm_detectors:wide_spread"},
    {"label": "Half jump", "name": "storm_detectors:jump", "factor": 0.5},
    {"label": "Moving z-score", "name": "moving_zscore", "window": 20},
    {"label": "Values", "name": "values"},
)
EXTRA = (
    {"label": "Square", "name": "storm_detectors:distance", "power": 2.0},
    {"label": "Root", "name": "storm_detectors:Level", "power": 0.5},
    {"label": "Long spread", "name": "storm_detectors:spread", "window": 51},
    {"label": "Loud noise", "name": "storm_detectors:noise", "weight": 3.0},
    {"label": "Short z-score", "name": "moving_zscore", "window": 10},
)
FUNCTIONS = ("distance", "jump", "noise", "Level", "spread")
MEASURES = ("auc_pr", "storm_top", "auc_roc", "precision_at_k", "vus_pr")
PARAMETERS = {"power": (1.0, 1.5, 3.0), "weight": (0.5, 1.0), "window": (11, 15, 21)}
CONSTANTS = (
    ("storm_helper.py", "WIDTH", (3, 5, 7, 9)),
    ("storm_detectors.py", "SHIFT", (1, 2, 3, 4)),
    ("storm_detectors.py", "LAG", (1, 2, 3, 4)),
    ("storm_measures.py", "TOP", (10, 20, 30, 40)),
)


# Files that nobody but the user may touch, beside the plan and in the run folder.
USER_FILES = ("notes.txt", "tmp/draft.txt", "lock")
USER_CONTENT = b"a user's file\n"


def write_user_files(folder: Path) -> None:
    """Write the user's files if they are not there."""
    for name in USER_FILES:
        if not (folder / name).exists():
            _write(folder / name, USER_CONTENT)


@dataclass
class Workspace:
    """Everything beside the run folder.

    Parameters
    ----------
    base : Path
        Folder of the plan.
    run : str
        Run folder in the plan.
    executor : str
        Lines of the plan's table ``[executor]``.
    n_series, n_tables, n_detectors : int
        Series with files, tables of imported scores, detectors that the plan always has.
    seed : int
        Of the series.
    """

    base: Path
    run: str
    executor: str
    n_series: int
    n_tables: int
    n_detectors: int
    seed: int
    detectors: list[dict[str, Any]] = field(default_factory=list)
    measures: list[str] = field(default_factory=lambda: list(MEASURES[:3]))
    buffer: int = 10
    earlier: dict[Path, list[bytes]] = field(default_factory=dict)

    @classmethod
    def for_jobs(cls, base: Path, n_jobs: int, *, run: str, executor: str, seed: int) -> Workspace:
        """Make the files of a plan with at least so many jobs, a few failing ones aside."""
        n_detectors = len(BASE) if n_jobs >= 100 else 4
        n_tables = max(2, n_jobs // 30)
        # One detector runs once per seed; each score and each imported column is evaluated.
        per_series = 2 * (n_detectors + N_SEEDS - 1)
        spare = n_jobs // 20
        n_series = -(-(n_jobs + spare - 4 * n_tables) // per_series)
        made = cls(base, run, executor, n_series, n_tables, n_detectors, seed)
        made.detectors = [dict(entry) for entry in BASE[:n_detectors]]
        made._write_all()
        return made

    # -- what is there at the beginning -----------------------------------------------------------

    def _write_all(self) -> None:
        self.base.mkdir(parents=True)
        for module in MODULES.glob("*.py"):
            shutil.copy(module, self.base)
        rng = np.random.default_rng(self.seed)
        windows, rows = {}, []
        for place in range(self.n_series):
            values, labels = _series(rng, FIRST_NUMBER + place)
            match place % 3:
                case 0:
                    # Equal names in different folders.
                    path = self.base / f"data/plant{place}/logs/pump.csv"
                    _write(path, _table({"value": values, "label": labels}))
                case 1:
                    path = self.base / f"data/nab/group/meter{place}.csv"
                    _write(path, _table({"timestamp": _times(values.size), "value": values}))
                    windows[f"group/{path.name}"] = [
                        [_time(first), _time(last)] for first, last in _ranges(labels)
                    ]
                case 2:
                    path = self.base / f"data/nasa/test/T-{place}.npy"
                    _write(path, _npy(values))
                    rows.append([path.stem, "SMAP", str(_ranges(labels))])
        if windows:
            self._write_windows(windows)
        if rows:
            self._write_anomalies(rows)
        for place in range(self.n_tables):
            values, labels = _series(rng, place)
            columns = {"value": values, "label": labels}
            columns["Kept"] = np.abs(values) + rng.random(values.size)
            columns["Other"] = rng.random(values.size)
            _write(self.base / f"scores/table{place}.csv", _table(columns))
        write_user_files(self.base)
        self.write_plan()

    @property
    def plan(self) -> Path:
        """The plan's file."""
        return self.base / "bench.toml"

    def write_plan(self) -> None:
        """Write the plan as it is now."""
        _write(self.plan, self.plan_text(self.run, self.executor).encode())

    def plan_text(self, run: str, executor: str) -> str:
        """The plan with a run folder and an executor."""
        entries = "".join(
            "[[detectors]]\n"
            + "".join(f"{key} = {json.dumps(value)}\n" for key, value in entry.items())
            for entry in self.detectors
        )
        return (
            f'folder = "{run}"\nseeds = {list(range(N_SEEDS))}\nimports = ["storm_measures"]\n'
            f'[[series]]\nfolder = "data"\n{entries}[[scores]]\nfolder = "scores"\n'
            f"[[evaluate]]\nmeasures = {json.dumps(self.measures)}\nbuffer = {self.buffer}\n"
            f'[limits]\nseconds = {TIME_LIMIT}\nmemory = "1 GB"\n[executor]\n{executor}'
        )

    def copy_to(self, target: Path, *, run: str, executor: str) -> Path:
        """Copy everything but run folders and bytecode; return the plan's file."""
        ignored = shutil.ignore_patterns("__pycache__", "disk", "fresh")
        shutil.copytree(self.base, target, ignore=ignored)
        plan = target / "bench.toml"
        plan.write_text(self.plan_text(run, executor))
        return plan

    # -- edits ------------------------------------------------------------------------------------

    def edit_plan(self, chance: random.Random) -> str:
        """Change names, detectors, parameters, measures or settings."""
        return self._edit(chance, _PLAN_EDITS)

    def edit_code(self, chance: random.Random) -> str:
        """Change a constant of a module."""
        name, constant, choices = chance.choice(CONSTANTS)
        path = self.base / name
        text = path.read_text()
        pattern = re.compile(rf"^{constant} = (\d+)$", re.MULTILINE)
        found = pattern.search(text)
        assert found is not None
        number = chance.choice([one for one in choices if one != int(found[1])])
        _replace(chance, path, pattern.sub(f"{constant} = {number}", text).encode())
        return f"{name}: {constant} = {number}"

    def edit_shared_code(self, chance: random.Random) -> str:
        """Change code that most detectors use, so that much is left to run."""
        path = self.base / "storm_helper.py"
        text = path.read_text()
        number = 3 + (int(re.findall(r"^WIDTH = (\d+)$", text, re.MULTILINE)[0]) - 1) % 8
        _replace(chance, path, re.sub(r"(?m)^WIDTH = \d+$", f"WIDTH = {number}", text).encode())
        return f"storm_helper.py: WIDTH = {number}"

    def edit_data(self, chance: random.Random) -> str:
        """Change values, labels or imported scores, or put back earlier ones."""
        return self._edit(chance, _DATA_EDITS)

    def _edit(
        self,
        chance: random.Random,
        edits: tuple[Callable[[Workspace, random.Random], str | None], ...],
    ) -> str:
        """Apply the first edit of a random order that is possible."""
        for edit in chance.sample(edits, len(edits)):
            done = edit(self, chance)
            if done is not None:
                return done
        raise AssertionError("some edit is always possible")

    def _swap_labels(self, chance: random.Random) -> str:
        one, two = chance.sample(self.detectors, 2)
        one["label"], two["label"] = two["label"], one["label"]
        self.write_plan()
        return f"labels {two['label']} and {one['label']} swapped"

    def _rename_label(self, chance: random.Random) -> str:
        entry = chance.choice(self.detectors)
        before = entry["label"]
        entry["label"] = f"{before.partition(' v')[0]} v{chance.randrange(1000)}"
        self.write_plan()
        return f"label {before} is now {entry['label']}"

    def _add_detector(self, chance: random.Random) -> str | None:
        taken = {_identity(entry) for entry in self.detectors}
        labels = {entry["label"] for entry in self.detectors}
        free = [e for e in EXTRA if _identity(e) not in taken and e["label"] not in labels]
        if not free:
            return None
        self.detectors.insert(chance.randrange(len(self.detectors)), dict(chance.choice(free)))
        self.write_plan()
        return "detector added"

    def _remove_detector(self, chance: random.Random) -> str | None:
        if len(self.detectors) <= self.n_detectors:
            return None
        removed = self.detectors.pop(chance.randrange(len(self.detectors)))
        self.write_plan()
        return f"detector {removed['label']} removed"

    def _change_parameter(self, chance: random.Random) -> str | None:
        able = [(e, key) for e in self.detectors for key in PARAMETERS if key in e]
        if not able:
            return None
        entry, key = chance.choice(able)
        entry[key] = chance.choice([one for one in PARAMETERS[key] if one != entry[key]])
        self.write_plan()
        return f"{entry['label']}: {key} = {entry[key]}"

    def _second_label(self, chance: random.Random) -> str | None:
        if len(self.detectors) > self.n_detectors + 2:
            return None
        entry = copy.deepcopy(chance.choice(self.detectors))
        entry["label"] = f"{entry['label']} again {chance.randrange(1000)}"
        self.detectors.append(entry)
        self.write_plan()
        return f"second label {entry['label']}"

    def _change_measures(self, chance: random.Random) -> str:
        self.measures = chance.sample(MEASURES, chance.randrange(3, len(MEASURES) + 1))
        self.write_plan()
        return f"measures {', '.join(self.measures)}"

    def _change_buffer(self, chance: random.Random) -> str:
        self.buffer = chance.choice([one for one in (5, 10, 20) if one != self.buffer])
        self.write_plan()
        return f"buffer = {self.buffer}"

    def _edit_table(self, chance: random.Random) -> str | None:
        """Change values or labels of a csv file that holds both."""
        paths = sorted(self.base.glob("data/plant*/logs/pump.csv"))
        if not paths:
            return None
        path = chance.choice(paths)
        rows = [line.split(",") for line in path.read_text().splitlines()]
        start = chance.randrange(50, N_POINTS - 50)
        for row in rows[start : start + chance.randrange(5, 30)]:
            row[1] = "0" if row[1] == "1" else "1"
            if chance.random() < 0.2:
                row[0] = repr(float(row[0]) + 0.5)
        self._save(chance, path, "".join(",".join(row) + "\n" for row in rows).encode())
        return f"{path.relative_to(self.base)} edited"

    def _edit_windows(self, chance: random.Random) -> str | None:
        """Change NAB's label file, which lies beside the series."""
        path = self.base / "data/nab/labels/combined_windows.json"
        if not path.exists():
            return None
        windows = json.loads(path.read_text())
        name = chance.choice(sorted(windows))
        first = chance.randrange(20, N_POINTS - 80)
        windows[name] = [[_time(first), _time(first + chance.randrange(5, 40))]]
        self._save(chance, path, json.dumps(windows, indent=1).encode())
        return f"labels of {name} edited"

    def _edit_anomalies(self, chance: random.Random) -> str | None:
        """Change telemanom's table of labels, which lies beside the series."""
        path = self.base / "data/nasa/labeled_anomalies.csv"
        if not path.exists():
            return None
        rows = list(csv.reader(io.StringIO(path.read_text())))
        row = chance.choice(rows[1:])
        first = chance.randrange(20, N_POINTS - 80)
        row[2] = str([[first, first + chance.randrange(5, 40)]])
        self._save(chance, path, _csv(rows))
        return f"labels of {row[0]} edited"

    def _edit_values(self, chance: random.Random) -> str | None:
        """Change the values of an npy file."""
        paths = sorted(self.base.glob("data/nasa/test/*.npy"))
        if not paths:
            return None
        path = chance.choice(paths)
        values = np.load(path)
        values[chance.randrange(1, values.size)] += 1.0
        self._save(chance, path, _npy(values))
        return f"{path.relative_to(self.base)} edited"

    def _edit_scores(self, chance: random.Random) -> str:
        """Change imported scores."""
        path = chance.choice(sorted(self.base.glob("scores/*.csv")))
        rows = [line.split(",") for line in path.read_text().splitlines()]
        row = chance.choice(rows[1:])
        row[chance.randrange(2, len(row))] = repr(chance.random())
        self._save(chance, path, "".join(",".join(row) + "\n" for row in rows).encode())
        return f"{path.relative_to(self.base)} edited"

    def _move_series(self, chance: random.Random) -> str | None:
        """Rename a folder above series, which may change the name of a data set."""
        folders = sorted(self.base.glob("data/plant*"))
        if not folders:
            return None
        folder = chance.choice(folders)
        target = folder.with_name(f"{folder.name.partition('-')[0]}-{chance.randrange(1000)}")
        if target.exists():
            return None
        folder.rename(target)
        self.earlier = {k: v for k, v in self.earlier.items() if not k.is_relative_to(folder)}
        return f"{folder.name} is now {target.name}"

    def _revert(self, chance: random.Random) -> str | None:
        """Put back an earlier content."""
        if not self.earlier:
            return None
        path = chance.choice(sorted(self.earlier))
        content = self.earlier[path].pop()
        if not self.earlier[path]:
            del self.earlier[path]
        _replace(chance, path, content)
        return f"{path.relative_to(self.base)} put back"

    def _save(self, chance: random.Random, path: Path, content: bytes) -> None:
        self.earlier.setdefault(path, []).append(path.read_bytes())
        _replace(chance, path, content)

    def _write_windows(self, windows: dict[str, Any]) -> None:
        path = self.base / "data/nab/labels/combined_windows.json"
        _write(path, json.dumps(windows, indent=1).encode())

    def _write_anomalies(self, rows: list[list[str]]) -> None:
        header = ["chan_id", "spacecraft", "anomaly_sequences"]
        _write(self.base / "data/nasa/labeled_anomalies.csv", _csv([header, *rows]))


_PLAN_EDITS = (
    Workspace._swap_labels,
    Workspace._rename_label,
    Workspace._add_detector,
    Workspace._remove_detector,
    Workspace._change_parameter,
    Workspace._second_label,
    Workspace._change_measures,
    Workspace._change_buffer,
)
_DATA_EDITS = (
    Workspace._edit_table,
    Workspace._edit_windows,
    Workspace._edit_anomalies,
    Workspace._edit_values,
    Workspace._edit_scores,
    Workspace._move_series,
    Workspace._revert,
)


def _identity(entry: dict[str, Any]) -> str:
    return json.dumps({k: v for k, v in entry.items() if k != "label"}, sort_keys=True)


def _series(rng: np.random.Generator, number: int) -> tuple[Any, Any]:
    """Values that begin with a number, and labels of three anomalies."""
    values = np.sin(np.arange(N_POINTS) / 7.0) + 0.2 * rng.standard_normal(N_POINTS)
    labels = np.zeros(N_POINTS, dtype=int)
    for start in (100, 280, 450):
        first = start + int(rng.integers(0, 60))
        last = first + int(rng.integers(8, 30))
        labels[first:last] = 1
        values[first:last] += rng.normal(1.5, 0.5)
    values = values.round(4)
    values[0] = number
    return values, labels


def _ranges(labels: Any) -> list[list[int]]:
    edges = np.flatnonzero(np.diff(np.pad(labels, 1)))
    return [[int(first), int(end) - 1] for first, end in edges.reshape(-1, 2)]


def _time(place: int) -> str:
    return f"2026-01-{1 + place // 1440:02} {place // 60 % 24:02}:{place % 60:02}:00"


def _times(count: int) -> list[str]:
    return [_time(place) for place in range(count)]


def _table(columns: dict[str, Any]) -> bytes:
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    return _csv([list(columns), *([*row] for row in rows)])


def _csv(rows: list[list[Any]]) -> bytes:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def _npy(values: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _replace(chance: random.Random, path: Path, content: bytes) -> None:
    """Save as editors do: under another name that is renamed, or in place, in two parts."""
    if chance.random() < 0.5:
        draft = path.with_name(f".{path.name}.draft")
        draft.write_bytes(content)
        os.replace(draft, path)
        return
    with path.open("wb", buffering=0) as stream:
        stream.write(content[: len(content) // 2])
        stream.write(content[len(content) // 2 :])
