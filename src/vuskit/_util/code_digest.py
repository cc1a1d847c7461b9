"""Digest of an object's code, including all local code and constants that it refers to."""

from __future__ import annotations

import ast
import enum
import functools
import hashlib
import platform
import re
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any, TypeAlias

import numpy as np

from vuskit._util.local_source import (
    Chain,
    References,
    Source,
    code_text,
    distribution_of,
    find_references,
    find_source,
    functions_of,
    is_local_module,
    loaded_source,
    normalized,
)

__all__ = ["CodeDigest", "code_digest", "differs_from_source"]

_DIGITS = 32  # hex digits; 128 bits
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), range, re.Pattern)
_MUTABLE = (list, dict, set, bytearray)


@dataclass(frozen=True)
class CodeDigest:
    """Result of `code_digest`.

    Attributes
    ----------
    version : str
        ``"vuskit 0.1.0"`` for a part of vuskit, ``"pyod 2.0.5"`` for a part of an installed
        distribution, ``"sha256:..."`` for local code.
    parts : Mapping
        Digests of the local functions, classes and constants involved, by name
        (``"detectors.smooth"``, ``"detectors.LIMIT"``).
    libraries : tuple of str
        Installed distributions that local code refers to, sorted.
    """

    version: str
    parts: Mapping[str, str]
    libraries: tuple[str, ...]


