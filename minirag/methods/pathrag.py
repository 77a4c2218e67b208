"""PathRAG: the few most reliable paths between the nodes that a question's keywords find, put into
the prompt as text.

Official code: BUPT-GAMMA/PathRAG, commit 32567bf; `follow="code"` sends the context that its
`_build_query_context` builds. Told, not rebuilt:

- Its default mode "global" is refused, and a pause of 20 seconds stands in the indexing.
- That function ends in an UnboundLocalError where no global relation is found or a level has no
  keywords. Here a question without global relations gets the local half, and a question without
  keywords on one level retrieves nothing, as the code answers it one call earlier.
- Banners part the sections of its context; here they are a dictionary.
- The order of a Python set decides between equal flows; here names do (`edge_flow_paths`).
"""

import random
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Literal

import numpy as np

from ..algorithms.flow import PATHS_A_START
from ..core.options import Between, Count, Options, Positive
from ..core.trace import Step
from ..index.relationships import RelationText
from ..index.vectors import NodeText
from ..operators import question, relationship
from ..operators.ranking import top_items
from ..text.tokens import TokenCounter
from . import pathrag_context as context
from . import pathrag_paths as paths
from . import rich_parts as parts
from .rich_base import RichMethod


@dataclass(frozen=True)
class PathChoices(Options):
    """The defaults are the paper's; `CODE` holds what the released code does instead.

    nodes (N), top_k (K), alpha, threshold (theta): of retrieval and flow. flow: resource on "nodes"
    (paper), or on "edges" of enumerated paths of at most 3 hops, of which at most half are kept
    (code, with theta .3). directed: resource follows an edge one way (paper), or both ways; flow on
    edges always goes both ways. per_pair: paths of an ordered pair that enter the pool (None: all;
    the paper keeps the most reliable ones without saying how many). max_paths: looked at from one
    start.
    levels: keywords of "both" levels find nodes, or "low" ones alone (code). The paper's Sec. 4.1
    has one set of keywords; that both levels belong to it is this kit's reading. search: nodes for
    "each" keyword in turn (paper), or for all "joined" (code). entity_text, relation_text: what is
    encoded, identifiers in the paper. cutoff: the least cosine, or None (code: 0.2). empty: what
    stands in for a level without keywords (`operators.question.keywords`).
    ranking: "flow", or an ablation, "random" or "hop-first". order: of the paths in the prompt.
    question: "first" in it (paper), or "last" (code). prompt: "paths", or the ablation "flat".
    edge_text: an edge's "description" (paper), or its "keywords" alone (code).
    global_edges: relations found by high-level keywords, after the question and before the paths,
    in global_budget tokens (None: as many as N, the code's number; the paper gives none).
    global_order: by "similarity", or by "degree", the sum of their ends', then weight (code).
    relation_ends: the two ends of these relations too, in path_budget tokens. sources: their
    passages; local_sources: the passages of the nodes found, by how many of these cite them; each
    in text_budget tokens. local_entities: the nodes found. (These four in the code only.)
    path_budget: tokens for paths, filled from the most reliable on (None: no limit).
    layout: "lines", or "tables": comma-separated values, each inner node's text twice in a path,
    and budgets that count descriptions alone (code).
    seed: of everything random. count: tokenizer, or text -> tokens. gleanings: extra turns of the
    extraction. gleaning_order: "assess first" asks whether anything was missed (the paper, whose
    graphs are GraphRAG's), or "continue first" (code). entity_types, examples: the domain's own
    types and few-shot pairs. See `extract_elements`.
    """

    nodes: Positive = 40
    top_k: Positive = 15
    alpha: Annotated[float, Between(0, 1, above=True)] = 0.8
    threshold: Annotated[float, Between(0, above=True)] = 0.05
    flow: Literal["nodes", "edges"] = "nodes"
    directed: bool = True
    per_pair: Positive | None = None
    max_paths: Positive = PATHS_A_START
    levels: Literal["both", "low"] = "both"
    search: Literal["each", "joined"] = "each"
    entity_text: NodeText = "name"
    relation_text: RelationText = "keywords, names, description"
    cutoff: float | None = None
    empty: question.Empty = "question"
    ranking: paths.Ranking = "flow"
    order: Literal["ascending", "descending", "random"] = "ascending"
    question: Literal["first", "last"] = "first"
    prompt: Literal["paths", "flat"] = "paths"
    edge_text: Literal["description", "keywords"] = "description"
    global_edges: Count | None = None
    global_budget: Count | None = 3000
    global_order: Literal["similarity", "degree"] = "similarity"
    relation_ends: bool = False
    sources: bool = False
    local_sources: bool = False
    text_budget: Count = 4000
    local_entities: bool = False
    path_budget: Count | None = None
    layout: Literal["lines", "tables"] = "lines"
    seed: int = 0
    count: TokenCounter = "regex"
    gleanings: Count = 1
    gleaning_order: Literal["assess first", "continue first"] = "assess first"
    entity_types: tuple[str, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()


CODE = {
    "question": "last", "threshold": 0.3, "flow": "edges", "directed": False, "levels": "low",
    "search": "joined", "entity_text": "name and description", "cutoff": 0.2, "empty": "nothing",
    "edge_text": "keywords", "global_order": "degree", "relation_ends": True, "sources": True,
    "local_sources": True, "local_entities": True, "path_budget": 5000, "layout": "tables",
    "gleaning_order": "continue first",
}  # fmt: skip

# With the question in front, the most reliable path ends the prompt.
QUESTION_FIRST = "Question: $question\n\nPassages:\n\n$passages"


class PathRAG(RichMethod):
    """Keywords find nodes, resource flows between them, and the most reliable paths become the
    prompt, the best one last.

    Source: PathRAG, Eq. 1 (eq-1); PathRAG, Eq. 4-6 (eq-4, eq-5, eq-6)
    """

    name = "pathrag"
    paper = "PathRAG"
    primitive = "Both high- and low-level keywords"
    granularity = ("Subgraph",)
    operators = {
        "node": ("VDB",),
        "relationship": ("VDB",),
        "subgraph": ("Flow paths",),
        "chunk": ("FromRel",),
    }
    kind = (PathChoices, {"paper": {}, "code": CODE})
    pairs = "directed"
    reused = {**RichMethod.reused, "ways": "directed"}

    @cached_property
    def ways(self):
        """`(networkx graph, edges)`, see `flow_graph`."""
        return paths.flow_graph(self.graph, self.chosen.directed)

    def rng(self, question):
        """What everything random about a question is drawn from: the same in every run and on every
        machine.
        """
        return random.Random(f"{self.chosen.seed}\n{question}")

    def score_many(self, questions):
        """Keywords, nodes, global relations, flow, paths, and the passages that the paths' edges
        were read from.
        """
        keywords = question.keywords(questions, self.llm, self.chosen.empty)
        overall = self.global_relations(keywords)
        return [self.trace(*one) for one in zip(questions, keywords, overall)]

    def global_relations(self, keywords):
        """The relations nearest to the high-level keywords."""
        c = self.chosen
        count = min(c.nodes if c.global_edges is None else c.global_edges, len(self.graph.edges))
        blank = Step("relationship vdb", "no relation searched", (), {"relations": []})
        texts = [", ".join(step.data["high"]) if count else "" for step in keywords]
        index = self.relationship_index
        found = parts.search_nonempty(texts, relationship.vdb, index, count, blank)
        found = [parts.drop_below(step, "relations", c.cutoff) for step in found]
        return [self.by_degree(step) for step in found] if c.global_order == "degree" else found

    def trace(self, question, asked, overall):
        c = self.chosen
        words = [*asked.data["low"], *(asked.data["high"] if c.levels == "both" else ())]
        words = list(dict.fromkeys(words))
        nodes = paths.collect_nodes(
            [", ".join(words)] if words and c.search == "joined" else words,
            self.entity_index,
            c.nodes,
            c.cutoff,
        )
        ways, edges = self.ways
        flowed, candidates = paths.find_paths(ways, [name for name, _, _ in nodes.data["nodes"]], c)
        kept = paths.choose_paths(candidates, c.top_k, c.ranking, self.rng(question))
        places = [paths.edges_of(path, edges, c.directed or c.flow == "edges") for path, _ in kept]
        items = tuple((" → ".join(path), score) for path, score in kept[:10])
        said = f"{len(kept)} of {len(candidates)} paths, by {'reliability' if c.ranking == 'flow' else c.ranking}"
        found = Step("paths", said, items, {"paths": kept, "edges": places})
        return asked, nodes, overall, flowed, found, self.scored(kept, places)

    def scored(self, kept, places):
        """A passage's score is the summed reliability of the paths that have an edge read from it."""
        scores = np.zeros(len(self.chunks))
        for (_, reliability), steps in zip(kept, places):
            scores[
                sorted(
                    {i for some in steps for edge in some for i in self.graph.edges[edge].chunks}
                )
            ] += reliability
        said = f"the {np.count_nonzero(scores)} passages that {len(kept)} paths were read from, by the paths' reliability"
        return Step("chunk from paths", said, top_items(self.labels, scores), {"scores": scores})

    def filled(self, retrieval, task=None):
        """`(sections, step)`: global relations, in the code's setting with their ends, passages and
        the nodes found, and last the paths, the most reliable at the very end.

        Source: PathRAG, Eq. 6 (eq-6); PathRAG, tokens a question (tokens)
        """
        c, write = self.chosen, context.LAYOUTS[self.chosen.layout](self.graph)
        fitting = lambda items, text_of, budget: parts.fitting(items, text_of, budget, c.count)
        passage = lambda place: self.chunks[place].passage
        _, found_nodes, overall, _, found, _ = retrieval.trace
        nodes = [place for _, place, _ in found_nodes.data["nodes"]]
        relations = [place for place, _ in overall.data["relations"]]
        relations = fitting(relations, write.relation, c.global_budget)
        sections, passages = {}, []
        if c.relation_ends:
            ends = context.ends_of(self.graph, relations)
            sections["ends"] = write.nodes(fitting(ends, write.node, c.path_budget))
        sections["relations"] = write.relations(relations)
        if c.sources:
            cited = parts.cited_by_relations(self.graph, relations)
            passages += fitting(cited, passage, c.text_budget)
        if c.local_sources:
            cited = context.cited_by_nodes(self.graph, nodes)
            passages += fitting(cited, passage, c.text_budget)
        if c.sources or c.local_sources:
            sections["passages"] = write.passages(dict.fromkeys(passages))
        if c.local_entities:
            sections["entities"] = write.nodes(nodes)
        texts = fitting(self.path_texts(found), str, c.path_budget)
        if c.prompt == "paths":
            texts = paths.in_order(texts, c.order, self.rng(retrieval.question))
        sections["paths"] = write.paths(texts)
        return parts.fill({name: (texts, None) for name, texts in sections.items()}, c.count)

    def path_texts(self, found):
        """The chosen paths as texts, most reliable first; in the ablation "flat" their nodes and
        edges, shuffled."""
        c = self.chosen
        kept, places = [path for path, _ in found.data["paths"]], found.data["edges"]
        if c.prompt == "flat":
            return paths.flat(kept, places, self.graph, c.edge_text, random.Random(c.seed))
        text_of = context.told_path if c.layout == "tables" else paths.textual_path
        return [text_of(path, some, self.graph, c.edge_text) for path, some in zip(kept, places)]

    def reader(self, task=None):
        """The task that answers, with the question where `PathChoices.question` says."""
        found = super().reader(task)
        return replace(found, template=QUESTION_FIRST) if self.chosen.question == "first" else found


class PathRAGLight(PathRAG):
    """PathRAG with half the nodes and a third of the paths.

    Source: PathRAG, PathRAG-lt (lt); PathRAG, Table 5 (tab-5)
    """

    name = "pathrag-lt"
    preset = {"nodes": 20, "top_k": 5}
