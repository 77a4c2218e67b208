"""Methods composed of the pool's operators: a row of the survey's Table 3, written by hand, is
checked, built and asked like any other method.

Each operator takes the latest step of the type that it takes (`Operator.sources`). What nobody goes
on with is what the composition chose, and becomes the context: a step gives way to what an operator
of its own kind, or a subgraph operator, makes of it, and scores that another operator sums are no
choice. What the built method then does stands in `composed`.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Literal, cast

from ..core.errors import MiniragError
from ..core.graph import Graph
from ..core.options import check_value
from ..core.reports import CommunityIndex
from ..core.trace import ChunkStep, FactStep, Step, WalkStep
from ..operators.operator import GRAPHS
from ..operators.pool import OPERATORS, Operator
from .composed import Composed, Composition, word_for

COMPONENTS = ("Entity", "Tree node", "Relationship", "Chunk", "Community")
SCORES = (WalkStep, FactStep, ChunkStep)
Generate = Literal["directly", "map-reduce"]


def compose(
    *, operators: Sequence[str | Operator], graph: str = "none",
    index: Sequence[str] | None = None, generate: Generate = "directly", name: str = "composed",
    granularity: Sequence[str] | None = None,
) -> type[Composed]:  # fmt: skip
    """A method of one's own, composed of operators of the pool: a class with `build` like any
    other, whose `repr` is its row and says what nobody uses.

    operators: names out of `OPERATORS`, or operators with options of their own, as
        `OPERATORS["node VDB"](k=10)`; a question conversion that one of them takes and that is not
        named is put in front.
    graph: "none", "knowledge", "textual knowledge", "rich knowledge", "knowledge and passage",
        "passage" or "tree".
    index: the index components, in Table 1's words; None has those that the operators search.
    generate: "directly", or "map-reduce" over every item that was chosen.
    granularity: what of all that was chosen is read, in Table 1's words; None reads all.

    Raises `MiniragError` where an operator takes what nothing before it gives, or needs another
    graph or an index component that is missing.

    Source: Survey, Table 3 (tab-3); Survey, Table 1 (tab-1); Survey, Sec. 6.3 (generation)
    """
    check_value("graph", graph, Literal[GRAPHS])
    check_value("generate", generate, Generate)
    plan = with_conversions([find_operator(each) for each in operators])
    users: list[list[Operator]] = [[] for _ in plan]
    for place, operator in enumerate(plan):
        if graph not in operator.needs.graphs:
            known = ", ".join(operator.needs.graphs)
            raise MiniragError(f"{operator} works on a graph of type {known}; got graph={graph!r}.")
        for source in chain(*operator.sources([each.gives for each in plan[:place]], graph)):
            users[source].append(operator)
    chosen_by = [
        place
        for place, operator in enumerate(plan)
        if operator.kind != "question" and not any(gives_way(operator, u) for u in users[place])
    ]
    if not chosen_by:
        raise MiniragError(f"No operator chooses anything; there are: {', '.join(OPERATORS)}.")
    offered = list(dict.fromkeys(word_for(plan[place].gives, graph) for place in chosen_by))
    read = offered if granularity is None else list(granularity)
    if wrong := [word for word in read if word not in offered]:
        raise MiniragError(
            f"granularity {wrong[0]!r}: these operators choose {', '.join(offered)}."
        )
    components = components_of(plan, graph, index)
    idle = [str(plan[i]) for i, by in enumerate(users) if not by and i not in chosen_by]
    idle += [str(plan[i]) for i in chosen_by if word_for(plan[i].gives, graph) not in read]
    listed: dict[str, tuple[str, ...]] = {}
    for operator in plan:
        if operator.kind != "question":
            listed[operator.kind] = (*listed.get(operator.kind, ()), operator.name)
    row = f"{name}: {' -> '.join(map(str, plan))}\n  graph: {graph}; index:"
    row += f" {', '.join(components) or 'none'}; read, {generate}: {', '.join(read)}"
    row += f"\n  nobody uses what these give: {', '.join(idle)}" if idle else ""
    searched = any("Community" in operator.needs.components for operator in plan)
    about = {
        "name": name, "row": row, "__doc__": f"{row}\n\nComposed by `compose`.",
        "graph_type": graph, "index_components": components, "primitive": primitive(plan, users),
        "granularity": tuple(read), "operators": listed, "plan": tuple(plan),
        "chosen_by": tuple(chosen_by), "map_reduced": generate == "map-reduce",
        "answer_task": "reduce_answer" if generate == "map-reduce" else "answer",
        "stored_type": CommunityIndex if searched else Graph, "__module__": __name__,
    }  # fmt: skip
    return cast("type[Composed]", Composition("Composed", (Composed,), about))


def find_operator(named: str | Operator) -> Operator:
    """The operator of this name, or the one that was given."""
    if isinstance(named, Operator):
        return named
    if named not in OPERATORS:
        raise MiniragError(f"There is no operator {named!r}; there are: {', '.join(OPERATORS)}.")
    return OPERATORS[named]


def with_conversions(operators: Sequence[Operator]) -> list[Operator]:
    """The operators, and before them the question conversions that they take and nobody named."""
    conversions = {o.gives: o for o in OPERATORS.values() if o.kind == "question"}
    front, given = list[Operator](), list[type[Step]]()
    for operator in operators:
        for kinds in (slot.kinds for slot in operator.takes):
            if kinds[0] in conversions and not any(issubclass(kind, kinds) for kind in given):
                front.append(conversions[kinds[0]])
                given.append(kinds[0])
        given.append(operator.gives)
    return [*front, *operators]


def gives_way(operator: Operator, user: Operator) -> bool:
    """Whether a step is no choice any more once `user` has gone on with it."""
    return user.kind in (operator.kind, "subgraph") or operator.gives in SCORES


def components_of(
    plan: Sequence[Operator], graph: str, index: Sequence[str] | None
) -> tuple[str, ...]:
    """The index components, as given or as needed; raises where one that is needed is missing."""
    for known in index or ():
        check_value("index", known, Literal[COMPONENTS])
    needed: dict[str, Operator] = {}
    for operator in plan:
        for word in operator.needs.components:
            in_tree = graph == "tree" and word == "Entity"
            needed.setdefault("Tree node" if in_tree else word, operator)
    for word, operator in needed.items():
        if index is not None and word not in index:
            has = ", ".join(index) or "nothing"
            raise MiniragError(
                f"{operator} searches the index component {word!r}; index has {has}."
            )
    return tuple(word for word in COMPONENTS if word in (needed if index is None else index))


def primitive(plan: Sequence[Operator], users: Sequence[Sequence[Operator]]) -> str:
    """What of the question is searched by, in Table 1's words."""
    said = []
    for operator, by in zip(plan, users):
        if by and operator.name == "Vector":
            said.append("Question vector")
        elif by and operator.name == "Entities":
            said.append("Entities in question")
        elif by and operator.name == "Keywords":
            levels = {"High" if user.kind == "relationship" else "Low" for user in by}
            one = f"{min(levels)}-level keywords in question"
            said.append(one if len(levels) == 1 else "Both high- and low-level keywords")
    return "; ".join(said) or "Question"
