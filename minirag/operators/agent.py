"""Agent operators: a language model chooses which relations a walk follows, and which nodes it goes
on from. Each works on one question, because what it is offered depends on what it chose before.

Source: Survey, Sec. 6.1 (op-node, op-relationship)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..core.graph import Graph
from ..core.trace import PathStep, ScoredPath, Step
from ..llm import LLM
from ..prompts.agent_walk import Scored, relation_key
from .ranking import count_of

Back = Literal["edge", "relation", "allowed"]
ENDINGS = tuple(" ID| code| number|instance of|website|URL|inception|image| rate| count".split("|"))
UNWANTED = frozenset(
    "category's main topic|topic's main category|stack exchange site|main subject|commons category"
    "|country of citizenship|commons gallery|country of origin|country|nationality".split("|")
)


class Relation(NamedTuple):
    """All edges of one name at a node: positions in `Graph.edges`. outward: the node is their
    subject.
    """

    node: int
    name: str
    outward: bool
    edges: tuple[int, ...]

    def ends(self, graph: Graph) -> list[int]:
        """The node at the other end of each edge."""
        edges = [graph.edges[place] for place in self.edges]
        return [edge.target if self.outward else edge.source for edge in edges]


class Considered(NamedTuple):
    """What an agent weighed, its score, and why it was dropped ("" where it was kept)."""

    label: str
    score: float
    dropped: str = ""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ChoiceStep(Step):
    """What an agent was offered at one depth of its walk, best first, and the nodes it stood at.

    kind: "relations" or "entities".
    """

    depth: int
    kind: str
    topics: tuple[str, ...]
    offered: tuple[Considered, ...]
    shows = "offered"


class Reached(NamedTuple):
    """Where a walk stands: the nodes from its topic on, the edges between them, and its score."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...] = ()
    score: float = 1.0


class Offer(NamedTuple):
    """Where a walk stands, and the relations that it may follow."""

    here: Reached
    relations: tuple[Relation, ...]

    @property
    def names(self) -> list[str]:
        """Each relation once, as a prompt shows it."""
        return list(dict.fromkeys(relation_key(each.name) for each in self.relations))


class Chosen(NamedTuple):
    """A relation that the agent follows, from where, and the score that it gave."""

    here: Reached
    relation: Relation
    score: float


@dataclass(frozen=True)
class Agent:
    """A language model that walks over a graph. similar(question, texts): cosines, which only the
    offline rule looks at.
    """

    llm: LLM
    graph: Graph
    similar: Callable[[str, Sequence[str]], list[float]]

    def name(self, here: Reached) -> str:
        """The node at which a walk stands."""
        return self.graph.nodes[here.nodes[-1]].name

    def triples(self, *walks: Reached) -> list[str]:
        """The triples on the way, each once."""
        edges = dict.fromkeys(edge for walk in walks for edge in walk.edges)
        return [triple_text(self.graph, edge) for edge in edges]


def triple_text(graph: Graph, edge: int) -> str:
    """A triple as prompts show it: "subject, relation, object"."""
    e = graph.edges[edge]
    return f"{graph.nodes[e.source].name}, {e.name}, {graph.nodes[e.target].name}"


def unwanted(relation: str) -> bool:
    """Whether the released codes keep a relation of Wikidata from the agent: identifiers, counts,
    and what nearly every entity has.
    """
    lower = relation.lower()
    own = "wikidata" in lower or "wikimedia" in lower
    return own or lower in UNWANTED or relation.endswith(ENDINGS)


