"""Identity of code: hashes of local files, and versions of installed distributions."""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.machinery
import importlib.util
import io
import json
import os
import platform
import site
import sys
import sysconfig
import types
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from vuskit._util.environment import core_files
from vuskit._util.optional import require
from vuskit.errors import ChangedInputError

__all__ = ["CodeDigest", "changed_modules", "code_of", "note_module", "package_digest"]

_PACKAGE = "vuskit"
_OBJECT = "object "  # prefix of the state of objects that are not a name of a file
_WITHOUT_VALUES = ("cli", "engine", "explore", "paper", "report")  # these compute no values


@dataclass(frozen=True)
class CodeDigest:
    """Code of an object in one line.

    Attributes
    ----------
    version : str
        ``"pyod 2.0.5"`` for an object of an installed distribution, else ``"sha256:..."``.
    parts : Mapping
        Hashes of local files by module; empty for an object of a distribution.
    libraries : tuple of str
        Distributions that the code imports, sorted.
    """

    version: str
    parts: Mapping[str, str]
    libraries: tuple[str, ...]

    @classmethod
    def of(cls, thing: Any, module: str | None = None) -> CodeDigest:
        """Return the digest of `code_of`.

        Examples
        --------
        >>> import numpy
        >>> CodeDigest.of(numpy.sort).version == f"numpy {numpy.__version__}"
        True
        """
        code, libraries = _trace(thing, module)
        if all(name.startswith("dist:") for name in code):
            version = ", ".join(f"{name[5:]} {code[name]}" for name in code)
            return cls(version, {}, libraries)
        digest = hashlib.sha256(json.dumps(code, sort_keys=True).encode()).hexdigest()
        return cls(f"sha256:{digest[:32]}", code, libraries)


def code_of(thing: Any, module: str | None = None) -> dict[str, str]:
    """Return what identifies the code of an object.

    Parameters
    ----------
    thing : object
        A function, class, instance, module or other object.
    module : str, optional
        Module that the object was taken from, if known. If it is local, its files determine the
        object.

    Returns
    -------
    dict
        SHA-256 of the file of each local module that the code imports, directly or indirectly, by
        module name. For an object of an installed distribution: its version, as ``"dist:NAME"``.
        Objects that are not a name of a file, such as closures, also count by their state.

    Raises
    ------
    ChangedInputError
        If a file changed after it was imported.

    Examples
    --------
    >>> import json
    >>> list(code_of(json.dumps))
    ['dist:python']
    """
    return _trace(thing, module)[0]


def note_module(name: str, folder: Path | None = None) -> None:
    """Note the files of a module and of its local imports before it is imported.

    Raises
    ------
    ChangedInputError
        If a file changed after it was imported, or if a module was imported from elsewhere
        although `folder` contains another module of the same name.
    """
    for found, file in _closure([name], folder).items():
        for place in (f"{found}.py", f"{found}/__init__.py"):
            path = None if folder is None else folder / place
            if path is not None and path.is_file() and _hash(str(path)) != file.sha256:
                raise ChangedInputError(
                    f"{path} cannot be imported after {file.path} of the same name; restart Python"
                )


