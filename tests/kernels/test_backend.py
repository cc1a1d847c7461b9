"""When a process loads the compiled kernels."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import subprocess
import sys
import threading
from importlib import metadata
from pathlib import Path

import pytest

import vuskit
from vuskit._util.optional import is_installed
from vuskit.kernels import backend

LOADED = backend.Kernels(*[lambda: None] * 3)


@pytest.fixture
def fresh(monkeypatch):
    """A process that has not loaded anything; loading is recorded instead of done."""
    monkeypatch.delenv("VUSKIT_NUMBA", raising=False)
    monkeypatch.setattr(backend, "_loaded", [])
    monkeypatch.setattr(backend, "_work", backend._Work())
    monkeypatch.setattr(backend, "_is_compiled_on_disk", lambda: True)
    monkeypatch.setattr(backend, "is_installed", lambda module: True)

    def load():
        backend._loaded.append(LOADED)
        return LOADED

    monkeypatch.setattr(backend, "_load", load)
    return monkeypatch


def calls_until_loaded(steps, most=5000):
    for number in range(1, most):
        if backend.compiled_kernels(steps) is not None:
            return number
    return None


def test_a_loop_loads_them_once_its_work_exceeds_loading(fresh):
    fresh.setattr(backend, "_CALL", 0)
    fresh.setattr(backend, "_LOADING", 10_000_000)
    fresh.setattr(backend, "_work", backend._Work(next_look=10_000_000))
    assert calls_until_loaded(1_000_000) == 10


def test_many_small_calls_count_by_their_number(fresh):
    assert calls_until_loaded(5_000) == round(backend._LOADING / (backend._CALL + 5_000)) + 1


def test_calls_that_numpy_does_as_fast_do_not_count(fresh):
    assert calls_until_loaded(backend._WORTH_A_CALL - 1) is None
    assert backend._work.steps == 0


def test_code_that_must_be_compiled_takes_more_work(fresh):
    looks = []
    fresh.setattr(backend, "_is_compiled_on_disk", lambda: looks.append(1))
    steps = 20_000_000
    assert calls_until_loaded(steps) == -int(-backend._COMPILING // (steps + backend._CALL))
    assert 1 <= len(looks) < 10  # files are looked for a few times only


def test_code_compiled_by_another_process_is_noticed(fresh):
    found = iter([False, False, True])
    fresh.setattr(backend, "_is_compiled_on_disk", lambda: next(found))
    assert calls_until_loaded(20_000_000) < backend._COMPILING / 20_000_000


def test_one_large_call_loads_them_at_once(fresh):
    assert backend.compiled_kernels(10**6) is None
    fresh.setattr(backend, "_is_compiled_on_disk", lambda: False)
    assert backend.compiled_kernels(10**10) is LOADED


def test_can_be_switched_off(fresh):
    fresh.setenv("VUSKIT_NUMBA", "0")
    assert backend.compiled_kernels(10**12) is None
    assert backend.backend_name() == "numpy"
    fresh.setenv("VUSKIT_NUMBA", "1")
    assert backend.backend_name() == "numba"


def test_nothing_is_loaded_without_numba(fresh):
    fresh.setattr(backend, "is_installed", lambda module: False)
    assert backend.compiled_kernels(10**12) is None
    assert backend.backend_name() == "numpy"


def test_an_unusable_numba_is_reported_once(fresh):
    def fails():
        raise ImportError("Numba needs NumPy 2.4 or less")

    fresh.setattr(backend, "_load", fails)
    with pytest.warns(RuntimeWarning, match="numba cannot be loaded .*VUSKIT_NUMBA=0"):
        assert backend.compiled_kernels(10**12) is None
    assert backend.compiled_kernels(10**12) is None


def test_other_threads_do_not_wait_for_loading(fresh):
    begun, finish = threading.Event(), threading.Event()

    def load():
        begun.set()
        assert finish.wait(60)
        backend._loaded.append(LOADED)
        return LOADED

    fresh.setattr(backend, "_load", load)
    found = []
    loader = threading.Thread(target=lambda: found.append(backend.compiled_kernels(10**10)))
    loader.start()
    assert begun.wait(60)
    assert backend.compiled_kernels(10**10) is None
    finish.set()
    loader.join()
    assert found == [LOADED]
    assert backend.compiled_kernels(10**10) is LOADED


def test_counts_the_work_of_all_threads(fresh):
    fresh.setattr(backend, "_is_compiled_on_disk", lambda: False)
    threads = [
        threading.Thread(target=lambda: [backend._work.pays(1) for _ in range(200)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert backend._work.steps == 800 * (1 + backend._CALL)


@pytest.mark.skipif(not is_installed("numba"), reason="numba is not installed")
def test_finds_compiled_code_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not backend._is_compiled_on_disk()
    version = metadata.version("numba").encode()
    python = f"py{sys.version_info[0]}{sys.version_info[1]}"
    kernels = Path(backend.__file__).parent
    for package, names in backend._ON_DISK.items():
        folder = tmp_path / f"{package}_0123"
        folder.mkdir()
        stamp = hashlib.sha256((kernels / package / "_numba.py").read_bytes()).digest()
        for name in names:
            index = folder / f"_numba.{name}-7.{python}.nbi"
            index.write_bytes(b"\x80\x05" + version + b"." + stamp + b"rest")
    assert backend._is_compiled_on_disk()
    index = next(tmp_path.glob("sweep_*/*.nbi"))
    good = index.read_bytes()
    index.write_bytes(good.replace(version, b"0.0.0"))  # of another numba
    assert not backend._is_compiled_on_disk()
    time = struct.pack(">d", (kernels / "sweep" / "_numba.py").stat().st_mtime)
    index.write_bytes(b"\x80\x05" + version + b".G" + time)  # of an older numba
    assert backend._is_compiled_on_disk()
    index.write_bytes(b"\x80\x05" + version + b"." + bytes(32))  # of other source, though newer
    assert not backend._is_compiled_on_disk()


@pytest.mark.skipif(not is_installed("numba"), reason="numba is not installed")
def test_recognizes_what_numba_stores():
    vuskit.warm_up()
    sources = [Path(backend.__file__).parent / name / "_numba.py" for name in backend._ON_DISK]
    folders = [folder for source in sources for folder in backend._cache_folders(source)]
    if not any(path for folder in folders for path in folder.glob("_numba.*.nbi")):
        pytest.skip("numba stores no compiled code here")
    assert backend._is_compiled_on_disk()


LOOP = """
import json
import numpy as np
import vuskit
from vuskit.kernels import backend

rng = np.random.default_rng(3)
labels = (np.arange(20_000) // 50 % 8 == 3).astype(int)
scores = rng.random((12, labels.size))
backend._work.next_look = 1e6
# Where the kernels are not compiled yet, the loop compiles them.
backend._COMPILING = 1e6
values, used = [], []
for score in scores:
    values.append(dict(vuskit.evaluate(labels, score, buffer=30)))
    used.append(bool(backend._loaded))
print(json.dumps([values, used]))
"""


@pytest.mark.skipif(not is_installed("numba"), reason="numba is not installed")
def test_a_loop_over_evaluate_switches_and_values_agree():
    found = {}
    for switch in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", LOOP],
            env={**os.environ, "VUSKIT_NUMBA": switch},
            capture_output=True,
            text=True,
            check=True,
        )
        found[switch] = json.loads(done.stdout)
    (plain, never), (fast, used) = found["0"], found["1"]
    assert not any(never)
    assert used == sorted(used)
    assert not used[0]
    assert used[-1]
    for one, other in zip(plain, fast, strict=True):
        assert other == pytest.approx(one, abs=1e-12)
