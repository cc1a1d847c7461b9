"""Reload local modules whose files changed after their import."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from vuskit._util.code_digest import differs_from_source
from vuskit._util.local_source import (
    Source,
    current_source,
    is_local_file,
    is_local_module,
    loaded_source,
)

__all__ = ["is_changed", "reload_changed", "track"]

_tracked: dict[str, object] = {}  # specs of checked modules by name
_accepted: dict[str, object] = {}  # reloaded modules; remaining differences come from their code


def track(name: str) -> list[str]:
    """Track a module and the local modules that it imports, in their current state.

    Returns
    -------
    list of str
        Newly tracked modules whose loaded code already differs from their files.
    """
    return [found for found in _imported_modules(name) if _is_new(found) and is_changed(found)]


def _is_new(name: str) -> bool:
    spec = _spec(sys.modules[name])
    new = _tracked.get(name) is not spec
    _tracked[name] = spec
    return new


def _spec(module: ModuleType) -> object:
    return getattr(module, "__spec__", None) or module


def is_changed(name: str) -> bool:
    """Whether the file of a local module differs from the loaded code.

    Examples
    --------
    >>> is_changed("json")
    False
    """
    module = sys.modules.get(name)
    if module is None or not is_local_module(module) or not _file(module):
        return False
    source = loaded_source(module)
    if source is None:
        return True  # the file is invalid or missing
    current = current_source(module)
    if current is None or current.digest != source.digest:
        return True
    if _accepted.get(name) is _spec(module):
        return False
    return differs_from_source(module, source) or _has_other_constants(module, source)


def _file(module: ModuleType) -> str | None:
    file = getattr(module, "__file__", None)
    return file if file and file.endswith(".py") else None


_checked_constants: dict[str, tuple[object, bool]] = {}


def _has_other_constants(module: ModuleType, source: Source) -> bool:
    """Whether literal constants of the source had other values at the first check."""
    known = _checked_constants.get(module.__name__)
    if known is None or known[0] is not _spec(module):
        known = _spec(module), any(_differing_constants(module, source))
        _checked_constants[module.__name__] = known
    return known[1]


def _differing_constants(module: ModuleType, source: Source) -> Iterator[bool]:
    for name, bound in source.bindings.items():
        value = _literal(bound)
        if value is None or name in source.rebound or name.startswith("__"):
            continue
        loaded = vars(module).get(name)
        # A value of another type was set by code, such as a test or a notebook.
        if name not in vars(module):
            yield True
        elif type(loaded) is type(value[0]):
            yield repr(loaded) != repr(value[0])


def _literal(bound: list[ast.AST]) -> tuple[Any] | None:
    if len(bound) != 1 or not isinstance(bound[0], (ast.Assign, ast.AnnAssign)):
        return None
    statement = bound[0]
    if isinstance(statement, ast.Assign) and not isinstance(statement.targets[0], ast.Name):
        return None
    if not isinstance(statement.value, ast.Constant):
        return None
    return (statement.value.value,)


def _imported_modules(name: str) -> list[str]:
    """Return a local module and all loaded local modules that it imports, also indirectly."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        module = sys.modules.get(one)
        if one in found or module is None or not is_local_module(module):
            continue
        found[one] = None
        source = loaded_source(module)
        if source is not None:
            waiting += source.imported
        if "." in one:
            waiting.append(one.rpartition(".")[0])
    return list(found)


def reload_changed(folder: Path | None = None) -> list[str]:
    """Reload changed modules and the modules that import them, dependencies first.

    Parameters
    ----------
    folder : Path, optional
        Folder that takes precedence: modules with the same name from elsewhere are removed.

    Returns
    -------
    list of str
        Names of the reloaded modules.

    Raises
    ------
    Exception
        Any exception of a module; all modules are then restored.
    """
    for name in list(_tracked):
        if name not in sys.modules or _tracked[name] is not _spec(sys.modules[name]):
            del _tracked[name]
    if folder is not None:
        _forget_others(folder)
    changed = {name for name in _tracked if name != "__main__" and is_changed(name)}
    if not changed:
        return []
    order = _in_order(_with_importers(changed))
    importlib.invalidate_caches()
    # Remove modules of another plan's folder or without a file, so that they are imported again.
    lost = [name for name in order if not _can_be_found(sys.modules[name])]
    for name in lost:
        del sys.modules[name]
        _tracked.pop(name, None)
    order = [name for name in order if name not in lost]
    before = [(sys.modules[name], dict(vars(sys.modules[name]))) for name in order]
    try:
        for name in order:
            _reload(sys.modules[name])
    except BaseException:
        for module, content in before:
            vars(module).clear()
            vars(module).update(content)
        raise
    for name in order:
        _tracked[name] = _accepted[name] = _spec(sys.modules[name])
        loaded_source(sys.modules[name])
    return order


def _can_be_found(module: ModuleType) -> bool:
    """Whether an import would find the file that the module was loaded from."""
    file = _file(module)
    parent = module.__name__.rpartition(".")[0]
    places = getattr(sys.modules.get(parent), "__path__", None) if parent else None
    found = (finder.find_spec(module.__name__, places) for finder in sys.meta_path)
    spec = next(filter(None, found), None)
    if spec is None or file is None:
        return spec is not None
    return spec.origin is not None and _is_same(Path(spec.origin), file)


def _reload(module: ModuleType) -> None:
    file = _file(module)
    if file:
        # Python compares only the time in seconds and the size, which an edit may not change.
        with contextlib.suppress(OSError, NotImplementedError):
            Path(importlib.util.cache_from_source(file)).unlink()
    for name, value in list(vars(module).items()):
        inner = isinstance(value, ModuleType) and value.__name__.startswith(f"{module.__name__}.")
        if not name.startswith("__") and not inner:
            del vars(module)[name]  # remove names that the new source no longer has
    importlib.reload(module)


def _forget_others(folder: Path) -> None:
    """Remove modules that an import with this folder first would find elsewhere."""
    gone = set()
    for name in list(_tracked):
        module = sys.modules[name]
        file = _file(module)
        if "." in name or name == "__main__" or file is None or not is_local_file(file):
            continue
        beside = [folder / f"{name}.py", folder / name / "__init__.py"]
        there = [path for path in beside if path.is_file()]
        if there and not any(_is_same(path, file) for path in there):
            gone.add(name)
    if gone:
        for name in _with_importers(gone):
            _tracked.pop(name, None)
            if name != "__main__":
                sys.modules.pop(name, None)
        for name in list(sys.modules):
            if name.partition(".")[0] in gone:
                _tracked.pop(name, None)
                del sys.modules[name]


def _is_same(path: Path, file: str) -> bool:
    try:
        return path.samefile(file)
    except OSError:
        return False


def _with_importers(names: set[str]) -> set[str]:
    """Return modules together with all tracked modules that import them."""
    found = set(names)
    while True:
        more = {
            name
            for name in _tracked
            if name not in found and name != "__main__" and _imports_any(name, found)
        }
        if not more:
            return found
        found |= more


def _imports_any(name: str, others: set[str]) -> bool:
    source = loaded_source(sys.modules[name])
    return source is not None and bool(others.intersection(source.imported))


def _in_order(names: set[str]) -> list[str]:
    """Return modules in import order, dependencies first."""
    order: dict[str, None] = {}

    def add(name: str, above: tuple[str, ...]) -> None:
        if name in order or name in above:
            return
        current = current_source(sys.modules[name])
        for one in sorted(names.intersection(current.imported if current else ())):
            add(one, (*above, name))
        order[name] = None

    for name in sorted(names):
        add(name, ())
    return list(order)
