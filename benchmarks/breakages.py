"""Break vuskit on purpose, one place at a time, and see whether the tests notice.

    python benchmarks/breakages.py                 # all of them; minutes
    python benchmarks/breakages.py sweep readers   # those whose file contains one of these words
    python benchmarks/breakages.py --anchors       # only whether every old text still exists once

Each breakage replaces one text in a copy of the repository and runs a few test files there. It is
caught if a test fails. A text that no longer exists exactly once is reported as stale: find the
statement's new form, or a similar statement, and write it here. Run it after tests were removed or
made cheaper: the same breakages must be caught as before.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE = "kernels/core/"


@dataclass(frozen=True)
class Breakage:
    """A statement of a file in ``src/vuskit``, its broken form, and the tests that must notice."""

    file: str
    old: str
    new: str
    tests: str  # files and folders in tests/, and options of pytest

    @property
    def title(self) -> str:
        """The file and the broken text, in one line."""
        return f"{self.file}: {' '.join(self.new.split())[:70]}"


BREAKAGES = [
    # The kernels in C.
    Breakage(
        CORE + "geometry.c",
        "rules.events == TOUCH ? gap : gap + 1",
        "rules.events == TOUCH ? gap + 1 : gap + 1",
        "kernels/test_native.py kernels/test_native_bits.py",
    ),
    Breakage(
        CORE + "geometry.c",
        "smaller(larger(to_left, to_right), smaller(to_left_two, to_right_two))",
        "larger(to_left, to_right)",
        "kernels/test_native.py kernels/labels",
    ),
    Breakage(
        CORE + "existence.c",
        "after >= cluster[i].stop && after < cluster[i].right",
        "after >= cluster[i].stop && after < cluster[i].right - 1",
        "kernels/test_native.py kernels/labels",
    ),
    Breakage(
        CORE + "existence.c",
        "last->peak = cluster[i].peak > last->peak ? cluster[i].peak : last->peak;",
        "last->peak = cluster[i].peak;",
        "kernels/test_native.py kernels/labels",
    ),
    Breakage(
        CORE + "ranking.c",
        "ranking->before[k] = i + at_least[k] - equal[k];",
        "ranking->before[k] = i + at_least[k];",
        "kernels/test_native.py kernels/ranking",
    ),
    Breakage(
        CORE + "ranking.c",
        "point[at - 1].second > one.second",
        "point[at - 1].second < one.second",
        "kernels/test_native.py kernels/test_native_bits.py",
    ),
    Breakage(
        CORE + "sweep.c",
        "hits.slope[h] = 2.0 / r;",
        "hits.slope[h] = 2.0 / (r + 1.0);",
        "kernels/test_native.py measures/test_against_oracle.py",
    ),
    Breakage(
        CORE + "sweep.c",
        "sweep->merged[half] += sweep->merged[half - 1];",
        ";",
        "kernels/test_native.py kernels/labels",
    ),
    Breakage(
        CORE + "sweep.c",
        "hits.s2[h] = s2 + lost2;",
        "hits.s2[h] = s2 + 0.0 * lost2;",
        "kernels/test_native_bits.py kernels/test_native.py kernels/test_long_series.py",
    ),
    # Their NumPy twins.
    Breakage(
        "kernels/sweep/areas.py",
        "false += levels.predicted_before - found_before",
        "false += levels.predicted - levels.found",
        "measures/test_against_oracle.py measures/test_conformance.py",
    ),
    Breakage(
        "kernels/sweep/areas.py",
        "before = np.where(r_before > 0, hits_before / r_before, 1.0)",
        "before = np.where(r_before > 0, hits_before / r_before, 0.0)",
        "measures/test_against_oracle.py measures/test_conformance.py",
    ),
    Breakage(
        "kernels/sweep/areas.py",
        "self.last_inverse = inverse[:, -1].copy()",
        "self.last_inverse = inverse[:, 0].copy()",
        "measures/test_against_oracle.py measures/test_conformance.py",
    ),
    Breakage(
        "kernels/sweep/exact.py",
        "candidates = np.flatnonzero(values >= values[: plan.n_inside].min())",
        "candidates = np.flatnonzero(values > values[: plan.n_inside].min())",
        "measures/test_against_oracle.py measures/test_conformance.py",
    ),
    Breakage(
        "kernels/labels/buffers.py",
        "np.minimum(second, left_two, out=second)",
        "pass",
        "kernels/labels kernels/test_native.py",
    ),
    Breakage(
        "kernels/labels/existence.py",
        'np.sort(joined_from).searchsorted(here, side="right")',
        'np.sort(joined_from).searchsorted(here, side="left")',
        "kernels/labels kernels/test_native.py",
    ),
    Breakage(
        "kernels/affiliation.py",
        "far = np.maximum(near, far)",
        "far = far + 0",
        "measures/test_proximity.py",
    ),
    Breakage(
        "kernels/pate.py",
        "reached.append(np.minimum(self.scores[before], self.peaks[owner]))",
        "reached.append(self.scores[before])",
        "measures/test_proximity.py",
    ),
    # Measures, buffers, alignment.
    Breakage(
        "measures/ranges.py",
        "reward = alpha * (pieces > 0) + (1.0 - alpha) * share",
        "reward = alpha * pieces + (1.0 - alpha) * share",
        "measures/test_against_oracle.py measures/test_invariances.py",
    ),
    Breakage(
        "measures/event.py",
        "found = np.where(hits / lengths > k, lengths, hits)",
        "found = np.where(hits / lengths >= k, lengths, hits)",
        "measures/test_event.py",
    ),
    Breakage(
        "measures/event.py",
        "precision *= 1 - (predicted - hits) / (work.n - work.labels.n_anomalous)",
        "precision *= 1 - (predicted - hits) / work.n",
        "measures/test_event.py measures/test_against_oracle.py",
    ),
    Breakage(
        "buffers.py",
        "return 125 if best < 3 or best > 300 else best + 3",
        "return 125 if best < 3 or best > 300 else best",
        "test_buffers.py",
    ),
    Breakage(
        "buffers.py",
        "heights = correlation[lags] * series.size / pairs",
        "heights = correlation[lags]",
        "test_buffers.py",
    ),
    Breakage(
        "buffers.py",
        "valley = min(valley, higher.pop()[1])",
        "valley = higher.pop()[1]",
        "test_buffers.py",
    ),
    Breakage(
        "alignment.py",
        '"center": length // 2',
        '"center": (length - 1) // 2',
        "test_alignment.py",
    ),
    Breakage(
        "alignment.py",
        "filled[last + 1 :] = scores[last]",
        "filled[last + 1 :] = 0.0",
        "test_alignment.py",
    ),
    # Readers and series.
    Breakage(
        "datasets/readers/ucr.py",
        "labels[start:stop] = True",
        "labels[start : stop + 1] = True",
        "datasets/test_readers.py datasets/test_raw_files.py",
    ),
    Breakage(
        "datasets/readers/nab.py",
        "(times >= first) & (times <= last)",
        "(times >= first) & (times < last)",
        "datasets/test_readers.py datasets/test_raw_files.py",
    ),
    Breakage(
        "datasets/readers/nab.py",
        "return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time",
        "return time.replace(tzinfo=None)",
        "datasets/test_readers.py datasets/test_raw_files.py",
    ),
    Breakage(
        "datasets/readers/telemanom.py",
        "labels[first : last + 1] = True",
        "labels[first:last] = True",
        "datasets/test_readers.py datasets/test_raw_files.py",
    ),
    Breakage(
        "datasets/columns.py",
        "in LABEL_NAMES and bool(np.isin(numbers, (0, 1)).all())",
        "in LABEL_NAMES",
        "datasets bench/test_sources.py cli/test_evaluate.py",
    ),
    Breakage(
        "datasets/columns.py",
        "plain in PLACE_NAMES or is_row_number(name)",
        "plain == 'id' or is_row_number(name)",
        "datasets bench/test_sources.py cli/test_evaluate.py",
    ),
    Breakage(
        "datasets/tickets.py",
        'side="right" if self.inclusive else "left"',
        'side="right"',
        "datasets/test_raw_files.py datasets/test_inputs.py",
    ),
    Breakage(
        "datasets/tickets.py",
        "n_points, ends + self.inclusive)",
        "n_points, ends)",
        "datasets/test_raw_files.py datasets/test_inputs.py",
    ),
    Breakage(
        "datasets/series.py",
        "labels=self.labels[length:], train_length=None",
        "labels=self.labels[length:]",
        "datasets/test_series.py",
    ),
    # The pool and the loop.
    Breakage(
        "engine/_pool.py",
        "os.killpg(pid, signal.SIGKILL)",
        "os.kill(pid, signal.SIGKILL)",
        "engine/test_executors.py -k processes_of_a_task_end",
    ),
    Breakage(
        "engine/_pool.py",
        "job.repeated = True  # an earlier task of the process may be the cause",
        "return outcome",
        "engine/test_executors.py -k repeated_in_a_new",
    ),
    Breakage(
        "engine/_pool.py",
        "if doubtful or not process.usable:",
        "if doubtful:",
        "engine/test_executors.py -k suffers",
    ),
    Breakage(
        "engine/_pool.py",
        "return task.group is None or self.codes.get(task.group, task.code) == task.code",
        "return True",
        'engine/test_executors.py -k "other_code and local"',
    ),
    Breakage(
        "engine/_process.py",
        "random.seed()  # the seed",
        "pass  # the seed",
        "engine/test_executors.py -k seeds_end",
    ),
    Breakage(
        "engine/_process.py",
        "self.usable &= not self._has_busy_threads()",
        "pass",
        "engine/test_process_state.py",
    ),
    Breakage(
        "engine/run.py",
        "self.ready.extend(children)",
        "self.ready.extend(children[:1])",
        "engine/test_run.py",
    ),
    Breakage(
        "engine/run.py",
        "room = min(room, at_most - len(executor.running))",
        "pass",
        "engine/test_run.py",
    ),
    # The store.
    Breakage(
        "store/store.py",
        "if key not in known and path.stat().st_mtime",
        "if key in known and path.stat().st_mtime",
        "store bench/test_kill.py",
    ),
    Breakage(
        "store/store.py",
        "if scores_digest(scores) != digest:",
        "if scores_digest(scores) == '':",
        "store bench/test_verify.py",
    ),
    Breakage(
        "store/store.py",
        'self._execute("ROLLBACK")',
        'self._execute("COMMIT")',
        "store",
    ),
    Breakage(
        "store/store.py",
        'connection.execute("PRAGMA foreign_keys = ON")',
        "pass",
        "store bench/test_runner.py",
    ),
    Breakage(
        "store/identity.py",
        "path is not None and path.is_file() and file_digest(path) != file.sha256",
        "False",
        "store/test_identity.py bench/test_permission.py",
    ),
    Breakage(
        "_util/files.py",
        "temporary.unlink(missing_ok=True)",
        "pass",
        "_util/test_files.py",
    ),
    # Statistics and means.
    Breakage(
        "statistics/tests.py",
        "np.arange(len(order), 0, -1)",
        "len(order)",
        "statistics/test_tests.py",
    ),
    Breakage(
        "statistics/tests.py",
        "error = np.sqrt(k * (k + 1) / (12 * n))",
        "error = np.sqrt(k * (k + 1) / (6 * n))",
        "statistics/test_tests.py",
    ),
    Breakage(
        "statistics/tests.py",
        "if stop > furthest and len(group) > 1:",
        "if len(group) > 1:",
        "statistics/test_ranks.py",
    ),
    Breakage(
        "statistics/comparison.py",
        "moved = differences[differences != 0]",
        "moved = differences",
        "statistics/test_effects.py statistics/test_comparison.py",
    ),
    Breakage(
        "statistics/tests.py",
        "frame.min(axis=1) - 1 if higher_is_better else frame.max(axis=1) + 1",
        "frame.min(axis=1) - 1",
        "statistics",
    ),
    Breakage(
        "bench/means.py",
        "return np.asarray((there | ~present).all(axis=-2) & there.any(axis=-2))",
        "return np.asarray(there.any(axis=-2))",
        "bench/test_means.py",
    ),
    Breakage(
        "bench/means.py",
        "sign = -1 if stored.get(main, measure_called(main).higher_is_better) else 1",
        "sign = -1",
        "bench/test_means.py",
    ),
    # Tables for reading.
    Breakage(
        "report/publication.py",
        "return order[0], order[1] if second else None",
        "return order[0], order[1]",
        "report/test_publication.py",
    ),
    Breakage(
        "_util/tables.py",
        "return escape_control(escape_formula(plain)) if isinstance(plain, str) else plain",
        "return escape_control(plain) if isinstance(plain, str) else plain",
        "_util/test_tables.py cli/test_output.py",
    ),
    # Detectors.
    Breakage(
        "detectors/_windows.py",
        "before = (missing + 1) // 2",
        "before = missing // 2",
        "detectors/test_windows.py",
    ),
    Breakage(
        "detectors/_windows.py",
        "flat = spread <= 1e-12 *",
        "flat = spread <= 0 *",
        "detectors/test_windows.py",
    ),
    Breakage(
        "detectors/poly.py",
        "lefts = np.clip(starts - lead, 0, n - length)",
        "lefts = np.clip(starts - lead, 0, None)",
        "detectors/test_methods.py detectors/test_contract.py -k poly",
    ),
    Breakage(
        "detectors/pca.py",
        "rows = (windows - self._mean) * self._scale",
        "rows = windows * self._scale",
        "detectors/test_methods.py detectors/test_contract.py -k pca",
    ),
]


def copy_of_repository(folder: Path) -> None:
    """Copy the tracked files and the compiled core."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = [name for name in listed.stdout.decode().split("\0") if name]
    core = [str(path.relative_to(ROOT)) for path in (ROOT / "src/vuskit/kernels").glob("_core.*")]
    for name in names + core:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def is_caught(breakage: Breakage, folder: Path) -> tuple[bool, str]:
    """Whether a test fails, and the line that says so."""
    source = folder / "src/vuskit"
    path = source / breakage.file
    text = path.read_text(encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",  # two edits in one second would share a cached file
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    native = breakage.file.startswith(CORE)
    if breakage.file.startswith("kernels/") and not native and "kernels" not in breakage.tests:
        environment["VUSKIT_CORE"] = "numpy"  # as `make test-numpy` does
    compiled = {core: core.read_bytes() for core in (source / "kernels").glob("_core.*")}
    try:
        path.write_text(text.replace(breakage.old, breakage.new), encoding="utf-8")
        if native:
            build = [sys.executable, "hatch_build.py"]
            subprocess.run(build, cwd=folder, env=environment, capture_output=True, check=True)
        words = shlex.split(breakage.tests)
        cut = words.index("-k") if "-k" in words else len(words)
        selected = [f"tests/{name}" for name in words[:cut]] + words[cut:]
        options = ["-q", "-x", "-p", "no:cacheprovider", "--basetemp", str(folder / "tmp")]
        command = [sys.executable, "-m", "pytest", *options, *selected]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    finally:
        path.write_text(text, encoding="utf-8")
        for core, content in compiled.items() if native else ():
            core.write_bytes(content)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode not in (0, 1):
        failed = [f"pytest ended with {done.returncode}", *failed]
    return done.returncode == 1, (failed or [""])[0][:110]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="parts of file names")
    parser.add_argument("--anchors", action="store_true", help="only look for the old texts")
    given = parser.parse_args()
    chosen = [b for b in BREAKAGES if not given.words or any(w in b.file for w in given.words)]
    missed = stale = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not given.anchors:
            copy_of_repository(folder)
        for breakage in chosen:
            path = ROOT / "src/vuskit" / breakage.file
            if not path.is_file() or path.read_text(encoding="utf-8").count(breakage.old) != 1:
                stale += 1
                print("stale ", breakage.title, flush=True)
            elif not given.anchors:
                caught, line = is_caught(breakage, folder)
                missed += not caught
                print("caught" if caught else "MISSED", breakage.title, "|", line, flush=True)
    print(f"{len(chosen)} breakages: {missed} missed, {stale} stale")
    return 1 if missed or stale else 0


if __name__ == "__main__":
    sys.exit(main())
