"""Compile the native core: hatchling's build hook, and a script for use in a clone.

    python hatch_build.py               # compile in place after an edit of the C sources
    python hatch_build.py --sanitize    # with AddressSanitizer and UndefinedBehaviorSanitizer

A build without the core is pure Python; NumPy computes the same values. This is the result without
a working C compiler, on a Python without the stable ABI, and with ``VUSKIT_CORE=numpy``. With
``VUSKIT_CORE=native`` it is an error.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # the script needs the standard library only
    BuildHookInterface = object

KERNELS = Path(__file__).resolve().parent / "src" / "vuskit" / "kernels"
MSVC = os.name == "nt"
LIBRARY = "_core.pyd" if MSVC else "_core.abi3.so"
# Values must not depend on the compiler: no reordering, no fused multiply-add.
GNU_FLAGS = (
    "-fno-fast-math -std=c11 -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fPIC "
    "-fvisibility=hidden -Wall -Wextra"
)
FLAGS = ("-nologo -O2 -fp:precise -std:c11 -W3" if MSVC else GNU_FLAGS).split()
SANITIZE = (
    "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1"
)
SETS = {"v3": ["-march=x86-64-v3"], "v4": ["-march=x86-64-v4", "-mprefer-vector-width=512"]}


def find_compiler() -> list[str] | None:
    """Return the command of a C compiler, or None."""
    usual = ["cl"] if MSVC else [sysconfig.get_config_var("CC"), "cc", "gcc", "clang"]
    chosen = os.environ.get("CC")
    for candidate in filter(None, [chosen] if chosen else usual):
        command = [candidate] if MSVC else shlex.split(candidate)
        if shutil.which(command[0]):
            return command
    return None


def compile_core(compiler: list[str], target: Path, extra: list[str]) -> list[str]:
    """Compile the library into a folder and return its instruction sets."""

    def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
        command = [*compiler, *arguments]
        return subprocess.run(command, cwd=KERNELS / "core", capture_output=True, text=True)

    def check(arguments: list[str]) -> None:
        done = run(arguments)
        sys.stderr.write(done.stderr + (done.stdout if MSVC else ""))
        done.check_returncode()

    def given(name: str) -> list[str]:
        return [] if MSVC else shlex.split(os.environ.get(name, ""))

    extra = [*given("ARCHFLAGS"), *extra]
    flags = [*given("CFLAGS"), *FLAGS, *extra, "-I" + sysconfig.get_path("include")]
    # Compilers for other processors, and old ones, refuse these options.
    probe = ["-E", "-x", "c", os.devnull]
    sets = [s for s in SETS if not MSVC and run([*flags, *SETS[s], *probe]).returncode == 0]
    have = [f"-DHAVE_{name.upper()}" for name in sets]
    units = [["module.c", "-DPy_LIMITED_API=0x030B0000", *have], ["kernels.c", "-DSET=base"]]
    units += [["kernels.c", f"-DSET={name}", *SETS[name]] for name in sets]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        objects = [str(Path(folder, f"{number}.o")) for number in range(len(units))]
        outputs = [[f"-Fo{name}"] if MSVC else ["-o", name] for name in objects]
        pairs = zip(units, outputs, strict=True)
        list(pool.map(check, ([*flags, "-c", *unit, *output] for unit, output in pairs)))
        built = str(Path(folder, LIBRARY))
        if MSVC:  # Python.h asks for python3.lib
            libraries = f"-LIBPATH:{Path(sys.base_prefix, 'libs')}"
            check(["-nologo", "-LD", *objects, f"-Fe{built}", "-link", libraries])
        else:
            bundle = ["-bundle", "-undefined", "dynamic_lookup"]
            kind = bundle if sys.platform == "darwin" else ["-shared"]
            check([*kind, *given("LDFLAGS"), *extra, *objects, "-o", built, "-lm"])
        # Processes that have loaded the old library keep it.
        part = target / f"{LIBRARY}.{os.getpid()}"
        shutil.copyfile(built, part)
        part.replace(target / LIBRARY)
    return ["base", *sets]


def build(target: Path, extra: list[str] | None = None, strict: bool = False) -> bool:
    """Compile the library into a folder if possible, and print the result in one line."""
    wanted, compiler = os.environ.get("VUSKIT_CORE"), find_compiler()
    if wanted == "numpy":
        reason = "VUSKIT_CORE=numpy is set"
    elif sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        reason = "this Python does not support the stable ABI"
    elif compiler is None:
        reason = "no C compiler found"
    else:
        try:
            sets = compile_core(compiler, target, extra or [])
        except (OSError, subprocess.CalledProcessError):
            reason = f"{shlex.join(compiler)} failed"
            wanted = "native" if strict else wanted
        else:
            print(f"vuskit: native core ({', '.join(sets)}): {target / LIBRARY}")
            return True
    if wanted == "native":
        sys.exit(f"vuskit: cannot build the native core: {reason}")
    print(f"vuskit: NumPy core only: {reason}")
    return False


class CustomBuildHook(BuildHookInterface):
    """Add the library to a wheel, or compile it in place for an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files of the wheel are collected."""
        if version == "editable":
            if not build(KERNELS):
                (KERNELS / LIBRARY).unlink(missing_ok=True)  # it may be older than its sources
            return
        self.folder = tempfile.TemporaryDirectory()
        if build(Path(self.folder.name)):
            platform = self.build_config.builder.get_best_matching_tag().rpartition("-")[2]
            build_data["tag"] = f"cp311-abi3-{platform}"
            build_data["pure_python"] = False
            library = str(Path(self.folder.name, LIBRARY))
            build_data["force_include"][library] = f"vuskit/kernels/{LIBRARY}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove temporary files."""
        if version != "editable":
            self.folder.cleanup()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compile the native core.")
    parser.add_argument("--sanitize", action="store_true", help="check memory and undefined cases")
    parser.add_argument("--into", type=Path, default=KERNELS, help="folder of the library")
    options = parser.parse_args()
    build(options.into.resolve(), SANITIZE.split() if options.sanitize else [], strict=True)
