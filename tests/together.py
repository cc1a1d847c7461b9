"""Which tests one process runs, where several share the work.

pytest-xdist's own groups are marks that it writes into the names of tests, which pytest 9.2 no
longer lets it do: every test would be a group of its own.
"""

from __future__ import annotations

import re

GROUPS = {
    # One browser at a time; its pages are made once.
    "browser": r"^tests/report/page/test_\w*browser\w*\.py",
    # The site is built once.
    "site": r"^tests/docs/test_site\.py",
    # Clusters of processes, one at a time.
    "executors": r"^tests/(bench/test_runner|engine/test_(executors|run))\.py",
    # Each process would compile stumpy anew, for half a minute.
    "stumpy": r"^(tests|src/vuskit)/detectors/.*(?<![a-z])(mp|norma)(?![a-z])",
}


def group_of(nodeid: str) -> str:
    """Name of the group of a test; a test without one is a group of its own."""
    found = (name for name, pattern in GROUPS.items() if re.search(pattern, nodeid))
    return next(found, nodeid)


def scheduler(config, log):
    """Divide tests as ``--dist loadgroup`` should, the largest groups first."""
    from xdist.scheduler import LoadScopeScheduling

    class GroupScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    return GroupScheduling(config, log)
