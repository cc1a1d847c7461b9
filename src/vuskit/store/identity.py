"""Identity of results: keys from content, hashes of local code, and versions of packages."""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pickletools
import platform
import re
import site
import sys
import sysconfig
import traceback
import types
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import core_files, require
from vuskit.errors import ChangedInputError, InvalidInputError

_KEY_LENGTH = 32  # hex digits; 128 bits
_SURROGATE = re.compile("[\ud800-\udfff]")
_PACKAGE = "vuskit"
_OBJECT = "object "  # prefix of the state of objects that are not a name of a file
_WITHOUT_VALUES = ("cli", "engine", "explore", "paper", "report", "store")  # compute no values


# -- keys ----------------------------------------------------------------------------------------


def canonical(value: Any) -> str:
    """JSON text in canonical form: equal content gives equal text, valid as UTF-8."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # File names that are not UTF-8 hold lone surrogates. JSON can escape and restore them.
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def key_of(kind: str, about: Mapping[str, Any], parent: str | None = None) -> str:
    """Key of a result: a digest of everything that determines it."""
    text = canonical([kind, parent, about])
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY_LENGTH]


def scores_digest(scores: NDArray[np.float64]) -> str:
    """SHA-256 of scores: their shape and bytes."""
    data = np.ascontiguousarray(scores, dtype="<f8")
    digest = hashlib.sha256(f"vuskit-scores-1 {data.shape}\n".encode())
    digest.update(data.tobytes())
    return digest.hexdigest()


def file_digest(path: str | Path) -> str:
    """SHA-256 of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# -- code ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Code:
    """What identifies the code of an object."""

    parts: dict[str, str]
    libraries: tuple[str, ...]

    @property
    def is_own(self) -> bool:
        """Whether the code is part of vuskit."""
        return self.parts.keys() == {f"dist:{_PACKAGE}"}

    def __str__(self) -> str:
        return code_text(self.parts)


def code_text(parts: Mapping[str, str]) -> str:
    """Return the parts of code in one short line."""
    names = [name for name in parts if name != f"dist:{_PACKAGE}"] or [f"dist:{_PACKAGE}"]
    if all(name.startswith("dist:") for name in names):
        return ", ".join(f"{name[5:]} {parts.get(name, '')}" for name in names)
    return f"sha256:{hashlib.sha256(canonical(dict(parts)).encode()).hexdigest()[:32]}"


def code_of(thing: Any, module: str | None = None) -> Code:
    """Return what identifies the code of an object."""
    if module is None or not _is_local(module):
        module = _module_of(thing)
    state: dict[str, str] = {}
    if module is not None and (_is_local(module) or _is_library(module)):
        modules = {module}
    else:
        state, modules = _state(thing)
    files = _closure(modules)
    defining = {_distribution_of(one) for one in modules - files.keys() if _is_library(one)}
    parts = {**{name: file.sha256 for name, file in files.items()}, **state}
    parts[f"dist:{_PACKAGE}"] = _version_of(_PACKAGE)
    if not files:
        parts |= {f"dist:{one or 'python'}": _version_of(one) for one in defining}
    imported = (one for file in files.values() for one in file.libraries)
    libraries = {name for name in (*defining, *imported) if name}
    return Code(dict(sorted(parts.items())), tuple(sorted(libraries)))


