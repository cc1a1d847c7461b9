"""Where jobs run: behind one interface, processes of this machine or a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vuskit.bench.executors.base import Executor
from vuskit.bench.executors.cluster import DaskExecutor
from vuskit.bench.executors.local import LocalExecutor
from vuskit.bench.plan import ExecutorSpec, Limits

__all__ = ["DaskExecutor", "Executor", "LocalExecutor", "make_executor"]

_MAKERS: dict[str, Callable[[ExecutorSpec, Limits, Path], Executor]] = {
    "local": lambda spec, limits, scratch: LocalExecutor(
        workers=spec.workers, limits=limits, scratch=scratch
    ),
    "dask": lambda spec, limits, _: DaskExecutor(
        address=spec.address, workers=spec.workers, limits=limits
    ),
}


def make_executor(spec: ExecutorSpec, limits: Limits, scratch: Path) -> Executor:
    """Make the executor that a plan asks for; ``scratch`` is a folder for the workers' output."""
    return _MAKERS[spec.kind](spec, limits, scratch)