def code_digest(thing: Any) -> CodeDigest:
    """Return a digest of an object's code and of all local code that it refers to.

    The digest changes if the object changes, or anything local that it uses: functions, classes,
    base classes, decorators, constants, closures, defaults, arguments of a `functools.partial`, or
    the state of an instance. Comments, docstrings, whitespace and unrelated code in the same file
    are ignored. Python and installed packages are identified by name.

    Parameters
    ----------
    thing : object
        A function, class, instance, `functools.partial` or other callable.

    Returns
    -------
    CodeDigest
        Version, digests of parts, and libraries.

    Notes
    -----
    Module-level constants are identified by value if they are numbers, text, arrays or tuples of
    these. Other objects, such as dictionaries that are filled at run time, are identified by the
    statements that define them. Objects inside a closure, an instance or a partial are identified
    by their state. Objects without accessible state (a lock, an open file) are identified by type.

    Code that is resolved only at run time is not tracked: ``importlib.import_module``, ``eval``,
    data files.

    Examples
    --------
    >>> import vuskit
    >>> code_digest(vuskit.vus_pr).version == f"vuskit {vuskit.__version__}"
    True
    >>> def scaled(factor):
    ...     return lambda values: factor * values
    >>> code_digest(scaled(2)).version == code_digest(scaled(2)).version
    True
    >>> code_digest(scaled(2)).version == code_digest(scaled(3)).version
    False
    """
    try:
        owner = _library_owner(thing)
    except Exception:  # attribute access on foreign objects can raise anything
        owner = None
    if owner is not None:
        name = distribution_of(owner)
        return CodeDigest(_library_version(name, owner), {}, (name,) if name else ())
    walk = _Walk()
    token = walk.token(thing)
    parts = walk.finish()
    if not token.startswith("part "):
        parts[_kind_of(thing)] = _digest(token)
    whole = "\n".join([token, *(f"{name} {parts[name]}" for name in sorted(parts))])
    version = f"sha256:{_digest(whole)}"
    return CodeDigest(version, dict(sorted(parts.items())), tuple(sorted(walk.libraries)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _kind_of(thing: Any) -> str:
    kind = type(thing)
    return f"{kind.__module__}.{kind.__qualname__} object"


def _library_version(name: str | None, module: str) -> str:
    if name is None:
        top = module.partition(".")[0]
        known = top in sys.stdlib_module_names or top == "builtins"
        return f"python {'.'.join(platform.python_version_tuple()[:2])}" if known else "unknown"
    return f"{name} {_installed_version(name)}"


@functools.cache
def _installed_version(name: str) -> str:
    if name == "vuskit":
        return str(sys.modules["vuskit"].__version__)  # of the loaded code, not the installation
    return metadata.version(name)


def _library_owner(thing: Any) -> str | None:
    """Return the module of an object from Python or an installed package, else None."""
    if isinstance(thing, types.ModuleType):
        return None if is_local_module(thing) else thing.__name__
    if isinstance(thing, (types.MethodType, functools.partial, np.vectorize)):
        return None
    if not isinstance(thing, (type, types.FunctionType)) and not _is_named(thing):
        return None
    name = _module_name(thing)
    module = sys.modules.get(name)
    if module is None:
        return name if name.partition(".")[0] in sys.stdlib_module_names else None
    if is_local_module(module):
        return None
    # For a library's wrapper around local code, the local code decides.
    if isinstance(thing, types.FunctionType) and "<locals>" in thing.__qualname__:
        return None if thing.__closure__ else name
    return name


def _module_name(thing: Any) -> str:
    name = getattr(thing, "__module__", None)
    if isinstance(name, str):
        return name
    return type(thing).__module__


def _is_named(thing: Any) -> bool:
    """Whether an instance is available under its name in its module, such as `numpy.add`."""
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    if not isinstance(name, str):
        return False
    if isinstance(thing, types.BuiltinFunctionType):
        return not hasattr(thing.__self__, "__dict__") or isinstance(
            thing.__self__, types.ModuleType
        )
    return _attribute(sys.modules.get(_module_name(thing)), name) is thing


def _library_name(value: Any) -> str | None:
    """Return the name of a library's global object, such as NumPy's global generator."""
    if _library_owner(type(value)) is None:
        return None
    module = sys.modules.get(type(value).__module__)
    names = (name for name, one in list(vars(module).items()) if one is value) if module else ()
    return next(iter(names), None)


def _attribute(owner: Any, qualified: str) -> Any:
    for name in qualified.split("."):
        owner = getattr(owner, name, None)
    return owner


@dataclass(frozen=True)
class _Local:
    """A name in a local module; ``lazy`` if a function imports it at run time."""

    source: Source
    name: str
    lazy: bool


@dataclass(frozen=True)
class _LocalModule:
    """A local module as a whole."""

    source: Source
    lazy: bool


@dataclass(frozen=True)
class _Library:
    """A part of an installed distribution or of Python."""

    name: str


_Found: TypeAlias = _Local | _LocalModule | _Library | None


class _Walk:
    """Traversal that collects parts and follows every reference once."""

    def __init__(self) -> None:
        self.libraries: set[str] = set()
        self._names: dict[Any, str] = {}  # names of parts by key
        self._taken: set[str] = set()
        self._parts: dict[str, str] = {}
        self._waiting: list[tuple[str, Callable[[], str]]] = []
        self._searched: set[tuple[str, str]] = set()
        self._kept: list[Any] = []  # keeps ids unique
        self._seen: dict[int, int] = {}  # objects within a part, in order

    def finish(self) -> dict[str, str]:
        """Return the digests of all parts, including parts found on the way."""
        while self._waiting:
            name, content = self._waiting.pop()
            self._seen = {}
            self._parts[name] = _digest(content())
        return self._parts

    def _part(self, key: Any, name: str, content: Callable[[], str]) -> str:
        """Return a reference to a part, which is digested later."""
        if key not in self._names:
            unique, count = name, 1
            while unique in self._taken:
                count += 1
                unique = f"{name} ({count})"
            self._taken.add(unique)
            self._names[key] = unique
            self._waiting.append((unique, content))
        return f"part {self._names[key]}"

    # -- names in source -------------------------------------------------------------------------

    def _references(self, source: Source, references: References, *, lazy: bool) -> str:
        lines = [
            f"{'.'.join(chain)} -> {self._resolved(self._find(source, chain, lazy=lazy))}"
            for chain in references.chains
        ]
        for module, names in references.imports:
            found = self._find_import(source, module, names, lazy=True)
            lines.append(f"import {module} {'.'.join(names)} -> {self._resolved(found)}")
        return "\n".join(sorted(lines))

    def _resolved(self, found: _Found) -> str:
        match found:
            case None:
                return "unknown"
            case _Library(name):
                return self._library(name)
            case _LocalModule(source, lazy):
                return self._part(
                    ("module", source.name, lazy),
                    source.name,
                    lambda: self._module_content(source, lazy),
                )
            case _Local(source, name, lazy):
                key = ("name", source.name, name, lazy)
                return self._part(
                    key, f"{source.name}.{name}", lambda: self._name_content(source, name, lazy)
                )

    def _library(self, module: str) -> str:
        name = distribution_of(module)
        if name is not None:
            self.libraries.add(name)
        return f"library {name or 'python'}"

    def _find(self, source: Source, chain: Chain, *, lazy: bool) -> _Found:
        """Resolve a global name with attributes."""
        name, rest = chain[0], chain[1:]
        bound = source.bindings.get(name)
        if bound is None:
            return self._find_unbound(source, name, rest, lazy=lazy)
        if all(isinstance(one, ast.Import) for one in bound):
            # `import a.b` and `import a.c` bind one name, `a`.
            return self._find_binding(source, bound[0], rest, lazy=lazy)
        if len(bound) == 1 and isinstance(bound[0], ast.ImportFrom):
            return self._find_binding(source, bound[0], rest, lazy=lazy)
        return _Local(source, name, lazy)

    def _find_binding(
        self, source: Source, statement: ast.AST, rest: Chain = (), *, lazy: bool
    ) -> _Found:
        """Resolve the name that an import statement binds; None for other statements."""
        match statement:
            case ast.Import(names=[ast.alias(name=module, asname=asname)]):
                module = module if asname else module.partition(".")[0]
                return self._find_import(source, module, rest, lazy=lazy)
            case ast.ImportFrom(names=[alias], module=place, level=level):
                module = "." * level + (place or "")
                return self._find_import(source, module, (alias.name, *rest), lazy=lazy)
        return None

    def _find_unbound(self, source: Source, name: str, rest: Chain, *, lazy: bool) -> _Found:
        for star in source.stars:
            module = source.absolute(star)
            found = find_source(module, source)
            if found is None:
                loaded = sys.modules.get(module)
                if loaded is not None and hasattr(loaded, name):
                    return _Library(module)
            elif (found.name, name) not in self._searched:
                self._searched.add((found.name, name))  # modules may import each other
                inner = self._find(found, (name, *rest), lazy=lazy)
                self._searched.discard((found.name, name))
                if inner is not None:
                    return inner
        submodule = find_source(f"{source.name}.{name}", source) if source.is_package else None
        if submodule is not None:
            return self._in_module(submodule, rest, lazy=lazy)
        loaded = sys.modules.get(source.name)
        if not lazy and loaded is not None and name in vars(loaded) and not _is_dunder(name):
            return _Local(source, name, lazy)
        return None

    def _find_import(self, source: Source, module: str, names: Chain, *, lazy: bool) -> _Found:
        full = source.absolute(module)
        found = find_source(full, source)
        if found is None:
            return _Library(full)
        return self._in_module(found, tuple(name for name in names if name), lazy=lazy)

    def _in_module(self, source: Source, names: Chain, *, lazy: bool) -> _Found:
        if not names or names[0] == "*":
            return _LocalModule(source, lazy)
        return self._find(source, names, lazy=lazy) or _LocalModule(source, lazy)

    def _module_content(self, source: Source, lazy: bool) -> str:
        names = References(chains={(name,): None for name in sorted(source.bindings)})
        return f"{normalized(source.tree)}\n{self._references(source, names, lazy=lazy)}"

    def _name_content(self, source: Source, name: str, lazy: bool) -> str:
        """Return the text of the object or statements bound to a module's name."""
        module = None if lazy else sys.modules.get(source.name)
        bound = source.bindings.get(name, [])
        value = vars(module).get(name) if module is not None else None
        if module is not None and name in vars(module):
            if not bound:
                return self.token(value)
            assigned = not any(isinstance(one, _STATEMENTS_WITH_NAMES) for one in bound)
            if assigned and name not in source.rebound and _is_plain(value):
                return self.token(value)
        elif lazy and (literal := _literal(bound, name)) is not None:
            return self.token(literal[0])
        imported = [self._resolved(self._find_binding(source, one, lazy=lazy)) for one in bound]
        text, references = source.definition(name)
        differing = "" if module is None else _loaded_differently(module, source).get(name, "")
        lines = [text, self._references(source, references, lazy=lazy), *imported, differing]
        return "\n".join(lines)

    # -- objects ---------------------------------------------------------------------------------

    def token(self, value: Any) -> str:
        """Return a text that identifies an object; local code in it becomes parts."""
        try:
            return self._token(value)
        except RecursionError:
            return f"opaque {_kind_of(value)}"

    def _token(self, value: Any) -> str:
        try:
            return self._known_token(value)
        except RecursionError:
            raise
        except Exception:  # attribute access on foreign objects can raise anything
            return f"opaque {_kind_of(value)}"

    def _known_token(self, value: Any) -> str:
        if isinstance(value, enum.Enum):
            return f"{self._token(type(value))}.{value.name}"
        if isinstance(value, re.Pattern):
            return f"regex {value.pattern!r} {value.flags}"
        if type(value) in _PLAIN:
            return f"{type(value).__name__} {value!r}"
        owner = _library_owner(value)
        if owner is not None:
            name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
            return f"{self._library(owner)} {name}"
        if isinstance(value, types.ModuleType):
            source = loaded_source(value)
            if source is not None:
                return self._resolved(_LocalModule(source, lazy=False))
            return f"module {value.__name__}"
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, tuple) and type(value) is tuple:
            return f"tuple [{', '.join(map(self._token, value))}]"
        if type(value) is frozenset:
            return f"frozenset {sorted(map(self._token, value))}"
        if isinstance(value, np.generic):
            return f"{value.dtype.str} {value.tobytes().hex()}"
        if isinstance(value, np.dtype):
            return f"dtype {value!r}"
        return self._once(value)

    def _once(self, value: Any) -> str:
        """Return the token of an object that may contain itself."""
        if id(value) in self._seen:
            return f"again {self._seen[id(value)]}"
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        return self._object(value)

    def _object(self, value: Any) -> str:
        token = self._token
        if type(value) is list:
            return f"list [{', '.join(map(token, value))}]"
        if type(value) is dict:
            items = sorted((token(key), key) for key in value) if _sortable(value) else None
            if items is None:
                return f"dict {sorted(f'{token(k)}: {token(v)}' for k, v in value.items())}"
            return f"dict [{', '.join(f'{text}: {token(value[key])}' for text, key in items)}]"
        if type(value) is set:
            return f"set {sorted(map(token, value))}"
        if isinstance(value, bytearray):
            return f"bytearray {bytes(value).hex()}"
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, functools.partial):
            kept = token(list(value.args)), token(dict(value.keywords))
            return f"partial {token(value.func)} {kept}"
        if isinstance(value, np.vectorize):
            names = ("pyfunc", "otypes", "signature", "cache", "excluded")
            return f"{token(np.vectorize)} {[token(getattr(value, name, None)) for name in names]}"
        if isinstance(value, types.MethodType):
            return f"method {token(value.__func__)} of {token(value.__self__)}"
        if isinstance(value, (staticmethod, classmethod)):
            return f"{type(value).__name__} {token(value.__func__)}"
        if isinstance(value, property):
            return f"property {[token(one) for one in (value.fget, value.fset, value.fdel)]}"
        if isinstance(value, types.CodeType):
            return f"code {_digest(code_text(value))}"
        return self._instance(value)

    def _array(self, value: np.ndarray[Any, Any]) -> str:
        kind = f"{self._token(type(value))} {value.dtype!r} {value.shape}"
        if value.dtype.hasobject:
            return f"{kind} {self._token(value.tolist())}"
        mask = getattr(value, "mask", None) if isinstance(value, np.ma.MaskedArray) else None
        data = np.ascontiguousarray(np.asarray(value)).tobytes()
        shown = "" if mask is None else self._token(np.asarray(mask))
        return f"{kind} {hashlib.sha256(data).hexdigest()} {shown}"

    def _instance(self, value: Any) -> str:
        kind = type(value)
        compiled = getattr(value, "py_func", None)  # numba
        if isinstance(compiled, types.FunctionType):
            options = getattr(value, "targetoptions", None)
            shown = self._token(options) if isinstance(options, dict) else ""
            return f"{kind.__module__}.{kind.__qualname__} {self._token(compiled)} {shown}"
        wrapped = getattr(value, "__wrapped__", None)
        if wrapped is not None and _library_owner(kind) is not None:
            return f"{kind.__module__}.{kind.__qualname__} {self._token(wrapped)}"
        shared = _library_name(value)
        if shared is not None:
            return f"{self._library(kind.__module__)} {shared}"
        return f"instance {self._token(kind)} {self._state(value)}"

    def _state(self, value: Any) -> str:
        kind = type(value)
        reducers = ("__reduce_ex__", "__reduce__")
        if all(getattr(kind, name) is getattr(object, name) for name in reducers):
            state = dict(getattr(value, "__dict__", {}))
            for base in kind.__mro__:
                slots = base.__dict__.get("__slots__", ())
                for name in (slots,) if isinstance(slots, str) else slots:
                    if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                        state[name] = getattr(value, name)
            builtin = [base for base in (int, float, str, bytes, tuple, list, dict, set, frozenset)
                       if isinstance(value, base)]  # fmt: skip
            content = self._token(builtin[0](value)) if builtin else ""
            if state or builtin or not _is_opaque(kind):
                return f"{content} {self._token(state)}"
            return "opaque"
        try:
            reduced = value.__reduce_ex__(4)
        except Exception:  # objects that cannot be pickled raise various errors
            return "opaque"
        if isinstance(reduced, str):
            return f"named {reduced}"
        function, arguments, *rest = reduced
        state, items, pairs = [*rest[:3], None, None, None][:3]
        shown = [self._token(function), self._token(tuple(arguments)), self._token(state)]
        shown += [self._token(list(one)) for one in (items, pairs) if one is not None]
        return " ".join(shown)

    def _function(self, function: types.FunctionType) -> str:
        module = sys.modules.get(function.__module__ or "")
        source = loaded_source(module) if module is not None else None
        name = function.__qualname__
        if (
            source is not None
            and module is not None
            and is_local_module(module)
            and "<" not in name
            and name.partition(".")[0] in source.bindings
            and _attribute(module, name) is function
        ):
            # Use the source, because code may have filled caches in closures.
            return self._resolved(_Local(source, name.partition(".")[0], lazy=False))
        key = ("function", id(function))
        self._kept.append(function)
        owner = _module_of_code(function) or module
        source = loaded_source(owner) if owner is not None and is_local_module(owner) else None
        label = f"{function.__module__}.{function.__code__.co_qualname}"
        return self._part(key, label, lambda: self._function_content(function, source))

    def _function_content(self, function: types.FunctionType, source: Source | None) -> str:
        """Return the text of a function that has no source or is not a name of its module."""
        code = function.__code__
        lines = []
        node = None if source is None else _node_of(source, code)
        if source is not None and node is not None:
            references = find_references([node])
            for chain in list(references.chains):
                if chain[0] in code.co_freevars:
                    del references.chains[chain]
            lines += [normalized(node), self._references(source, references, lazy=False)]
        else:
            lines.append(code_text(code))
            for name in sorted(_global_names(code)):
                if name in function.__globals__ and not _is_dunder(name):
                    lines.append(f"{name} -> {self._global(function, name)}")
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
            try:
                lines.append(f"cell {name} {self.token(cell.cell_contents)}")
            except ValueError:
                lines.append(f"cell {name} empty")
        if node is None or "<" in function.__qualname__:
            lines.append(f"defaults {self.token(function.__defaults__)}")
            lines.append(f"defaults {self.token(function.__kwdefaults__)}")
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None:
            lines.append(f"wraps {self.token(wrapped)}")
        return "\n".join(lines)

    def _global(self, function: types.FunctionType, name: str) -> str:
        value = function.__globals__[name]
        if isinstance(value, (types.FunctionType, type, types.ModuleType)):
            return self.token(value)
        key = ("global", id(function.__globals__), name)
        label = f"{function.__module__}.{name}"
        return self._part(key, label, lambda: self.token(value))

    def _class(self, cls: type) -> str:
        module = sys.modules.get(cls.__module__)
        source = loaded_source(module) if module is not None else None
        top = cls.__qualname__.partition(".")[0]
        if (
            source is not None
            and "<" not in cls.__qualname__
            and top in source.bindings
            and _attribute(module, cls.__qualname__) is cls
        ):
            return self._resolved(_Local(source, top, lazy=False))
        self._kept.append(cls)
        label = f"{cls.__module__}.{cls.__qualname__}"
        return self._part(("class", id(cls)), label, lambda: self._class_content(cls))

    def _class_content(self, cls: type) -> str:
        """Return the text of a class that has no source or was created by a function."""
        lines = [f"bases {[self.token(base) for base in cls.__bases__]}"]
        for name, value in sorted(vars(cls).items()):
            if name in _UNIMPORTANT or isinstance(value, _DESCRIPTORS):
                continue
            lines.append(f"{name} {self.token(value)}")
        return "\n".join(lines)


