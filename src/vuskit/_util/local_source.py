"""Source code of local modules: detection of local modules, and analysis of their names."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.machinery
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias

__all__ = [
    "Chain",
    "References",
    "Source",
    "code_text",
    "current_source",
    "distribution_of",
    "find_references",
    "find_source",
    "functions_of",
    "is_local_file",
    "is_local_module",
    "loaded_source",
    "normalized",
]

Chain: TypeAlias = tuple[str, ...]
"""A name followed by attributes: ``("helpers", "scale")`` for ``helpers.scale``."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_IMPORTS = (ast.Import, ast.ImportFrom)
_PACKAGE = "vuskit"


# -- which modules are local ---------------------------------------------------------------------


@functools.cache
def _library_folders() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    folders = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    return tuple(dict.fromkeys(Path(one).resolve() for one in folders))


@functools.lru_cache(maxsize=4096)
def is_local_file(file: str) -> bool:
    """Whether a file belongs to neither Python nor an installed package.

    Editable installs are local, because their code changes without a change of version.

    Examples
    --------
    >>> import json
    >>> is_local_file(json.__file__), is_local_file("/home/me/detectors.py")
    (False, True)
    """
    path = Path(file).resolve()
    if {"site-packages", "dist-packages"} & set(path.parts):
        return False
    return not any(path.is_relative_to(folder) for folder in _library_folders())


def is_local_module(module: ModuleType) -> bool:
    """Whether a module is the user's own code.

    Examples
    --------
    >>> import json, vuskit
    >>> is_local_module(json), is_local_module(vuskit)
    (False, False)
    """
    name = module.__name__
    if name.partition(".")[0] == _PACKAGE:
        return False
    file = getattr(module, "__file__", None)
    if file is not None:
        return is_local_file(file)
    folders = list(getattr(module, "__path__", ()))
    if folders:
        return is_local_file(str(Path(folders[0]) / "__init__.py"))
    return name == "__main__"


# Well-known distributions whose names differ from their modules; avoids reading all file lists.
_OTHER_NAMES = {
    "PIL": "pillow",
    "cv2": "opencv-python",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}


@functools.cache
def distribution_of(module: str) -> str | None:
    """Return the distribution that provides a module; None for the standard library.

    Examples
    --------
    >>> distribution_of("numpy.linalg"), distribution_of("json")
    ('numpy', None)
    """
    top = module.partition(".")[0]
    if top == _PACKAGE:
        return _PACKAGE
    if top in sys.stdlib_module_names or top in ("builtins", "__main__"):
        return None
    for name in (top, _OTHER_NAMES.get(top)):
        try:
            return str(metadata.distribution(name or "").metadata["Name"])
        except (metadata.PackageNotFoundError, ValueError):
            continue
    found = _packages().get(top)
    return found[0] if found else None


@functools.cache
def _packages() -> dict[str, list[str]]:
    # Slow, because it reads the file lists of all distributions.
    return {name: sorted(set(found)) for name, found in metadata.packages_distributions().items()}


# -- normalized code -----------------------------------------------------------------------------


def normalized(node: ast.AST) -> str:
    """Return a text of a syntax tree without comments, docstrings, whitespace and line numbers.

    The text does not depend on the version of Python.

    Examples
    --------
    >>> one = ast.parse('def f(x): "Twice."; return 2 * x  # or x + x')
    >>> other = ast.parse("def f(x): return (2*x)")
    >>> normalized(one) == normalized(other)
    True
    """
    parts: list[str] = []
    _normalize(node, parts)
    return "".join(parts)