def changed_modules(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the modules whose files changed, were added or were removed.

    The state of objects is ignored, because pickled state may differ between processes.

    Examples
    --------
    >>> changed_modules({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"})
    ['b', 'c']
    """
    changed = (name for name in {*before, *after} if before.get(name) != after.get(name))
    return sorted(name for name in changed if not name.startswith(_OBJECT))


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


# -- objects -----------------------------------------------------------------------------------


def _trace(thing: Any, module: str | None) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the code of an object, and the distributions that it imports."""
    if module is None or not _is_local(module):
        module = _module_of(thing)
    state: dict[str, str] = {}
    if module is not None and (_is_local(module) or _is_library(module)):
        modules = {module}
    else:
        state, modules = _state(thing)
    files = _closure(modules)
    distributions = {_distribution_of(one) for one in modules - files.keys() if _is_library(one)}
    distributions = distributions - {None} or distributions
    code = {**{name: file.sha256 for name, file in files.items()}, **state}
    if not files and not any(name.endswith(" by value") for name in state):
        code |= {f"dist:{name or 'python'}": _version_of(name) for name in distributions}
    imported = (one for file in files.values() for one in file.libraries)
    libraries = {name for name in (*distributions, *imported) if name}
    return dict(sorted(code.items())), tuple(sorted(libraries))


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
    typed = isinstance(thing, types.FunctionType) and not _is_from_file(thing)
    return module if found is thing and not (typed and module == "__main__") else None


def _is_from_file(function: types.FunctionType) -> bool:
    """Whether a function was compiled from the file of its module, not typed or generated."""
    return function.__globals__.get("__file__") == function.__code__.co_filename


def _state(thing: Any) -> tuple[dict[str, str], set[str]]:
    """Return a hash of the pickled state of an object, and the modules that it refers to."""
    cloudpickle = require("cloudpickle", purpose="identifying code that is not in a file")
    modules: set[str] = set()
    by_value = False

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc, name-defined]
        """Pickles code of files by name, and other code by value."""

        def reducer_override(self, value: Any) -> Any:
            nonlocal by_value
            if isinstance(value, types.CodeType):  # without its place, which is no content
                names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
                return tuple, ((value.co_code, value.co_consts, names, value.co_flags),)
            module = _module_of(value)
            if module in ("builtins", "cloudpickle.cloudpickle"):
                return NotImplemented  # pickled by name
            if module is not None and (_is_local(module) or _is_library(module)):
                modules.add(module)
                return str, (f"{module}:{getattr(value, '__qualname__', '')}",)
            if isinstance(value, (type, types.FunctionType)):
                modules.add(str(value.__module__))
            if isinstance(value, types.FunctionType) and _is_from_file(value):
                modules.add(str(value.__globals__["__name__"]))
                cells = [_content(cell) for cell in value.__closure__ or ()]
                wrapped = getattr(value, "__wrapped__", None)
                kept = (value.__code__, value.__defaults__, value.__kwdefaults__, cells, wrapped)
                return str, (value.__qualname__,), kept
            by_value = by_value or isinstance(value, (type, types.FunctionType))
            return super().reducer_override(value)

    stream = io.BytesIO()
    try:
        Pickler(stream).dump(thing)
        found = hashlib.sha256(stream.getvalue()).hexdigest()
    except Exception:  # methods of the object may raise anything
        found = uuid.uuid4().hex  # never the same, so results are not reused
    name = getattr(thing, "__qualname__", type(thing).__qualname__)
    return {f"{_OBJECT}{name}{' by value' if by_value else ''}": found}, modules


def _content(cell: types.CellType) -> Any:
    with contextlib.suppress(ValueError):  # empty
        return cell.cell_contents
    return None


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
            return _file_state(self.path) != self.state and _hash(self.path) != self.sha256
        except OSError:
            return True


_read: dict[tuple[str, str], _File] = {}  # by module and path
_noted: dict[str, tuple[object, _File]] = {}  # by module: what was loaded, None before the import


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
    if (
        file is None
        or file.path != path
        or loaded is None
        or (before is not None and before is not loaded)
    ):
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
        sha256 = _hash(path)
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


def _hash(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


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
    top = module.partition(".")[0]
    return _is_of_python(top) or _distribution_of(module) is not None


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


def _version_of(distribution: str | None) -> str:
    if distribution is None:
        return ".".join(platform.python_version_tuple()[:2])
    return _own_version() if distribution == _PACKAGE else metadata.version(distribution)


def _own_version() -> str:
    """Return the version of vuskit, with a hash of its files if they can be edited."""
    package = sys.modules[_PACKAGE]
    if _is_in_library_folder(str(package.__file__)):
        return str(package.__version__)
    digest = package_digest(Path(str(package.__file__)).parent, _WITHOUT_VALUES)
    return f"{package.__version__}+{digest[:12]}"
