"""The cells of a notebook that its widgets need. nbval runs the others too; here their stored
outputs are shown, and running them again would prove nothing about a widget.
"""

import ast

from minirag.grading.run_cells import MAGIC
from minirag.workshop.notebook_lint import WIDGET_REPR


def plain(source):
    return MAGIC.sub("pass", source)


def shows_widget(cell):
    outputs = cell.get("outputs", [])
    return any(WIDGET_REPR.match(o.get("data", {}).get("text/plain", "")) for o in outputs)


def base(node):
    """The name that an attribute, an item or a method's result is taken from, or None."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


AT_ONCE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
LATER = (ast.FunctionDef, ast.ClassDef)
PARTS = (ast.Attribute, ast.Subscript)
SURE = (ast.Assign, ast.Import, ast.ImportFrom, *LATER)


class Names(ast.NodeVisitor):
    """What some code binds, what it reads, what it may change without binding it, and the same of
    each function that it defines. What is bound inside a function or a comprehension stays there.
    """

    def __init__(self, *nodes):
        self.binds, self.reads, self.changes, self.functions = set(), set(), set(), {}
        for node in nodes:
            self.visit(node)

    def visit(self, node):
        for kinds, way in ((AT_ONCE, self._at_once), (LATER, self._later), (PARTS, self._part)):
            if isinstance(node, kinds):
                return way(node)
        return super().visit(node)

    def visit_Name(self, node):
        (self.reads if isinstance(node.ctx, ast.Load) else self.binds).add(node.id)

    def visit_arg(self, node):
        self.binds.add(node.arg)
        self.generic_visit(node)

    def visit_alias(self, node):
        self.binds.add((node.asname or node.name).split(".")[0])

    def visit_AugAssign(self, node):
        self.reads.add(base(node.target))
        self.generic_visit(node)

    def _part(self, node):
        if not isinstance(node.ctx, ast.Load):
            self.changes.add(base(node))
        self.generic_visit(node)

    def visit_Expr(self, node):
        """`found.append(x)` on a line of its own is there for what it changes."""
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            self.changes.add(base(node.value.func))
        self.generic_visit(node)

    def visit_For(self, node):
        """What changes an element changes what is looped over."""
        once, each = Names(*node.body, *node.orelse), Names(node.target)
        over = Names(node.iter)
        self.binds |= each.binds | once.binds
        self.reads |= over.reads | each.reads | (once.reads - each.binds)
        self.changes |= once.changes | (over.reads if each.binds & once.changes else set())
        self.functions |= once.functions

    def _inside(self, node):
        inner = Names(*ast.iter_child_nodes(node))
        inner.reads -= inner.binds
        inner.changes -= inner.binds
        self.reads |= inner.reads
        return inner

    def _at_once(self, node):
        self.changes |= self._inside(node).changes

    def _later(self, node):
        self.functions[node.name] = self._inside(node)
        self.binds.add(node.name)


def needed_by_widgets(notebook, views=None):
    """The positions of the cells that show a widget, the first `views` or all, and of those that
    these stand on.
    """
    shown = [i for i, cell in enumerate(notebook.cells) if shows_widget(cell)][:views]
    code = {
        i: [(isinstance(each, SURE), Names(each)) for each in ast.parse(plain(cell.source)).body]
        for i, cell in enumerate(notebook.cells)
        if cell.cell_type == "code"
    }
    functions = {}
    for statements in code.values():
        for _, names in statements:
            functions |= names.functions

    def reached(names):
        """What a statement reads and changes, by way of the notebook's functions too."""
        reads = set(names.reads)
        while more := {n for n in reads & set(functions) if not functions[n].reads <= reads}:
            reads = reads.union(*(functions[name].reads for name in more))
        changed = (functions[name].changes for name in reads & set(functions))
        return reads, names.changes.union(*changed)

    needed, wanted = [], set()
    for i in sorted(code, reverse=True):
        given = [(sure, names.binds, *reached(names)) for sure, names in code[i]]
        if i in shown or any(wanted & (b | c) for _, b, _, c in given):
            needed.insert(0, i)
            for sure, binds, reads, _ in reversed(given):
                wanted = (wanted - binds if sure else wanted) | reads
    return needed
