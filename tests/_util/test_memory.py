"""Available memory: of the machine, the control group and the process's limits."""

from __future__ import annotations

import subprocess
import sys

import pytest

from vuskit._util import memory

GB = 1 << 30


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A made-up /proc and /sys/fs/cgroup."""
    monkeypatch.setattr(memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path / "cgroup")

    def write(path, text):
        path = tmp_path / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    write("proc/meminfo", f"MemTotal: 9 kB\nMemAvailable:   {8 * GB // 1024} kB\n")
    return write


def test_of_the_machine(system):
    assert memory.available_memory() == 8 * GB


def test_of_a_control_group(system):
    system("proc/self/cgroup", "0::/outer/inner\n")
    system("cgroup/outer/inner/memory.max", "max\n")
    system("cgroup/outer/memory.max", f"{4 * GB}\n")
    system("cgroup/outer/memory.current", f"{3 * GB}\n")
    system("cgroup/outer/memory.stat", f"anon 5\ninactive_file {GB}\n")
    assert memory.available_memory() == 2 * GB


def test_of_a_control_group_of_the_first_version(system):
    system("proc/self/cgroup", "7:cpu:/\n5:memory:/job\n")
    system("cgroup/memory/job/memory.limit_in_bytes", f"{GB}\n")
    system("cgroup/memory/job/memory.usage_in_bytes", f"{2 * GB}\n")
    assert memory.available_memory() == 0


def test_an_unknown_system_has_memory(system):
    system("proc/meminfo", "nonsense")
    assert memory.available_memory() > 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_of_resource_limits():
    code = (
        "import resource; from vuskit._util.memory import available_memory; "
        "resource.setrlimit(resource.RLIMIT_DATA, (1 << 29, -1)); print(available_memory())"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < int(shown.stdout) < 1 << 29