def _normalize(node: Any, parts: list[str]) -> None:
    if isinstance(node, ast.AST):
        parts.append(f"{type(node).__name__}(")
        for name in node._fields:
            value: Any = getattr(node, name, None)
            if name == "body" and isinstance(node, (*_DEFINITIONS, ast.Module)):
                value = _without_docstring(value)
            if value is None and not isinstance(node, ast.Constant):
                continue
            if value == [] or name in ("type_comment", "kind", "ctx", "type_ignores"):
                continue
            parts.append(f"{name}=")
            _normalize(value, parts)
            parts.append(",")
        parts.append(")")
    elif isinstance(node, list):
        parts.append("[")
        for one in node:
            _normalize(one, parts)
            parts.append(",")
        parts.append("]")
    else:
        parts.append(f"{type(node).__name__}:{node!r}")


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[1:]
    return body


def code_text(code: CodeType) -> str:
    """Return a text of compiled code without file name, line numbers and docstrings.

    Examples
    --------
    >>> code_text((lambda x: x + 1).__code__) == code_text((lambda x: x + 1).__code__)
    True
    """
    consts = list(code.co_consts)
    optimized = code.co_flags & 0x1  # set for functions; only these have docstring constants
    if optimized and consts and isinstance(consts[0], str):
        consts[0] = None  # the docstring, unless the bytecode loads this constant
        if code.co_consts[0] and _loads_first_constant(code):
            consts[0] = code.co_consts[0]
    shown = [_constant_text(one) for one in consts]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return f"{code.co_code.hex()} {shown} {names} {counts}"


def _loads_first_constant(code: CodeType) -> bool:
    import dis

    return any(
        one.opname in ("LOAD_CONST", "RETURN_CONST") and one.arg == 0
        for one in dis.get_instructions(code)
    )


def _constant_text(value: Any) -> str:
    if isinstance(value, CodeType):
        return f"code({value.co_name} {code_text(value)})"
    if isinstance(value, frozenset):
        return f"frozenset({sorted(map(_constant_text, value))})"
    if isinstance(value, tuple):
        return f"tuple({[_constant_text(one) for one in value]})"
    return f"{type(value).__name__}:{value!r}"


# -- names that code refers to -------------------------------------------------------------------


@dataclass
class References:
    """Names outside a piece of code that it refers to.

    Attributes
    ----------
    chains : dict
        Global names with the attributes that follow, in order of appearance.
    imports : dict
        Imports inside functions: module (with leading dots if relative) and chain of names.
    """

    chains: dict[Chain, None] = field(default_factory=dict)
    imports: dict[tuple[str, Chain], None] = field(default_factory=dict)


def find_references(nodes: Iterable[ast.AST]) -> References:
    """Find the global names and the imports that code uses.

    Examples
    --------
    >>> found = find_references([ast.parse("def f(x): return tools.scale(x) + LIMIT").body[0]])
    >>> list(found.chains)
    [('tools', 'scale'), ('LIMIT',)]
    """
    found = References()
    for node in nodes:
        _Finder(found).visit(node)
    return found


class _Finder(ast.NodeVisitor):
    """Visitor that collects names not bound by an enclosing function."""

    def __init__(self, found: References) -> None:
        self._found = found
        self._scopes: list[dict[str, tuple[str, Chain] | None]] = []

    def _lookup(self, name: str) -> tuple[bool, tuple[str, Chain] | None]:
        for scope in reversed(self._scopes):
            if name in scope:
                return True, scope[name]
        return False, None

    def _use(self, chain: Chain) -> None:
        bound, imported = self._lookup(chain[0])
        if not bound:
            self._found.chains[chain] = None
        elif imported is not None:
            module, names = imported
            self._found.imports[module, (*names, *chain[1:])] = None

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._use((node.id,))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        chain = _chain(node)
        if chain is None:
            self.generic_visit(node)
        else:
            self._use(chain)

    def visit_Import(self, node: ast.Import) -> None:
        if self._scopes:
            for name in node.names:
                # Uses of the name are found elsewhere; record `a.b` because the import runs it.
                self._found.imports.setdefault((name.name, ("",)), None)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if self._scopes:
            module = "." * node.level + (node.module or "")
            for name in node.names:
                self._found.imports.setdefault((module, (name.name,)), None)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for decorator in getattr(node, "decorator_list", ()):
            self.visit(decorator)
        self._scopes.append(_bound_names(node))
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        for one in body:
            self.visit(one)
        self._scopes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_function(node)

    def _visit_comprehension(self, node: Any) -> None:
        bound: dict[str, tuple[str, Chain] | None] = {}
        for generator in node.generators:
            bound.update(dict.fromkeys(_targets(generator.target)))
        self._scopes.append(bound)
        self.generic_visit(node)
        self._scopes.pop()

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._visit_comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._visit_comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._visit_comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._visit_comprehension(node)


