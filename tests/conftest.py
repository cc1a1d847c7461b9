"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from fresh import forgotten_modules
from hypothesis import HealthCheck, settings
from together import group_scheduling

from vuskit.kernels import backend

# A shell that starts the tests in the background ignores SIGINT, and `nohup` ignores SIGHUP.
# Children would inherit that: commands that a test stops would run on forever.
for _name in ("SIGINT", "SIGHUP"):
    _signal = getattr(signal, _name, None)  # Windows has no SIGHUP
    if _signal is not None and signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, signal.default_int_handler if _name == "SIGINT" else signal.SIG_DFL)

# No example, and no drawing of examples, has to be quick: the machine may be busy.
settings.register_profile(
    "default",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,  # the same examples everywhere: what passes here passes there
    print_blob=True,
)
# New examples each time: `pytest --hypothesis-profile explore`.
settings.register_profile("explore", settings.get_profile("default"), derandomize=False)
settings.load_profile("default")


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Folder of conformance cases, real series and published numbers."""
    folder = os.environ.get("VUSKIT_TEST_DATA")
    if not folder:
        pytest.skip("VUSKIT_TEST_DATA is not set: no reference data to compare with")
    return Path(folder)


@pytest.fixture(autouse=True)
def forget_local_modules(tmp_path_factory):
    """Forget modules from temporary folders: a process imports each name only once."""
    with forgotten_modules(tmp_path_factory.getbasetemp()):
        yield


@pytest.fixture(params=["native", "numpy"])
def each_core(request, monkeypatch) -> str:
    """Run a test with each core; return the name of the core."""
    if request.param == "native" and backend._library is None:
        pytest.skip("the native core is not built")
    monkeypatch.setenv("VUSKIT_CORE", request.param)
    return request.param


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Let one process run what belongs together."""
    return group_scheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.fixture(scope="session")
def cluster():
    """Scheduler file of a Dask cluster with two workers, for tests that leave it as it is."""
    import distributed
    from dask_cluster import scheduler

    with scheduler(2, nanny=True) as (file, _):
        with distributed.Client(scheduler_file=file, set_as_default=False) as client:
            client.wait_for_workers(2)  # so that tests can prepare both of them
        yield file