def changed_modules(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the modules and distributions that changed, were added or were removed.

    The state of objects is ignored, because pickled state may differ between processes.
    """
    changed = (name for name in {*before, *after} if before.get(name) != after.get(name))
    return sorted(name.removeprefix("dist:") for name in changed if not name.startswith(_OBJECT))


@functools.cache
def package_digest(folder: Path, without: tuple[str, ...] = ()) -> str:
    """Return a hash of the modules and the native core in a folder of vuskit."""
    digest = hashlib.sha256()
    for path in (*sorted(folder.rglob("*.py")), *core_files(folder)):
        place = path.relative_to(folder)
        if place.parts[0] not in without:
            digest.update(f"{place.as_posix()}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _module_of(thing: Any) -> str | None:
    """Return the module in which an object is available under its own name; None if nowhere."""
    if isinstance(thing, types.ModuleType):
        return thing.__name__
    try:
        name = getattr(thing, "__qualname__", None) or thing.__name__
        module = getattr(thing, "__module__", None) or type(thing).__module__
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
    except Exception:  # attributes of foreign objects can raise anything
        return None
    # A function typed in a session has the module of the program, but is not in its file.
    code = getattr(thing, "__code__", None)
    typed = module == "__main__" and code is not None and not os.path.isfile(code.co_filename)
    return module if found is thing and not typed else None


def _state(thing: Any) -> tuple[dict[str, str], set[str]]:
    """Return a hash of a pickled object, and the modules that the pickle refers to."""
    cloudpickle = require("cloudpickle", purpose="identifying code that is not in a file")
    name = f"{_OBJECT}{getattr(thing, '__qualname__', type(thing).__qualname__)}"

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc, name-defined]
        """Pickles code without its file and lines, which differ between sessions."""

        def reducer_override(self, value: Any) -> Any:
            if not isinstance(value, types.CodeType):
                return super().reducer_override(value)
            names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
            return tuple, ((value.co_code, value.co_consts, names, value.co_flags),)

    stream = io.BytesIO()
    try:
        Pickler(stream).dump(thing)
    except Exception:  # methods of the object may raise anything
        return {name: uuid.uuid4().hex}, set()  # never the same, so results are not reused
    data = stream.getvalue()
    texts = {text for _, text, _ in pickletools.genops(data) if isinstance(text, str)}
    modules = {one for one in texts & sys.modules.keys() if _is_local(one)}
    return {name: hashlib.sha256(data).hexdigest()}, modules


# -- files ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """A file of a local module as it was read."""

    path: str
    state: tuple[int, ...]
    sha256: str
    imports: tuple[str, ...]  # local modules
    libraries: tuple[str, ...]

    def is_changed(self) -> bool:
        try:
            return _file_state(self.path) != self.state and file_digest(self.path) != self.sha256
        except OSError:
            return True


_read: dict[tuple[str, str], _File] = {}  # by module and path
_noted: dict[str, tuple[object, _File]] = {}  # by module: what was loaded, None before the import


def note_module(name: str, folder: Path | None = None) -> None:
    """Note the files of a module and of its local imports before it is imported."""
    for found, file in _closure([name], folder).items():
        for place in (f"{found}.py", f"{found}/__init__.py"):
            path = None if folder is None else folder / place
            if path is not None and path.is_file() and file_digest(path) != file.sha256:
                raise ChangedInputError(
                    f"{path} cannot be imported after {file.path} of the same name; restart Python"
                )


def _closure(names: Iterable[str], folder: Path | None = None) -> dict[str, _File]:
    """Return the files of local modules and of all local modules that they import."""
    found: dict[str, _File] = {}
    waiting = [(one, folder) for name in names for one in _prefixes(name)]
    while waiting:
        name, root = waiting.pop()
        path = None if name in found else _local_path(name, root)
        if path is not None:
            found[name] = _note(name, path)
            waiting += [(one, _root(name, path)) for one in found[name].imports]
    return dict(sorted(found.items()))


def _note(name: str, path: str) -> _File:
    """Return the file of a module as of its import, or as of now if it is not loaded yet."""
    module = sys.modules.get(name)
    loaded = None if module is None else getattr(module, "__spec__", None) or module
    before, file = _noted.get(name, (None, None))
    known = file is not None and file.path == path and loaded is not None
    if file is None or not known or (before is not None and before is not loaded):
        file = _read_file(name, path, is_loaded=loaded is not None)
        changed = module is not None and _has_other_bytecode(module, path)
    else:
        changed = file.is_changed()
    if changed:
        raise ChangedInputError(f"{path} changed after it was imported; restart Python")
    _noted[name] = loaded, file
    return file


def _read_file(name: str, path: str, *, is_loaded: bool) -> _File:
    try:
        state = _file_state(path)  # first, so that an edit during the read is noticed later
        known = _read.get((name, path))
        if known is not None and known.state == state:
            return known
        sha256 = file_digest(path)
        names = set(_imported_names(name, path))
    except OSError as error:
        raise ChangedInputError(f"{path} cannot be read ({error}); restart Python") from error
    if not is_loaded:
        # Python compares only size and second, so that a quick edit would load the old code.
        with contextlib.suppress(OSError, NotImplementedError):
            os.unlink(importlib.util.cache_from_source(path))
    root = _root(name, path)
    local = {one for one in names if _local_path(one, root) is not None}
    libraries = filter(None, {_distribution_of(one) for one in names - local})
    _read[name, path] = _File(path, state, sha256, tuple(sorted(local)), tuple(libraries))
    return _read[name, path]


def _file_state(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _has_other_bytecode(module: types.ModuleType, path: str) -> bool:
    """Whether Python compiled a loaded module from an earlier version of its file."""
    spec = getattr(module, "__spec__", None)
    loader = type(getattr(spec, "loader", None))
    if sys.dont_write_bytecode or loader is not importlib.machinery.SourceFileLoader:
        return False
    try:
        head = Path(spec.cached or "").read_bytes()[:16]  # type: ignore[union-attr]
        state = os.stat(path)
    except OSError:
        return False
    numbers = [int.from_bytes(head[start : start + 4], "little") for start in (4, 8, 12)]
    return numbers != [0, int(state.st_mtime) & 0xFFFFFFFF, state.st_size & 0xFFFFFFFF]


def _imported_names(name: str, path: str) -> Iterator[str]:
    """Yield the modules that a file imports anywhere, and their packages; maybe other names."""
    try:
        tree = ast.parse(Path(path).read_bytes() if path.endswith(".py") else "")
    except (SyntaxError, ValueError, RecursionError):
        return
    package = name if Path(path).stem == "__init__" else name.rpartition(".")[0]
    package = getattr(sys.modules.get(name), "__package__", None) or package
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found = [one.name for one in names]
            case ast.ImportFrom(module=module, names=names, level=level):
                base = _absolute("." * level + (module or ""), package)
                found = [base, *(f"{base}.{one.name}" for one in names)]
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                found = [_absolute(module, package)]
            case _:
                continue
        yield from (prefix for one in found for prefix in _prefixes(one))


def _absolute(module: str, package: str) -> str:
    name = module.lstrip(".")
    level = len(module) - len(name)
    if not level:
        return name
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *filter(None, [name])])


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


# -- modules -------------------------------------------------------------------------------------


def _is_local(module: str) -> bool:
    return _local_path(module) is not None


def _is_library(module: str) -> bool:
    """Whether a module belongs to Python, vuskit or an installed distribution."""
    return _is_of_python(module.partition(".")[0]) or _distribution_of(module) is not None


def _is_of_python(top: str) -> bool:
    return top in sys.stdlib_module_names or top in sys.builtin_module_names


def _local_path(name: str, root: Path | None = None) -> str | None:
    """Return the file of a local module, loaded or not; None if not local or without a file."""
    top = name.partition(".")[0]
    if top == _PACKAGE:
        return None
    if name in sys.modules:
        path = getattr(sys.modules[name], "__file__", None)
    else:
        spec = _find_spec(name, root)
        path = spec.origin if spec is not None and spec.has_location else None
    if not isinstance(path, str):
        return None
    if _is_in_library_folder(path) and (_is_of_python(top) or _distribution_of(top)):
        return None
    return os.path.abspath(path)


def _find_spec(name: str, root: Path | None) -> importlib.machinery.ModuleSpec | None:
    """Find a module without importing it or its packages."""
    places: list[str] | None = None
    spec = None
    for part in _prefixes(name):
        spec = None
        for finder in sys.meta_path:
            # KeyError: a folder without `__init__.py` in a package that is not loaded.
            with contextlib.suppress(ImportError, AttributeError, ValueError, KeyError):
                spec = spec or finder.find_spec(part, places)
        if spec is None and places is None and root is not None:
            spec = importlib.machinery.PathFinder.find_spec(part, [str(root)])
        if spec is None:
            inner = [os.path.join(place, part.rpartition(".")[2]) for place in places or ()]
            places = list(filter(os.path.isdir, inner))
        else:
            places = list(spec.submodule_search_locations or ())
    return spec


def _root(name: str, path: str) -> Path:
    """Return the folder from which a module can be imported."""
    folder = Path(path).parent
    is_package = Path(path).stem == "__init__"
    return [folder, *folder.parents][min(name.count(".") + is_package, len(folder.parents))]


@functools.lru_cache(maxsize=4096)
def _is_in_library_folder(file: str) -> bool:
    """Whether a file belongs to Python or to installed packages; not for editable installs."""
    path = Path(file).resolve()
    if {"site-packages", "dist-packages"} & set(path.parts):
        return True
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = [sysconfig.get_paths()[name] for name in names]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    return any(path.is_relative_to(Path(one).resolve()) for one in folders)


# Avoids reading the lists of files of all distributions.
_OTHER_NAMES = {"skimage": "scikit-image", "sklearn": "scikit-learn", "yaml": "PyYAML"}


def _distribution_of(module: str) -> str | None:
    """Return the distribution that provides a module; None for Python and local modules."""
    return _distribution(module.partition(".")[0])


@functools.cache
def _distribution(top: str) -> str | None:
    if top == _PACKAGE:
        return _PACKAGE
    if _is_of_python(top) or top == "__main__":
        return None
    for name in (top, _OTHER_NAMES.get(top)):
        with contextlib.suppress(metadata.PackageNotFoundError, ValueError):
            return str(metadata.distribution(name or "").metadata["Name"])
    found = _all_distributions().get(top)
    return min(found) if found else None


@functools.cache
def _all_distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


@functools.cache
def _version_of(distribution: str | None) -> str:
    """Return a version; with a hash of vuskit's files if they can be edited."""
    if distribution is None:
        return ".".join(platform.python_version_tuple()[:2])
    if distribution != _PACKAGE:
        return metadata.version(distribution)
    package = sys.modules[_PACKAGE]
    if _is_in_library_folder(str(package.__file__)):
        return str(package.__version__)
    digest = package_digest(Path(str(package.__file__)).parent, _WITHOUT_VALUES)
    return f"{package.__version__}+{digest[:12]}"


# -- imports -------------------------------------------------------------------------------------


@contextlib.contextmanager
def importable(folder: Path | None) -> Iterator[None]:
    """Make modules in the folder of the plan importable within the block."""
    if folder is None:
        yield
        return
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(str(folder))


def import_object(name: str, folder: Path | None = None) -> Any:
    """Import ``"module:object"``, also from the folder of the plan."""
    module, _, attribute = name.partition(":")
    try:
        with importable(folder):
            if module not in sys.modules:
                importlib.invalidate_caches()
            note_module(module, folder)
            found: Any = importlib.import_module(module)
    except ChangedInputError:
        raise
    except ImportError as error:
        raise InvalidInputError(
            f"`{name}` must be an importable module:name, got {error}{_place(error, folder)}"
        ) from error
    except (Exception, SystemExit) as error:  # a module can raise anything when it is imported
        raise InvalidInputError(
            f"`{name}` must be an importable module:name, "
            f"got {type(error).__name__}: {error}{_place(error, folder)}"
        ) from error
    for part in attribute.split(".") if attribute else ():
        if not hasattr(found, part):
            raise InvalidInputError(
                f"`{name}` must be an importable module:name, "
                f"got a module {module!r} without {part!r}"
            )
        found = getattr(found, part)
    return found


def _place(error: BaseException, folder: Path | None) -> str:
    """File and line of an error in an imported module; empty if no module ran."""
    if isinstance(error, SyntaxError):
        return ""  # its message includes the location
    frames = [
        one
        for one in traceback.extract_tb(error.__traceback__)
        if not one.filename.startswith("<frozen ")
        and one.filename not in (__file__, importlib.__file__)
    ]
    # Prefer files next to the plan, which its author can fix, to the imported module.
    beside = [one for one in frames if folder and Path(one.filename).is_relative_to(folder)]
    shown = beside[-1:] or frames[:1]
    return "".join(f" ({one.filename}, line {one.lineno})" for one in shown)