_STATEMENTS_WITH_NAMES = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
)  # fmt: skip
_UNIMPORTANT = {
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__firstlineno__",
    "__static_attributes__", "__abstractmethods__", "_abc_impl", "__annotations_cache__",
}  # fmt: skip
_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _sortable(value: dict[Any, Any]) -> bool:
    return all(isinstance(key, str) for key in value)


def _is_opaque(kind: type) -> bool:
    """Whether the state of instances is not accessible."""
    return not hasattr(kind, "__dict__") or kind.__flags__ & (1 << 9) == 0


def _is_plain(value: Any) -> bool:
    """Whether a constant can be digested by value and is immutable (or an array)."""
    if isinstance(value, (tuple, frozenset)) and type(value) in (tuple, frozenset):
        return all(_is_plain(one) for one in value)
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and not value.dtype.hasobject
    return type(value) in _PLAIN or isinstance(value, (np.generic, np.dtype, enum.Enum))


def _literal(bound: list[ast.AST], name: str) -> tuple[Any] | None:
    """Return the value of a constant that a single statement binds to a literal."""
    if len(bound) != 1 or not isinstance(bound[0], (ast.Assign, ast.AnnAssign)):
        return None
    value = bound[0].value
    try:
        found = ast.literal_eval(value) if value is not None else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return (found,) if value is not None and _is_plain(found) else None


