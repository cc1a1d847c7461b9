"""Plans, and an executor that works in this process where limits are not the question."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from vuskit.bench.plan import load_plan
from vuskit.bench.runner import run_plan
from vuskit.engine.run import InProcessExecutor
from vuskit.store import Store

COMMAND = [sys.executable, "-c", "from vuskit.cli.main import run; run()", "bench"]
HERE = Path(__file__).parent


class Workshop:
    """A folder with a plan, and what a run of it left."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.path = base / "bench.toml"
        self.folder = base / "bench-run"
        shutil.copy(HERE / "misbehaving.py", base)
        shutil.copy(HERE.parent / "waiting.py", base)

    def write(self, *, series=None, detectors=("fine",), evaluate=None, top="", tail=""):
        entries = [top, series or SERIES]
        for detector in detectors:
            name = detector if "=" in detector else f'name = "misbehaving:{detector}"'
            entries.append(f"[[detectors]]\n{name}")
        entries += [EVALUATE if evaluate is None else evaluate, tail]
        self.path.write_text("\n".join(entries))
        return self

    def plan(self):
        """Read the plan as another process would: a process imports each module once."""
        self.forget()
        return load_plan(self.path)

    def forget(self):
        """Forget the modules beside the plan."""
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(f"{self.base}{os.sep}"):
                del sys.modules[name]

    def run(self, **options):
        """Run in this process and return the jobs that were done."""
        done, jobs = [], {}

        def note_jobs(expanded):
            jobs.update(expanded.jobs_by_key)

        def note(task, outcome):
            done.append((jobs[task.key], outcome))

        executor = options.pop("executor", None) or InProcessExecutor()
        run_plan(self.plan(), executor=executor, on_outcome=note, planned=note_jobs, **options)
        return done

    def query(self, sql):
        with contextlib.closing(sqlite3.connect(self.folder / "results.sqlite")) as connection:
            return connection.execute(sql).fetchall()

    def change(self, sql):
        """Change the database, as a damaged disk or an editor would."""
        connection = sqlite3.connect(self.folder / "results.sqlite")
        with contextlib.closing(connection), connection:
            connection.execute(sql)

    def values(self):
        """Values by series, detector, seed, settings and measure, also of earlier plans."""
        with Store.read(self.folder) as store:
            return {
                (result.key, name): value
                for result in store.results()
                if result.kind == "evaluate" and result.value is not None
                for name, value in result.value["values"].items()
            }

    def leftovers(self):
        """Files that a finished run should not have."""
        known = {f"{key}.npy" for (key,) in self.query("SELECT key FROM results")}
        return sorted(
            path.name
            for path in self.folder.rglob("*")
            if path.is_file() and path.name not in {"results.sqlite", ".vuskit-lock", *known}
        )


SERIES = '[[series]]\nfamily = "ecg"\nn = 1500\nn_anomalies = 3\nseed = [1, 2]'
EVALUATE = '[[evaluate]]\nmeasures = ["auc_pr", "vus_pr"]\nbuffer = "median_anomaly"'


@pytest.fixture
def workshop(tmp_path):
    workshop = Workshop(tmp_path)
    yield workshop
    workshop.forget()


@pytest.fixture
def start(workshop, environment):
    """Start ``vuskit bench run`` on the plan, as another process."""
    started = []

    def launch(shop=workshop):
        process = subprocess.Popen(
            [*COMMAND, "run", "--plain", str(shop.path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        started.append(process)
        return process

    yield launch
    for process in started:  # of a failed test
        process.kill()
        process.communicate()


@pytest.fixture
def environment():
    """Environment of commands that tests start."""
    return {**os.environ, "COLUMNS": "200"}