def offer(
    here: Reached, relations: Sequence[Relation], graph: Graph,
    back: Back = "edge", stop_list: bool = False,
) -> Offer:  # fmt: skip
    """The relations that a walk may follow from where it stands.

    back: not by an "edge" of its way; or not by the "relation" it came by, read backwards, which
    is the released ToG code; or "allowed". stop_list: without those that are `unwanted`.

    Source: Survey, Sec. 6.1 (op-relationship)
    """
    came = None
    if here.edges and back == "relation":
        last = graph.edges[here.edges[-1]]
        came = last.name, last.source != here.nodes[-2]
    gone = set(here.edges) if back == "edge" else set()
    left = [r._replace(edges=tuple(e for e in r.edges if e not in gone)) for r in relations]
    left = [r for r in left if r.edges and (r.name, r.outward) != came]
    return Offer(here, tuple(r for r in left if not (stop_list and unwanted(r.name))))


def score_relations(
    agent: Agent, asked: str, offers: Sequence[Offer], width: int
) -> list[Sequence[Scored]]:
    """The agent's scores of relations, one prompt for each node.

    Source: Survey, Sec. 6.1 (op-relationship)
    """
    fields = [
        {
            "question": asked, "entity": agent.name(each.here), "relations": each.names,
            "width": width, "found": agent.triples(each.here),
            "similarities": agent.similar(asked, each.names),
        }
        for each in offers
    ]  # fmt: skip
    return agent.llm.map("choose_relations", fields)


def score_relations_of_all(
    agent: Agent, asked: str, clue: str, offers: Sequence[Offer], width: int
) -> list[Sequence[Scored]]:
    """The agent's scores of relations, one prompt for all nodes.

    Source: Wang, Sec. IV-A (tog2-rp)
    """
    query = f"{asked} {clue}".strip()
    reply = agent.llm(
        "choose_relations_of_all", question=asked, clue=clue, width=width,
        entities=[(agent.name(each.here), each.names) for each in offers],
        found=agent.triples(*(each.here for each in offers)),
        similarities=[agent.similar(query, each.names) for each in offers],
    )  # fmt: skip
    return [
        [(name, score) for entity, name, score in reply if entity == agent.name(each.here)]
        for each in offers
    ]


def choose_relations(
    agent: Agent, offers: Sequence[Offer], replies: Sequence[Sequence[Scored]], depth: int,
    width: int | None = None, floor: float = 0.0,
) -> tuple[ChoiceStep, list[Chosen]]:  # fmt: skip
    """What is followed of what the agent scored: relations that it was offered, from `floor` on,
    at most `width` at a node. A name that leads both ways is followed both ways.

    Source: Survey, Sec. 6.1 (op-relationship)
    """
    chosen, weighed = list[Chosen](), list[Considered]()
    for each, reply in zip(offers, replies):
        names = {name.casefold(): name for name in each.names}
        scores: dict[str, float] = {}
        for name, score in reply:
            scores.setdefault(name.casefold(), score)
        kept, place = 0, agent.name(each.here)
        for key, score in sorted(scores.items(), key=lambda row: -row[1]):
            dropped = "not one of those offered" if key not in names else ""
            dropped = dropped or ("score 0" if score <= 0 else "")
            dropped = dropped or (f"below the floor of {floor:g}" if score < floor else "")
            dropped = dropped or (f"beyond the best {width}" if kept == width else "")
            weighed.append(Considered(f"{place}: {names.get(key, key)}", score, dropped))
            if not dropped:
                kept += 1
                same = [r for r in each.relations if relation_key(r.name).casefold() == key]
                chosen += [Chosen(each.here, relation, score) for relation in same]
        left = [name for key, name in names.items() if key not in scores]
        weighed += [Considered(f"{place}: {name}", 0.0, "not chosen") for name in left]
    topics = tuple(agent.name(each.here) for each in offers)
    offered = tuple(sorted(weighed, key=lambda row: -row.score))
    summary = f"depth {depth}: {count_of(chosen, 'relation')} followed"
    kind = "relations"
    step = ChoiceStep(kind, summary, depth=depth, kind=kind, topics=topics, offered=offered)
    return step, chosen


