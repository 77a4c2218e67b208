"""Which functions and classes of the package a piece of code uses: names are followed through
imports, aliases and instances.

Nothing is run but the package's own imports. A variable that was set to `HippoRAG.build(...)` is
known to hold a HippoRAG, so that `hippo.retrieve` counts as HippoRAG's `retrieve`; further than
that nothing is inferred.
"""

import ast
import importlib
import inspect
from functools import cache

PACKAGE = "minirag"


@cache
def find(dotted):
    """The object behind a dotted name such as 'minirag.HippoRAG.build', or None."""
    parts = dotted.split(".") if dotted else []
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
            for part in parts[end:]:
                found = getattr(found, part)
            return found
        except (ImportError, AttributeError):
            continue
    return None


def full_name(found):
    """'minirag.methods.hipporag:HippoRAG.build' for a function, class or module of ours, else None."""
    if inspect.ismodule(found):
        return f"{found.__name__}:" if found.__name__.split(".")[0] == PACKAGE else None
    module, name = getattr(found, "__module__", None), getattr(found, "__qualname__", None)
    return f"{module}:{name}" if name and str(module).split(".")[0] == PACKAGE else None


class Reader:
    """Reads code piece by piece and remembers what its names stand for."""

    def __init__(self, names=(), makers=(), package=""):
        self.names = dict(
            names
        )  # name -> dotted name of what it is, or of the class that it is an instance of
        self.package = package  # what `from ..` starts from, in code of the package itself
        self.makers = dict(
            makers
        )  # name of a function outside the package -> dotted name of the class that it returns

    def dotted(self, node):
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return base and f"{base}.{node.attr}"
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            table = find(self.dotted(node.value) or "")
            return (
                self._class_name(table.get(node.slice.value)) if isinstance(table, dict) else None
            )
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in self.makers:
                return self.makers[node.func.id]
            made = find(self.dotted(node.func) or "")
            return self._class_name(
                made if inspect.isclass(made) else getattr(made, "__self__", None)
            )
        return None

    @staticmethod
    def _class_name(found):
        return (
            f"{found.__module__}.{found.__qualname__}"
            if inspect.isclass(found) and full_name(found)
            else None
        )

    def read(self, tree):
        """Full names of everything of ours that `tree` uses; its imports and assignments are
        remembered for the next piece.
        """
        used = set()
        for node in ast.walk(tree):
            used |= self._import(node)
        for node in sorted(
            (n for n in ast.walk(tree) if isinstance(n, ast.Assign)), key=lambda n: n.lineno
        ):
            if (
                len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
                and (made := self.dotted(node.value))
            ):
                self.names[node.targets[0].id] = made
        for node in ast.walk(tree):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and (
                dotted := self.dotted(node)
            ):
                used |= {full_name(find(dotted)), self._inherited(dotted)}
        return used - {None}

    @staticmethod
    def _inherited(dotted):
        """'minirag.methods.baselines:BM25Retriever.retrieve' where the class has `retrieve` from its
        base, which full_name names.
        """
        owner, _, member = dotted.rpartition(".")
        cls = find(owner)
        return (
            f"{full_name(cls)}.{member}"
            if inspect.isclass(cls)
            and full_name(cls)
            and member not in vars(cls)
            and hasattr(cls, member)
            else None
        )

    def _module(self, node):
        if not node.level:
            return node.module or ""
        return ".".join(
            [
                *self.package.split(".")[: len(self.package.split(".")) + 1 - node.level],
                *filter(None, [node.module]),
            ]
        )

    def _import(self, node):
        if isinstance(node, ast.Import):
            ours = [
                (alias.asname or PACKAGE, alias.name)
                for alias in node.names
                if alias.name.split(".")[0] == PACKAGE
            ]
            self.names.update(
                (local, name if local != PACKAGE else PACKAGE) for local, name in ours
            )
        elif (
            isinstance(node, ast.ImportFrom)
            and (module := self._module(node)).split(".")[0] == PACKAGE
        ):
            ours = [(alias.asname or alias.name, f"{module}.{alias.name}") for alias in node.names]
            self.names.update(ours)
        else:
            return set()
        return {full_name(find(name)) for _, name in ours}


def used_by_functions(tree, outside=()):
    """{function name: full names used} of a module of tests, helpers and fixtures of its own
    included.

    outside: a second such module's tree (helpers that the first imports, fixtures of a
    conftest.py), or several.
    """
    top, uses, calls = {}, {}, {}
    for module in (*outside, tree):
        reader = Reader()
        for statement in module.body:
            if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                reader.read(statement)
        top.update(
            {
                node.name: (node, dict(reader.names))
                for node in module.body
                if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            }
        )
    makers = {}
    for _ in range(2):  # a fixture may return what a helper makes
        makers = {
            name: made
            for name, (node, names) in top.items()
            if (made := _makes(node, names, makers))
        }
    for name, (node, names) in top.items():
        arguments = (
            [argument.arg for argument in node.args.args]
            if isinstance(node, ast.FunctionDef)
            else []
        )
        fixtures = {argument: makers[argument] for argument in arguments if argument in makers}
        uses[name] = Reader(names | fixtures, makers).read(node)
        calls[name] = (
            {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | set(arguments)
        ) & set(top)
    return {
        name: _reached(name, uses, calls) for name, (node, _) in top.items() if node in tree.body
    }


def compositions(module):
    """{full name: full names} for the functions, methods and classes of one of our modules: what
    each is put together from.

    Helpers of the same module and methods called on `self` are followed, other modules' functions
    are named and not looked into.
    """
    module = importlib.import_module(module)
    tree = ast.parse(inspect.getsource(module))
    reader = Reader(package=module.__name__ if hasattr(module, "__path__") else module.__package__)
    reader.read(
        ast.Module(
            [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))], []
        )
    )
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    composed = {}
    for owner in [None, *(node for node in tree.body if isinstance(node, ast.ClassDef))]:
        members = (
            {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
            if owner
            else functions
        )
        uses = {
            name: Reader(reader.names, package=reader.package).read(node)
            for name, node in (functions | members).items()
        }
        calls = {name: _called(node, uses) - {name} for name, node in (functions | members).items()}
        prefix = f"{module.__name__}:{owner.name}" if owner else f"{module.__name__}:"
        reached = {
            f"{prefix}.{name}" if owner else f"{prefix}{name}": _reached(name, uses, calls)
            for name in members
        }
        composed |= reached | ({prefix: set().union(*reached.values())} if owner else {})
    return composed


def _called(node, known):
    plain = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    attributes = [
        inner
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name)
    ]
    own = {inner.attr for inner in attributes if inner.value.id in ("self", "cls")}
    return (plain | own) & set(known)


def _makes(node, names, makers):
    """The class of ours that a helper or fixture returns or yields, if that is plain to see."""
    if not isinstance(node, ast.FunctionDef):
        return None
    reader = Reader(names, makers)
    reader.read(node)
    given = (
        inner.value
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Return, ast.Yield)) and inner.value is not None
    )
    return next(filter(None, map(reader.dotted, given)), None)


def _reached(name, uses, calls):
    seen, todo = set(), [name]
    while todo:
        if (one := todo.pop()) not in seen:
            seen.add(one)
            todo += calls[one]
    return set().union(*(uses[one] for one in seen))