def _chain(node: ast.expr) -> Chain | None:
    """Return the names of ``a.b.c``; None if the expression does not start with a name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(names))


def _root(node: ast.expr) -> str | None:
    """Return the first name of an expression such as ``a.b[c].d(e)``."""
    while True:
        match node:
            case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Starred(value=value):
                node = value
            case ast.Call(func=value):
                node = value
            case ast.Name(id=name):
                return name
            case _:
                return None


def _targets(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id


def _bound_names(
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
) -> dict[str, tuple[str, Chain] | None]:
    """Return the names that a function binds, with the origin of imported names."""
    args = function.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    bound: dict[str, tuple[str, Chain] | None] = {one.arg: None for one in every if one}
    released: set[str] = set()

    def walk(node: ast.AST) -> None:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                bound[name] = None
                return
            case ast.ClassDef(name=name):
                bound[name] = None
                return
            case ast.Lambda():
                return
            case ast.Global(names=names):
                released.update(names)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                bound[name] = None
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                bound[name] = None
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                bound[name] = None
            case ast.Import(names=aliases):
                for one in aliases:
                    top = one.name.partition(".")[0]
                    bound[one.asname or top] = (one.name if one.asname else top, ())
                return
            case ast.ImportFrom(names=aliases, module=module, level=level):
                for one in aliases:
                    place = "." * level + (module or "")
                    bound[one.asname or one.name] = (place, (one.name,))
                return
        if isinstance(node, _COMPREHENSIONS):
            for child in ast.walk(node):
                if isinstance(child, ast.NamedExpr):
                    bound[child.target.id] = None
            return
        for child in ast.iter_child_nodes(node):
            walk(child)

    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    for one in body:
        walk(one)
    return {name: place for name, place in bound.items() if name not in released}


# -- modules -------------------------------------------------------------------------------------


class Source:
    """Source code of a module, and the statements that bind its names.

    Parameters
    ----------
    name : str
        Name of the module.
    package : str
        Base package of relative imports.
    file : str
        Path of the file.
    text : bytes
        Content of the file.
    """

    def __init__(self, name: str, package: str, file: str, text: bytes) -> None:
        self.name = name
        self.package = package
        self.file = file
        self.digest = hashlib.sha256(text).hexdigest()
        self.tree = ast.parse(text)
        self.bindings: dict[str, list[ast.AST]] = {}
        self.stars: list[str] = []
        self.rebound: set[str] = {
            name
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Global)
            for name in node.names
        }
        self._text = text
        self._normalized: dict[str, tuple[str, References]] = {}
        for statement in self.tree.body:
            self._enter(statement, ())

    def _enter(self, statement: ast.stmt, tests: tuple[ast.AST, ...]) -> None:
        """Record the names that a statement binds or changes."""
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._bind(statement.name, statement, *tests)
                for decorator in statement.decorator_list:
                    root = _root(decorator)
                    # `@known.register`: the definition becomes part of `known`.
                    if root in self.bindings and not isinstance(decorator, ast.Name):
                        bound = self.bindings[root]
                        if not any(isinstance(one, _IMPORTS) for one in bound):
                            self._bind(root, statement)
            case ast.Import(names=aliases):
                for one in aliases:
                    alias = ast.Import([one])
                    self._bind(one.asname or one.name.partition(".")[0], alias)
            case ast.ImportFrom(names=aliases, module=module, level=level):
                for one in aliases:
                    if one.name == "*":
                        self.stars.append("." * level + (module or ""))
                    else:
                        self._bind(one.asname or one.name, ast.ImportFrom(module, [one], level))
            case ast.If(test=test, body=body, orelse=orelse):
                for inner in (*body, *orelse):
                    self._enter(inner, (*tests, ast.Expr(test)))
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                blocks = [body, *(handler.body for handler in handlers), orelse, finalbody]
                for inner in (inner for block in blocks for inner in block):
                    self._enter(inner, tests)
            case _:
                for name in dict.fromkeys(_changed_names(statement)):
                    self._bind(name, statement, *tests)

    def _bind(self, name: str, *statements: ast.AST) -> None:
        self.bindings.setdefault(name, []).extend(statements)

    @functools.cached_property
    def imported(self) -> tuple[str, ...]:
        """Full names of all modules that import statements may refer to."""
        found: dict[str, None] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found.update((one.name, None) for one in node.names)
            elif isinstance(node, ast.ImportFrom):
                module = self.absolute("." * node.level + (node.module or ""))
                found[module] = None
                found.update((f"{module}.{one.name}", None) for one in node.names)
        return tuple(found)

    def definition(self, name: str) -> tuple[str, References]:
        """Return the normalized code of all statements that bind a name, and their references."""
        if name not in self._normalized:
            nodes = self.bindings[name]
            text = "\n".join(normalized(node) for node in nodes)
            references = find_references(nodes)
            references.chains.pop((name,), None)
            self._normalized[name] = text, references
        return self._normalized[name]

    @functools.cached_property
    def functions(self) -> dict[str, list[tuple[ast.AST, str]]]:
        """Functions and lambdas by qualified name: syntax tree and text of the compiled code."""
        nodes: dict[tuple[str, int], list[ast.AST]] = {}
        _index_functions(self.tree, "", nodes)
        found: dict[str, list[tuple[ast.AST, str]]] = {}
        for code in _all_codes(self.compiled):
            key = code.co_qualname, code.co_firstlineno
            if len(nodes.get(key, ())) == 1:
                found.setdefault(code.co_qualname, []).append((nodes[key][0], code_text(code)))
        return found

    @functools.cached_property
    def compiled(self) -> CodeType:
        """Compiled code of the module."""
        return compile(self._text, self.file, "exec", dont_inherit=True)

    @functools.cached_property
    def code_texts(self) -> dict[str, set[str]]:
        """Texts of all compiled code by qualified name."""
        found: dict[str, set[str]] = {}
        for code in _all_codes(self.compiled):
            found.setdefault(code.co_qualname, set()).add(code_text(code))
        return found

    @property
    def is_package(self) -> bool:
        """Whether the file is the ``__init__.py`` of a package."""
        return Path(self.file).name == "__init__.py"

    @property
    def folder(self) -> str:
        """Folder from which the module, or its outermost package, is imported."""
        folder = Path(self.file).parent
        for _ in self.package.split(".") if self.package else ():
            folder = folder.parent
        return str(folder)

    def absolute(self, module: str) -> str:
        """Return the full name of a module, given as in an import statement of this module."""
        level = len(module) - len(module.lstrip("."))
        if not level:
            return module
        parts = self.package.split(".")
        base = ".".join(parts[: len(parts) - level + 1])
        return f"{base}.{module[level:]}".strip(".")


def _changed_names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds or whose objects it changes."""
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
            ):
                root = _root(node)
                if root is not None:
                    yield root
            case ast.Expr(value=ast.Call(func=ast.Attribute() as function)):
                root = _root(function)
                if root is not None:
                    yield root


