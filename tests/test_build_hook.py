"""``hatch_build.py``: when the native core is compiled, with what, and where it goes.

Small C sources replace those of the package; `test_release.py` builds the real ones.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

SOURCES = {
    "kernels.c": """
        #include "names.h"
        int NAME(answer, SET)(void) { return 42; }
    """,
    "names.h": """
        #define JOIN(a, b) a##_##b
        #define NAME(a, b) JOIN(a, b)
    """,
    "module.c": """
        #include <Python.h>
        int answer_base(void);
        static PyObject *answer(PyObject *self, PyObject *none) {
            (void)self; (void)none;
        #ifdef HAVE_V4
            int answer_v3(void), answer_v4(void);
            if (answer_v3() != answer_v4()) return PyLong_FromLong(-1);
        #endif
            return PyLong_FromLong(answer_base());
        }
        static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {0}};
        static struct PyModuleDef module = {
            PyModuleDef_HEAD_INIT, "_core", "", -1, methods, 0, 0, 0, 0};
        PyMODINIT_FUNC PyInit__core(void) { return PyModule_Create(&module); }
    """,
}


@pytest.fixture
def clone(tmp_path):
    """Folder with the hook, the Makefile and the C sources above."""
    core = tmp_path / "clone" / "src" / "vuskit" / "kernels" / "core"
    core.mkdir(parents=True)
    for name, text in SOURCES.items():
        (core / name).write_text(text)
    for name in ("hatch_build.py", "Makefile"):
        shutil.copy(ROOT / name, tmp_path / "clone")
    return tmp_path / "clone"


@pytest.fixture
def hook(clone, monkeypatch):
    for name in ("CC", "CFLAGS", "LDFLAGS", "ARCHFLAGS", "VUSKIT_CORE"):
        monkeypatch.delenv(name, raising=False)
    spec = importlib.util.spec_from_file_location("hatch_build", clone / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def compiler(hook):
    """Command of the C compiler; the test is skipped without one."""
    found = hook.find_compiler()
    if found is None or sysconfig.get_config_var("Py_GIL_DISABLED") or hook.MSVC:
        pytest.skip("needs a C compiler with the options of gcc, and the stable ABI")
    return found


def answer(library):
    loader = importlib.machinery.ExtensionFileLoader("_core", str(library))
    spec = importlib.util.spec_from_file_location("_core", library, loader=loader)
    return importlib.util.module_from_spec(spec).answer()


def wrapper(path, compiler, refused):
    """Write a compiler that refuses an option."""
    path.write_text(
        f'#!/bin/sh\ncase "$*" in *{refused}*) exit 1;; esac\nexec {" ".join(compiler)} "$@"\n'
    )
    path.chmod(0o755)
    return str(path)


def test_library_works_and_leaves_no_other_file(hook, compiler, tmp_path, capfd):
    assert hook.build(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [hook.LIBRARY, "clone"]
    assert answer(tmp_path / hook.LIBRARY) == 42
    out, err = capfd.readouterr()
    assert out.startswith("vuskit: native core (base")
    assert out.count("\n") == 1
    assert err == ""


def test_compiler_without_instruction_sets_compiles_the_base(
    hook, compiler, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("CC", wrapper(tmp_path / "old-cc", compiler, "x86-64"))
    assert hook.build(tmp_path)
    assert "native core (base):" in capsys.readouterr().out
    assert answer(tmp_path / hook.LIBRARY) == 42


def test_flags_of_the_user_come_first(hook, compiler, tmp_path, monkeypatch):
    log = tmp_path / "log"
    script = tmp_path / "cc"
    script.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {" ".join(compiler)} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    monkeypatch.setenv("CFLAGS", "-ffast-math -O0")
    assert hook.build(tmp_path)
    compiled = [line for line in log.read_text().splitlines() if " -c " in line]
    assert 2 <= len(compiled) <= 4
    for line in compiled:
        words = line.split()
        assert words.index("-ffast-math") < words.index("-fno-fast-math")
        assert words.index("-O0") < words.index("-O3")
        assert "-ffp-contract=off" in words


NOTICES = {
    "numpy": ({"VUSKIT_CORE": "numpy"}, "VUSKIT_CORE=numpy is set"),
    "no compiler": ({"CC": "no-such-compiler"}, "no C compiler found"),
    "compiler fails": ({"CC": "false"}, "false failed"),
}


@pytest.mark.skipif(shutil.which("false") is None, reason="needs the command false")
@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="has another notice")
@pytest.mark.parametrize("case", NOTICES)
def test_build_without_the_core_says_why(case, hook, tmp_path, monkeypatch, capsys):
    variables, reason = NOTICES[case]
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert not hook.build(tmp_path)
    assert capsys.readouterr().out == f"vuskit: NumPy core only: {reason}\n"
    assert not (tmp_path / hook.LIBRARY).exists()
    if "VUSKIT_CORE" not in variables:
        monkeypatch.setenv("VUSKIT_CORE", "native")
        with pytest.raises(SystemExit, match=f"cannot build the native core: {reason}"):
            hook.build(tmp_path)


def test_no_compiler_on_the_path(hook, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert hook.find_compiler() is None


def test_free_threaded_python_gets_no_library(hook, tmp_path, monkeypatch, capsys):
    real = sysconfig.get_config_var
    monkeypatch.setattr(
        sysconfig, "get_config_var", lambda name: 1 if name == "Py_GIL_DISABLED" else real(name)
    )
    assert not hook.build(tmp_path)
    assert "does not support the stable ABI" in capsys.readouterr().out


def test_script_fails_if_the_sources_are_wrong(hook, compiler, clone):
    kernels = clone / "src" / "vuskit" / "kernels"
    (kernels / "core" / "kernels.c").write_text("int wrong = ;\n")
    script = [sys.executable, "hatch_build.py"]
    done = subprocess.run(script, cwd=clone, capture_output=True, text=True)
    assert done.returncode == 1
    assert "kernels.c:1:" in done.stderr
    assert done.stderr.endswith(f"cannot build the native core: {compiler[0]} failed\n")
    assert not (kernels / hook.LIBRARY).exists()


def test_sanitized_library_goes_elsewhere(hook, compiler, clone, tmp_path):
    script = [sys.executable, "hatch_build.py", "--sanitize", "--into", tmp_path]
    done = subprocess.run(script, cwd=clone, capture_output=True, text=True)
    if "asan" in done.stderr:
        pytest.skip("the sanitizers are not installed")
    assert done.returncode == 0, done.stderr
    assert b"__asan_init" in (tmp_path / hook.LIBRARY).read_bytes()
    assert not (clone / "src" / "vuskit" / "kernels" / hook.LIBRARY).exists()


def test_microsoft_compiler(hook, tmp_path, monkeypatch):
    """Only the commands: one per source and one that links, with the options of cl."""
    commands = []

    def run(command, **options):
        commands.append(command)
        for word in command:
            if word.startswith(("-Fo", "-Fe")):
                Path(word[3:]).touch()
        return subprocess.CompletedProcess(command, 0, stdout="", stderr="")

    monkeypatch.setattr(hook, "MSVC", True)
    monkeypatch.setattr(hook, "FLAGS", ["-nologo", "-std:c11"])
    monkeypatch.setattr(hook.subprocess, "run", run)
    assert hook.compile_core(["cl"], tmp_path, []) == ["base"]
    assert (tmp_path / hook.LIBRARY).exists()
    *compiled, linked = sorted(commands, key=lambda command: "-LD" in command)
    assert sorted(name for command in compiled for name in command if name.endswith(".c")) == [
        "kernels.c",
        "module.c",
    ]
    assert all({"cl", "-nologo", "-std:c11", "-c"} <= set(command) for command in compiled)
    assert linked[-2:] == ["-link", f"-LIBPATH:{Path(sys.base_prefix, 'libs')}"]


# --- the rule of the Makefile --------------------------------------------------------------------


@pytest.fixture
def make(hook, clone):
    program = shutil.which("make")
    if program is None or os.name == "nt":
        pytest.skip("needs make and links")
    folder = clone / ".venv" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(sys.executable)

    def run(**variables):
        environment = {**os.environ, **variables}
        done = subprocess.run(
            [program, "core"], cwd=clone, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_make_compiles_again_after_an_edit(make, hook, compiler, clone):
    kernels = clone / "src" / "vuskit" / "kernels"
    assert "native core" in make()
    assert "native core" not in make()
    later = time.time() + 10
    os.utime(kernels / "core" / "names.h", (later, later))
    assert "native core" in make()


def test_make_succeeds_without_a_compiler(make):
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("has another notice")
    assert "no C compiler found" in make(CC="no-such-compiler")
