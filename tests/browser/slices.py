"""The cells of a notebook that its widgets need. nbval runs the others too; here their stored
outputs are shown, and running them again would prove nothing about a widget.
"""

import ast

from minirag.grading.run_cells import MAGIC
from minirag.workshop.notebook_lint import WIDGET_REPR


def shows_widget(cell):
    outputs = cell.get("outputs", [])
    return any(WIDGET_REPR.match(o.get("data", {}).get("text/plain", "")) for o in outputs)


def base(node):
    """The name that an attribute, an item or a method's result is taken from, or None."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


class Names(ast.NodeVisitor):
    """What a cell binds, what it reads, what it may change without binding it, and what each
    function that it defines reads and may change.
    """

    def __init__(self, source):
        self.binds, self.reads, self.changes, self.functions = set(), set(), set(), {}
        self.visit(ast.parse(MAGIC.sub("pass", source)))

    def visit_Name(self, node):
        (self.reads if isinstance(node.ctx, ast.Load) else self.binds).add(node.id)

    def visit_alias(self, node):
        self.binds.add((node.asname or node.name).split(".")[0])

    def visit_Attribute(self, node):
        self._part(node)

    def visit_Subscript(self, node):
        self._part(node)

    def _part(self, node):
        if not isinstance(node.ctx, ast.Load):
            self.changes.add(base(node))
        self.generic_visit(node)

    def visit_Expr(self, node):
        """`found.append(x)` on a line of its own is there for what it changes."""
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            self.changes.add(base(node.value.func))
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        inner = Names("")
        inner.generic_visit(node)
        self.functions[node.name] = inner
        self.binds.add(node.name)
        self.reads |= inner.reads

    def visit_ClassDef(self, node):
        self.visit_FunctionDef(node)


def needed_by_widgets(notebook):
    """The positions of the cells that show a widget, and of those that these stand on."""
    code = {i: Names(c.source) for i, c in enumerate(notebook.cells) if c.cell_type == "code"}
    functions = {name: each for cell in code.values() for name, each in cell.functions.items()}

    def reached(cell):
        """What a cell reads and changes, by way of the notebook's functions too."""
        reads, changes = set(cell.reads), set(cell.changes)
        while more := {n for n in reads & set(functions) if not functions[n].reads <= reads}:
            reads = reads.union(*(functions[name].reads for name in more))
        return reads, changes.union(*(functions[name].changes for name in reads & set(functions)))

    needed, wanted = [], set()
    for i in sorted(code, reverse=True):
        reads, changes = reached(code[i])
        if shows_widget(notebook.cells[i]) or wanted & (code[i].binds | changes):
            needed, wanted = [i, *needed], wanted | reads
    return needed