def _index_functions(
    node: ast.AST, prefix: str, found: dict[tuple[str, int], list[ast.AST]]
) -> None:
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, (*_FUNCTIONS, ast.Lambda)):
            name = prefix + ("<lambda>" if isinstance(child, ast.Lambda) else child.name)
            decorators = getattr(child, "decorator_list", ())
            line = min([child.lineno, *(one.lineno for one in decorators)])
            found.setdefault((name, line), []).append(child)
            inner = f"{name}.<locals>."
        elif isinstance(child, ast.ClassDef):
            inner = f"{prefix}{child.name}."
        _index_functions(child, inner, found)


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _all_codes(constant)


# -- finding sources -----------------------------------------------------------------------------

_parsed: dict[str, tuple[tuple[int, int], Source | None]] = {}
_loaded: dict[str, tuple[object, Source | None]] = {}


def _parse(name: str, package: str, file: str) -> Source | None:
    """Return the source of a file, cached until the file changes."""
    try:
        state = Path(file).stat()
        stamp = (state.st_mtime_ns, state.st_size)
        known = _parsed.get(f"{name} {file}")
        if known is not None and known[0] == stamp:
            return known[1]
        source = Source(name, package, file, Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    _parsed[f"{name} {file}"] = stamp, source
    return source


def loaded_source(module: ModuleType) -> Source | None:
    """Return the source of a module as of the first call after its import; None if missing."""
    spec = getattr(module, "__spec__", None) or module
    known = _loaded.get(module.__name__)
    if known is not None and known[0] is spec:
        return known[1]
    source = current_source(module)
    _loaded[module.__name__] = spec, source
    return source


def current_source(module: ModuleType) -> Source | None:
    """Return the current source of a module; None if the file is missing or invalid."""
    file = getattr(module, "__file__", None)
    if file is None or not file.endswith(".py"):
        return None
    return _parse(module.__name__, getattr(module, "__package__", None) or "", file)


def find_source(name: str, importer: Source) -> Source | None:
    """Return the source of a local module, loaded or not; None if not local or without source.

    Parameters
    ----------
    name : str
        Full name of the module.
    importer : Source
        Module that imports it; its folder is searched last.
    """
    module = sys.modules.get(name)
    if module is not None:
        return loaded_source(module) if is_local_module(module) else None
    spec = _find_spec(name, importer)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    if name.partition(".")[0] == _PACKAGE or not is_local_file(spec.origin):
        return None
    return _parse(name, spec.parent or "", spec.origin)


def _find_spec(name: str, importer: Source) -> importlib.machinery.ModuleSpec | None:
    """Find a module without importing it or its packages."""
    path: Sequence[str] | None = None
    spec: importlib.machinery.ModuleSpec | None = None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        part = ".".join(parts[:count])
        spec = None
        for finder in sys.meta_path:
            try:
                spec = finder.find_spec(part, path)
            except (ImportError, AttributeError, ValueError):
                continue
            if spec is not None:
                break
        if spec is None and path is None:
            spec = importlib.machinery.PathFinder.find_spec(part, [importer.folder])
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
    return spec


def functions_of(module: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions defined in a module, including methods and decorated functions."""
    seen: set[int] = set()

    def walk(value: Any, depth: int) -> Iterator[FunctionType]:
        if id(value) in seen or depth > 4:
            return
        seen.add(id(value))
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        if isinstance(value, property):
            for part in (value.fget, value.fset, value.fdel):
                yield from walk(part, depth)
        if isinstance(value, type):
            if value.__module__ == module.__name__:
                for part in list(vars(value).values()):
                    yield from walk(part, depth + 1)
            return
        if isinstance(value, FunctionType):
            if value.__code__.co_filename == getattr(module, "__file__", None):
                yield value
            for cell in value.__closure__ or ():
                try:
                    content = cell.cell_contents
                except ValueError:
                    continue
                if callable(content):
                    yield from walk(content, depth + 1)
        for name in ("__wrapped__", "py_func"):
            try:
                inner = vars(value).get(name) if hasattr(value, "__dict__") else None
                inner = inner or (getattr(value, name, None) if callable(value) else None)
            except Exception:  # attribute access on foreign objects can raise anything
                inner = None
            if isinstance(inner, FunctionType):
                yield from walk(inner, depth + 1)

    for value in list(vars(module).values()):
        yield from walk(value, 0)
