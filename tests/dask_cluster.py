"""A Dask cluster for tests, with workers that can be killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import psutil
from waiting import eventually


def start_worker(file, *, nanny=False, **variables):
    """Start a Dask worker in an environment with additional variables.

    Users start it with a nanny, a second process that starts a new worker when one dies.
    """
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", file]
    options = ["--nthreads", "1", "--no-dashboard", "--nanny" if nanny else "--no-nanny"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([*command, *options], env={**os.environ, **variables}, **quiet)


@contextlib.contextmanager
def scheduler(workers=2, *, nanny=False):
    """A Dask scheduler with worker processes."""
    # A result that a killed worker still held is looked for no longer than this.
    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    file = f"/tmp/vuskit-test-scheduler-{os.getpid()}-{time.monotonic_ns()}.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    options = ["--port", "0", "--no-dashboard", "--scheduler-file", file]
    processes = [subprocess.Popen([*command, *options], env=environment, **quiet)]
    processes += [start_worker(file, nanny=nanny) for _ in range(workers)]
    try:
        assert eventually(lambda: os.path.exists(file) and os.path.getsize(file))
        yield file, processes[1:]
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:  # a worker may wait for a scheduler that is gone
                kill_tree(process.pid)
                process.wait()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file)


def address_in(file):
    """The address in a scheduler file."""
    with open(file) as stream:
        return json.load(stream)["address"]


def kill_tree(pid):
    """Kill a process and everything that it has started."""
    processes = [psutil.Process(pid)]
    processes += processes[0].children(recursive=True)
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            os.kill(process.pid, signal.SIGKILL)


def alive(pid):
    """Whether a process runs."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
