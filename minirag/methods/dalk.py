"""DALK: paths between the question's entities and the facts beside them, filtered and put into
sentences by a language model, answer the question without passages.

Paper: Li et al., DALK (2024), which is not among the kit's five. This file follows the survey's
Tables 1 and 3 and its Sec. 6.1, in Table 3's order: Link, Onehop and Agent on nodes, then KhopPath
and AgentPath on subgraphs. Official code: David-Li0406/DALK, a derivative of MindMap;
`follow="code"` does what it does.

Known differences, not rebuilt: with one linked entity the code raises NameError (or uses the last
question's paths); two entities joined both ways by "disease" relations alone keep it in a loop; an
unreachable pair counts among its five paths, as an empty one, and a line that it lists twice among
its five facts; it ranks entities by a dot product where vectors differ in length; it lets the model
reason before it answers, which here the kit's `answer` task does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from ..core.options import Options, Positive
from ..core.results import Retrieval
from ..core.trace import NodeStep, PathStep, ScoredPath, Step, Trace
from ..operators import node, paths, question
from ..operators.ranking import count_of
from ..prompts import Task
from .base import Sections
from .graph_agent import NO_TOPICS, ChoiceStep, Considered, GraphAgent, Relation, StopStep

NONE_KEPT = "no path or fact was kept; the passages are those of dense retrieval"
DROPPED = "the agent did not keep it"
UNLISTED = ("has_symptom", "has symptom")  # never listed behind a relation that is walked through


@dataclass(frozen=True)
class DALKOptions(Options):
    """What the survey leaves open is as in the released code, but for `directed`.

    hops: the most edges of a path between two entities (or of one segment of a chain).
    max_paths: how many paths the agent is offered.
    max_neighbours: how many facts beside the entities the agent is offered.
    linking: an entity goes to its "nearest" node (the survey's Link), or to the "next" nearest one
        where an earlier entity has that node.
    paths: "pairs" of entities within reach of each other (the survey's KhopPath), or a "chain" from
        the first entity to the second, from there to the third, and so on.
    directed: follow a relation from its subject to its object only. The survey does not say; its
        own code goes both ways.
    through: a relation whose name holds this word is walked through: what lies behind it is listed
        where there is room. "" lists all relations; the released code has "disease".
    """

    hops: Positive = 5
    max_paths: Positive = 5
    max_neighbours: Positive = 5
    linking: Literal["nearest", "next"] = "nearest"
    paths: Literal["pairs", "chain"] = "pairs"
    directed: bool = False
    through: str = ""


class DALK(GraphAgent):
    """Paths between topic entities and facts beside them, filtered by an agent, as sentences.

    Source: Survey, Table 3 (tab-3); Survey, Sec. 6.1 (op-subgraph)
    """

    name = "dalk"
    paper = "Survey, Table 3 (DALK)"
    index_components = ("Entity",)
    primitive = "Entities in question"
    operators: ClassVar = {
        "node": ("Link", "Onehop", "Agent"), "subgraph": ("KhopPath", "AgentPath"),
    }  # fmt: skip
    reads_pages = False
    options_type = DALKOptions
    settings: ClassVar = {
        "paper": {},
        "code": {"linking": "next", "paths": "chain", "directed": True, "through": "disease"},
    }
    chosen: DALKOptions

    def walk(self, asked: str) -> Sequence[Step]:
        options = self.chosen
        # Link: the question's entities, each at a node of the graph.
        topics = self.topic_entities(asked)
        linked = topics.last(NodeStep)
        if not linked.nodes:
            return [*topics, *self.without_evidence(asked, NO_TOPICS)]
        # Onehop: the facts beside them.
        beside = self.neighbours(linked)
        # KhopPath: the paths between them.
        between = paths.khop_path(
            [linked], self.graph, options.hops, options.max_paths, options.directed,
            chained=options.paths == "chain",
        )[0]  # fmt: skip
        # Agent and AgentPath: what of both helps to answer, both asked in one round.
        most = max(options.max_paths, options.max_neighbours)
        offered = [beside, between]
        facts, routes = paths.agent_path([asked] * 2, offered, self.graph, self.llm, most)
        facts = replace(facts, operator="node agent", summary=facts.summary.replace("path", "fact"))
        choices = [
            self.choice(kind, linked, *pair)
            for kind, *pair in (("neighbours", beside, facts), ("paths", between, routes))
        ]
        evidence = PathStep(
            "evidence", "", paths=routes.paths + facts.paths, edges=routes.edges + facts.edges
        )
        steps = [*topics, beside, between, *choices, facts, routes]
        if not evidence.paths:
            return [*steps, *self.without_evidence(asked, NONE_KEPT)]
        kept = f"{count_of(routes.paths, 'path')} and {count_of(facts.paths, 'fact')} were kept"
        stop = StopStep("stop", kept, reason=kept)
        return [*steps, stop, *self.chunks_of_paths(evidence)]

    def topic_entities(self, asked: str) -> Trace:
        """The question's entities, and the nodes that they are linked to, every node once."""
        named = question.entities([asked], self.llm, script="as written")
        names = [tuple(dict.fromkeys(step.entities)) for step in named]
        repeats = self.chosen.linking == "nearest"
        linked = node.link(names, self.node_index, repeats)[0]
        first = {row.index: row for row in reversed(linked.nodes)}
        once = tuple(row for row in linked.nodes if first[row.index] == row)
        return Trace([*named, replace(linked, nodes=once)])

    def neighbours(self, linked: NodeStep) -> PathStep:
        """Onehop: at each topic entity its relations, one to a line with all neighbours that it
        leads to; with `through` set, after these what lies behind the relations of that name.

        Source: Survey, Sec. 6.1 (op-node)
        """
        topics, most = [row.index for row in linked.nodes], self.chosen.max_neighbours
        lines, behind = dict[Relation, None](), dict[Relation, None]()
        for topic in topics:
            listed, following = self.listed_and_followed(topic)
            lines.update(dict.fromkeys(listed))
            seen = {topic}
            while following := [far for far in following if far not in seen]:
                last = [far for far in following if far in topics] or following
                seen.update(following)
                found = [self.listed_and_followed(far) for far in last]
                following = [far for _, onward in found for far in onward]
                shown = [each for listed, _ in found for each in listed]
                behind.update((each, None) for each in shown if each.name not in UNLISTED)
        if len(lines) <= most:
            lines |= behind
        rows = [self.one_hop(each) for each in [*lines][:most]]
        summary = f"{len(rows)} of {count_of(lines, 'relation')} at {count_of(topics, 'node')}"
        steps, edges = tuple(row[0] for row in rows), tuple(row[1] for row in rows)
        return PathStep("node onehop", summary, paths=steps, edges=edges)

    def listed_and_followed(self, at: int) -> tuple[list[Relation], list[int]]:
        """The relations at a node that are listed, and the nodes that the others lead to."""
        word, directed = self.chosen.through, self.chosen.directed
        beside = [each for each in self.relations[at] if each.outward or not directed]
        beside.sort(key=lambda each: each.edges[0])
        followed = [each for each in beside if word and word in each.name]
        ends = [far for each in followed for far in dict.fromkeys(each.ends(self.graph))]
        return [each for each in beside if each not in followed], ends

    def one_hop(self, relation: Relation) -> tuple[ScoredPath, tuple[tuple[int, ...]]]:
        """A relation as a path of one step; all nodes that it leads to stand at its end."""
        nodes = self.graph.nodes
        ends = ", ".join(nodes[far].name for far in dict.fromkeys(relation.ends(self.graph)))
        return ScoredPath((nodes[relation.node].name, ends), 1.0), (relation.edges,)

    def texts(self, step: PathStep) -> list[str]:
        """The paths of a step as prompts show them."""
        rows = zip(step.paths, step.edges)
        return [paths.path_text(self.graph, path, edges) for path, edges in rows]

    def choice(self, kind: str, linked: NodeStep, offered: PathStep, kept: PathStep) -> ChoiceStep:
        """What the agent was offered, and what it dropped."""
        scores = dict(zip(self.texts(kept), (path.score for path in kept.paths)))
        rows = [
            Considered(text, scores.get(text, 0.0), "" if text in scores else DROPPED)
            for text in self.texts(offered)
        ]
        rows.sort(key=lambda row: -row.score)
        topics = tuple(self.graph.nodes[row.index].name for row in linked.nodes)
        return ChoiceStep(
            "agent choice", kept.summary, depth=1, kind=kind, topics=topics, offered=tuple(rows)
        )

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """The kept paths and facts as sentences by the language model, or as they are where it
        writes none; passages where nothing was kept.
        """
        kept = {step.operator: step for step in retrieval.trace.all(PathStep)}
        kinds = (("Path", "agent path"), ("Neighbor", "node agent"))
        lines = {kind: self.texts(kept[name]) for kind, name in kinds if name in kept}
        given = {kind: texts for kind, texts in lines.items() if texts}
        if not given:
            return super().context(retrieval, reader)
        fields = [
            {"question": retrieval.question, "kind": kind, "evidence": texts}
            for kind, texts in given.items()
        ]
        stated = self.llm.map("state_paths", fields)
        sections = {
            f"{kind.lower()}-based evidence": list(sentences or given[kind])
            for kind, sentences in zip(given, stated)
        }
        said = [(text, 1.0) for texts in sections.values() for text in texts]
        step = Step("state paths", f"{count_of(said, 'sentence')} for the reader", tuple(said))
        return sections, retrieval.followed_by(step)
