"""Which tests one process runs, where several share the work.

pytest-xdist's own groups are marks that it writes into the names of tests, which pytest 9.2 no
longer lets it do: every test would be a group of its own.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
GROUPS = {
    # One browser at a time; its pages are made once.
    "browser": r"^tests/(report/page/(test_\w*browser\w*|test_comparison)|paper/test_page)\.py",
    # One run is made and served once.
    "explore": r"^tests/explore/",
    # The site is built once.
    "site": r"^tests/docs/test_site\.py",
    # Clusters of processes, one at a time; one of them is shared.
    "executors": r"^tests/(bench/test_(runner|series)|engine/test_(executors|run))\.py"
    r"|^tests/\w+/test_\w+\.py::test_\w*dask_cluster",
    # Each process would compile stumpy anew, for half a minute.
    "stumpy": r"^(tests|src/vuskit)/detectors/.*(?<![a-z])(mp|norma)(?![a-z])",
}


def group_of(nodeid: str) -> str:
    """Name of the group of a test: in ``GROUPS``, its file, or the test itself.

    The tests of a file are a group if they share a fixture or a cached result: two processes
    would make it twice.
    """
    found = (name for name, pattern in GROUPS.items() if re.search(pattern, nodeid))
    file = nodeid.partition("::")[0]
    return next(found, file if shares_results(file) else nodeid)


@functools.cache
def shares_results(file: str) -> bool:
    """Whether a test file makes something once for all its tests."""
    path = ROOT / file
    text = path.read_text(encoding="utf-8") if path.suffix == ".py" else ""
    return 'scope="module"' in text or "\n@cache\n" in text


def group_scheduling(config, log):
    """Divide tests as ``--dist loadgroup`` should, the largest groups first."""
    from xdist.scheduler import LoadScopeScheduling

    class GroupScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    return GroupScheduling(config, log)