def reach(chosen: Chosen, graph: Graph) -> list[Reached]:
    """The nodes behind a relation, by name, each with the score of the relation."""
    (nodes, edges, _), relation, score = chosen
    ways = zip(relation.ends(graph), relation.edges)
    found = [Reached((*nodes, n), (*edges, e), score) for n, e in ways]
    return sorted(found, key=lambda each: graph.nodes[each.nodes[-1]].name)


def score_entities(
    agent: Agent, asked: str, groups: Sequence[tuple[Chosen, Sequence[Reached]]]
) -> list[Reached]:
    """The nodes behind each relation with the relation's score times the agent's score of the node.

    A relation's only node takes the relation's score, and nobody is asked. Scores that are all
    zero, or not as many as there are nodes, become 1 / number of nodes.

    Source: Survey, Sec. 6.1 (op-node)
    """
    several = [(chosen, reached) for chosen, reached in groups if len(reached) > 1]
    fields = [
        {
            "question": asked, "entity": agent.name(chosen.here), "relation": chosen.relation.name,
            "candidates": [agent.name(each) for each in reached],
            "found": agent.triples(chosen.here),
            "similarities": agent.similar(
                asked, [triple_text(agent.graph, each.edges[-1]) for each in reached]
            ),
        }
        for chosen, reached in several
    ]  # fmt: skip
    replies = iter(agent.llm.map("score_entities", fields))
    found: list[Reached] = []
    for chosen, reached in groups:
        scores = entity_scores(next(replies), len(reached)) if len(reached) > 1 else [1.0]
        found += [e._replace(score=chosen.score * score) for e, score in zip(reached, scores)]
    return found


def entity_scores(reply: Sequence[float], count: int) -> list[float]:
    """The scores of `count` nodes, or 1 / count for each where the reply does not fit."""
    fits = len(reply) == count and any(reply)
    return list(reply) if fits else [1 / count] * count


def choose_entities(
    agent: Agent, reached: Sequence[Reached], depth: int, width: int,
    why: Callable[[Reached], str] = lambda each: "" if each.score > 0 else "score 0",
) -> tuple[ChoiceStep, list[Reached]]:  # fmt: skip
    """The best `width` of the nodes for which `why` names no reason to drop them.

    Source: Survey, Sec. 6.1 (op-node)
    """
    weighed, kept = list[Considered](), list[Reached]()
    for each in sorted(reached, key=lambda each: -each.score):
        dropped = why(each) or (f"beyond the best {width}" if len(kept) == width else "")
        label = triple_text(agent.graph, each.edges[-1])
        weighed.append(Considered(label, each.score, dropped))
        kept += [] if dropped else [each]
    topics = tuple(dict.fromkeys(agent.graph.nodes[each.nodes[-2]].name for each in reached))
    summary, kind = f"depth {depth}: {len(kept)} of {len(weighed)} candidates kept", "entities"
    offered = tuple(weighed)
    step = ChoiceStep(kind, summary, depth=depth, kind=kind, topics=topics, offered=offered)
    return step, kept


def frontier(reached: Sequence[Reached]) -> list[Reached]:
    """Where a walk goes on: each node once, by its first way."""
    ends = [each.nodes[-1] for each in reached]
    return [each for place, each in enumerate(reached) if ends.index(ends[place]) == place]


def paths(walks: Sequence[Reached], graph: Graph) -> PathStep:
    """The ways that were kept, best first; one that another goes on with is not said twice."""
    longer = {walk.edges[:size] for walk in walks for size in range(len(walk.edges))}
    kept = {walk.edges: walk for walk in walks if walk.edges not in longer}
    best = sorted(kept.values(), key=lambda walk: -walk.score)
    named = [ScoredPath(tuple(graph.nodes[i].name for i in w.nodes), w.score) for w in best]
    edges = tuple(tuple((edge,) for edge in walk.edges) for walk in best)
    return PathStep("paths", f"{count_of(best, 'path')} kept", paths=tuple(named), edges=edges)