def _module_of_code(function: types.FunctionType) -> types.ModuleType | None:
    """Return the module in which a function is written; wrappers carry a copied name."""
    name = function.__globals__.get("__name__")
    return sys.modules.get(name) if isinstance(name, str) else None


def _node_of(source: Source, code: types.CodeType) -> ast.AST | None:
    """Return the syntax tree of a function; None if the source differs from the loaded code."""
    text = code_text(code)
    found = [node for node, known in source.functions.get(code.co_qualname, ()) if known == text]
    same_line = [node for node in found if getattr(node, "lineno", 0) == code.co_firstlineno]
    chosen = same_line or found
    return chosen[0] if chosen else None


def _global_names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names


def differs_from_source(module: types.ModuleType, source: Source) -> bool:
    """Whether the loaded functions of a module differ from its source."""
    return bool(_loaded_differently(module, source))


_differing: dict[str, tuple[object, Source, dict[str, str]]] = {}


def _loaded_differently(module: types.ModuleType, source: Source) -> dict[str, str]:
    """Return the loaded code of functions that differ from the source, by name."""
    spec = getattr(module, "__spec__", None) or module
    known = _differing.get(module.__name__)
    if known is not None and known[0] is spec and known[1] is source:
        return known[2]
    found: dict[str, list[str]] = {}
    # Other loaders, such as pytest's, modify the source before compiling it.
    if type(getattr(module, "__loader__", None)).__name__ == "SourceFileLoader":
        for function in functions_of(module):
            code = function.__code__
            text = code_text(code)
            if text not in source.code_texts.get(code.co_qualname, set()):
                found.setdefault(code.co_qualname.partition(".")[0], []).append(text)
    texts = {name: "\n".join(sorted(found[name])) for name in found}
    _differing[module.__name__] = spec, source, texts
    return texts
