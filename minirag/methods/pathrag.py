"""PathRAG: the few most reliable paths between the nodes that a question's keywords find, put into the prompt as text.

Official code: BUPT-GAMMA/PathRAG, commit 32567bf. Told, not rebuilt: its default mode "global" is refused, a question without any global hit ends in
an error, a pause of 20 seconds stands in the indexing, each path is printed as the text of a one-element list, and the order of a Python set decides
between equal flows (here names do).
"""

import random
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Literal

import numpy as np

from ..algorithms.flow import PATHS_A_START
from ..choices import Between, Count, Options, Positive
from ..index.relationships import EntityText, RelationText
from ..operators import chunk, rank, relationship
from ..operators.ranking import top_items
from ..prompts import find_task
from ..results import Step
from ..tokens import TokenCounter
from . import pathrag_paths as paths
from . import rich_parts as parts
from .rich_base import RichMethod


@dataclass(frozen=True)
class PathChoices(Options):
    """The defaults are the paper's; `CODE` holds what the released code does instead.

    nodes (N), top_k (K), alpha, threshold (theta): of retrieval and flow. flow: resource on "nodes" (paper), or on "edges" of enumerated paths of
    at most 3 hops, of which at most half are kept (code, with theta .3). directed: resource follows an edge one way (paper), or both ways; flow on
    edges always goes both ways. per_pair: paths of an ordered pair that enter the pool (None: all; the paper keeps the most reliable ones without
    saying how many). max_paths: looked at from one start.
    levels: keywords of "both" levels (paper), or "low" ones for nodes (code). search: nodes for "each" keyword in turn (paper), or for all "joined"
    (code). entity_text, relation_text: what is encoded, identifiers in the paper. cutoff: the least cosine, or None (code: 0.2). empty: what stands
    in for a level without keywords (`ask_keywords`).
    ranking: "flow", or an ablation, "random" or "hop-first". order: of the paths in the prompt. question: "first" in it (paper), or "last" (code).
    prompt: "paths", or the ablation "flat". edge_text: an edge's "description" (paper), or its "keywords" alone (code).
    global_edges: relations found by high-level keywords, after the question and before the paths, in global_budget tokens (None: as many as N, which
    is the code's number; the paper gives none). sources: the passages of these relations too, in text_budget tokens; local_entities: the nodes
    found too (both in the code only). path_budget: tokens for paths, filled from the most reliable on (None: no limit).
    seed: of everything random. count: tokenizer, or text -> tokens. gleanings: extra turns of the extraction.
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
    entity_text: EntityText = "name"
    relation_text: RelationText = "keywords, names, description"
    cutoff: float | None = None
    empty: parts.Empty = "question"
    ranking: paths.Ranking = "flow"
    order: Literal["ascending", "descending", "random"] = "ascending"
    question: Literal["first", "last"] = "first"
    prompt: Literal["paths", "flat"] = "paths"
    edge_text: Literal["description", "keywords"] = "description"
    global_edges: Count | None = None
    global_budget: Count | None = 3000
    sources: bool = False
    text_budget: Count = 4000
    local_entities: bool = False
    path_budget: Count | None = None
    seed: int = 0
    count: TokenCounter = "regex"
    gleanings: Count = 1


CODE = {
    "question": "last", "threshold": 0.3, "flow": "edges", "directed": False, "levels": "low", "search": "joined",
    "entity_text": "name and description", "cutoff": 0.2, "empty": "nothing", "edge_text": "keywords", "sources": True, "local_entities": True,
    "path_budget": 5000,
}  # fmt: skip

# The task `answer` with the question in front, so that the most reliable path ends the prompt.
ANSWER_QUESTION_FIRST = replace(find_task("answer"), template="Question: $question\n\nPassages:\n\n$passages")


class PathRAG(RichMethod):
    """Keywords find nodes, resource flows between them, and the most reliable paths become the prompt, the best one last.

    Source: PathRAG, Eq. 1 (eq-1); PathRAG, Eq. 4-6 (eq-4, eq-5, eq-6)
    """

    name = "pathrag"
    paper = "PathRAG"
    primitive = "Both high- and low-level keywords"
    granularity = ("Subgraph",)
    operators = {"node": ("VDB",), "relationship": ("VDB",), "subgraph": ("Flow paths",), "chunk": ("FromRel",)}
    kind = (PathChoices, CODE)
    pairs = "directed"
    reused = {**RichMethod.reused, "ways": "directed"}

    @cached_property
    def ways(self):
        """`(networkx graph, edges)`, see `flow_graph`."""
        return paths.flow_graph(self.graph, self.chosen.directed)

    def rng(self, question):
        """What everything random about a question is drawn from: the same in every run and on every machine."""
        return random.Random(f"{self.chosen.seed}\n{question}")

    def score_many(self, questions):
        """Keywords, nodes, global relations, flow, paths, and the passages that the paths' edges were read from."""
        keywords = parts.ask_keywords(self.llm, questions, self.chosen.empty)
        overall = self.global_relations(keywords)
        return [self.trace(*one) for one in zip(questions, keywords, overall)]

    def global_relations(self, keywords):
        """The relations nearest to the high-level keywords."""
        c = self.chosen
        count = min(c.nodes if c.global_edges is None else c.global_edges, len(self.graph.edges))
        blank = Step("relationship vdb", "no relation searched", (), {"relations": []})
        texts = [", ".join(step.data["high"]) if count else "" for step in keywords]
        found = parts.where_any(texts, lambda some: relationship.vdb(some, self.relationship_index, count), blank)
        return [parts.above(step, "relations", c.cutoff) for step in found]

    def trace(self, question, asked, overall):
        c = self.chosen
        words = [*asked.data["low"], *(asked.data["high"] if c.levels == "both" else ())]
        words = list(dict.fromkeys(words))
        nodes = paths.collect_nodes([", ".join(words)] if words and c.search == "joined" else words, self.entity_index, c.nodes, c.cutoff)
        ways, edges = self.ways
        flowed, candidates = paths.find_paths(ways, [name for name, _, _ in nodes.data["nodes"]], c)
        kept = paths.choose_paths(candidates, c.top_k, c.ranking, self.rng(question))
        places = [paths.edges_of(path, edges, c.directed and c.flow == "nodes") for path, _ in kept]
        items = tuple((" → ".join(path), score) for path, score in kept[:10])
        said = f"{len(kept)} of {len(candidates)} paths, by {'reliability' if c.ranking == 'flow' else c.ranking}"
        found = Step("paths", said, items, {"paths": kept, "edges": places})
        return asked, nodes, overall, flowed, found, self.scored(kept, places)

    def scored(self, kept, places):
        """A passage's score is the summed reliability of the paths that have an edge read from it."""
        scores = np.zeros(len(self.chunks))
        for (_, reliability), steps in zip(kept, places):
            scores[sorted({i for some in steps for edge in some for i in self.graph.edges[edge].chunks})] += reliability
        said = f"the {np.count_nonzero(scores)} passages that {len(kept)} paths were read from, by the paths' reliability"
        return Step("chunk from paths", said, top_items(self.labels, scores), {"scores": scores})

    def context(self, retrieval):
        """`(sections, step)`: global relations, then in the code's setting passages and nodes, and last the paths, the most reliable at the very end.

        Source: PathRAG, Eq. 6 (eq-6); PathRAG, tokens a question (tokens)
        """
        c = self.chosen
        _, nodes, overall, _, found, _ = retrieval.trace
        sections = {"relations": ([parts.relation_row(self.graph, i) for i, _ in overall.data["relations"]], c.global_budget)}
        if c.sources:
            [step] = chunk.from_relationships([overall], self.graph, self.labels)
            scores = step.data["scores"]
            sections["passages"] = ([self.chunks[i].passage for i in rank(scores) if scores[i] > 0], c.text_budget)
        if c.local_entities:
            sections["entities"] = ([parts.entity_row(self.graph, i) for _, i, _ in nodes.data["nodes"]], None)
        sections["paths"] = (self.path_texts(found), c.path_budget)
        filled, step = parts.fill(sections, c.count)
        if c.prompt == "paths":
            filled["paths"] = paths.in_order(filled["paths"], c.order, self.rng(retrieval.question))
        return filled, step

    def path_texts(self, found):
        """The chosen paths as texts, most reliable first; in the ablation "flat" their nodes and edges, shuffled."""
        c = self.chosen
        kept = [path for path, _ in found.data["paths"]]
        if c.prompt == "flat":
            return paths.flat(kept, found.data["edges"], self.graph, c.edge_text, random.Random(c.seed))
        return [paths.textual_path(path, places, self.graph, c.edge_text) for path, places in zip(kept, found.data["edges"])]

    def answer(self, question, k=5):
        """Retrieve, fill the context, and let the language model (or the offline rule) answer from it; k is only for the passages shown."""
        return parts.answer_from(self, question, k, ANSWER_QUESTION_FIRST if self.chosen.question == "first" else "answer")


class PathRAGLight(PathRAG):
    """PathRAG with half the nodes and a third of the paths.

    Source: PathRAG, PathRAG-lt (lt); PathRAG, Table 5 (tab-5)
    """

    name = "pathrag-lt"
    preset = {"nodes": 20, "top_k": 5}
