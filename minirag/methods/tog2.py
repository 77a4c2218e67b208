"""ToG-2: a walk over a knowledge graph and over the passages behind its nodes, in turn.

Paper: Wang, Graph RAG, Sec. IV-A, which this file follows; quoted comments are the paper's words.
Wang gives only the symbols W, D, K, L and α; their values are those of the released code, and L is
5 passages, as many as the kit's readers see. A node's page is the passages with its name as title,
or else those that mention it; they are chunks already. Wang writes one clue query for each topic
entity; here one stands for all. Before the walk, as the original ToG-2 paper has it, the model may
drop some of more than two topic entities.

Official code: IDEA-FinAI/ToG-2, commit 1906be6. Where it retrieves otherwise there is an option;
told, not rebuilt: it merges candidates by name; without candidates it crashes; names are in lower
case before its stop list is asked, so that "IMDb ID" stays; it keeps no entity where the model
answers "{}" for the topics; single-line paragraphs of a page are lost; before the walk it asks
whether passages of the topics' own pages are enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from ..algorithms.entity_scores import decayed_scores
from ..core.options import Count, NotNegative, Positive, Probability
from ..core.results import Retrieval
from ..core.trace import ChunkStep, NodeStep, Step, Vector
from ..index.vectors import text_index
from ..operators import agent, rank
from ..operators.agent import Reached
from ..operators.chunk import scored_step
from ..prompts import Task, find_task
from ..text.chunking import sentences_of
from .base import Sections
from .graph_agent import ChoiceStep, StopStep
from .tog import (
    CODE,
    ENOUGH,
    EXHAUSTED,
    NOTHING_CHOSEN,
    NOTHING_REACHED,
    NOTHING_TO_FOLLOW,
    Walked,
    Walker,
    WalkOptions,
    can_remember,
)
from .zeroshot import SelfConsistencyOptions, VoteStep, vote_of_samples

AGREED = "chains of thought agree on an answer; nothing was retrieved"


@dataclass(frozen=True)
class ToG2Options(WalkOptions):
    """ToG-2's own.

    back: a walk does not return by an "edge" of its way; the code means to forbid it, and a slip
        leaves it "allowed".
    floor: the lowest score of a relation that is followed; 0.2 in the original ToG-2 paper, and in
        the code where it asks for one entity at a time.
    clue: ask for a clue query after each depth; the code never updates its own.
    search_with: the question, the clue and the "triple" that leads to a candidate, or the
        "question" alone.
    search: "two stages", or the first one: "passages" alone.
    first_stage: passages that the second stage ranks again, by their best sentences.
    top_k: ranked chunks that score an entity, K. alpha: the decay of their weights, α.
    references: chunks that the model reads, L; at most K.
    yes: a reply says yes in its "braces", or "anywhere" in its first 100 words.
    samples: chains of thought that are drawn before the walk (0: none; needs a model).
    agreement: the share of them that has to agree, so that their answer is taken and nothing is
        retrieved.
    """

    back: Literal["edge", "allowed"] = "edge"
    floor: Probability = 0.0
    clue: bool = True
    search_with: Literal["triple", "question"] = "triple"
    search: Literal["two stages", "passages"] = "two stages"
    first_stage: Positive = 30
    top_k: Positive = 10
    alpha: NotNegative = 0.8
    references: Positive = 5
    yes: Literal["braces", "anywhere"] = "braces"
    samples: Count = 0
    agreement: Probability = 0.8


class Found(NamedTuple):
    """A chunk on the page of a candidate: which of the candidates, which chunk, its score."""

    candidate: int
    chunk: int
    score: float


def windows(sentences: Sequence[str], size: int = 2, step: int = 1) -> list[str]:
    """Windows of `size` sentences; single sentences where there are fewer than size + step."""
    if len(sentences) < size + step:
        return list(sentences)
    starts = range(0, len(sentences) - size + 1, step)
    return [" ".join(sentences[start : start + size]) for start in starts]


class ToG2(Walker):
    """Relation prune, entity prune, examine and reasoning; at every depth.

    Source: Wang, Sec. IV-A (tog2-init, tog2-rp, tog2-ep, tog2-er)
    """

    name = "tog2"
    paper = "Wang, Sec. IV-A"
    index_components = ("Entity", "Relationship", "Chunk")
    primitive = "Entities in question"
    granularity = ("Subgraph", "Chunk")
    operators: ClassVar = {
        "node": ("Link", "Onehop"), "relationship": ("Onehop", "Agent"), "chunk": ("VDB",),
    }  # fmt: skip
    options_type = ToG2Options
    settings: ClassVar = {
        "paper": {},
        "code": {
            **CODE, "back": "allowed", "clue": False, "search_with": "question",
            "search": "passages", "yes": "anywhere", "samples": 10,
        },
    }  # fmt: skip
    chosen: ToG2Options

    def walk(self, asked: str) -> Sequence[Step]:
        """Initial topic entities, then RP, EP and ER at each depth."""
        steps: list[Step] = []
        if self.chosen.samples and can_remember(self.llm):
            options = SelfConsistencyOptions(samples=self.chosen.samples)
            task = find_task("chain_of_thought")
            voted = vote_of_samples(self.llm, task, asked, options)
            steps.append(voted)
            if voted.vote.score >= self.chosen.agreement:
                stop = StopStep("stop", AGREED, reason=AGREED, sufficient=True)
                nothing = np.zeros(len(self.chunks))
                return [*steps, stop, scored_step("nothing", AGREED, self.labels, nothing)]
        # "begins by extracting entities from the given question as initial topic entities".
        linked = self.topic_entities(asked)
        topics = agent.frontier([Reached((each.index,)) for each in linked.last(NodeStep).nodes])
        steps += linked
        if not topics:
            return [*steps, *self.without_topics(asked)]
        return self.ended(asked, self.walk_from(asked, self.prune_topics(asked, topics), steps))

    def prune_topics(self, asked: str, topics: list[Reached]) -> list[Reached]:
        """The topics that the model keeps of more than two, or all where it keeps none."""
        if len(topics) <= 2:
            return topics
        names = [self.agent.name(each) for each in topics]
        kept = self.llm("prune_topics", question=asked, topics=names)
        return [each for each, name in zip(topics, names) if name in kept] or topics

    def walk_from(self, asked: str, here: list[Reached], steps: list[Step]) -> Walked:
        """The iterations: topic entities E_topic and their triple paths P go from one to the
        next.
        """
        options, clue, found = self.chosen, "", list[Reached]()
        best = np.zeros(len(self.chunks))  # of each chunk over all depths
        for depth in range(1, options.depth + 1):
            # RP: "provide ... all topic entities within a single prompt".
            offers = [
                agent.offer(each, self.relations[each.nodes[-1]], self.graph, options.back,
                            options.stop_list)
                for each in agent.frontier(here)
            ]  # fmt: skip
            offers = [each for each in offers if each.relations]
            if not offers:
                return Walked(steps, found, NOTHING_TO_FOLLOW)
            scored = agent.score_relations_of_all(self.agent, asked, clue, offers, options.width)
            step, chosen = agent.choose_relations(
                self.agent, offers, scored, depth, options.most_relations, options.floor
            )
            steps.append(step)
            if not chosen:
                return Walked(steps, found, NOTHING_CHOSEN)

            # EP: "top-W candidate entities are selected as the new topic entities".
            candidates = [each for relation in chosen for each in agent.reach(relation, self.graph)]
            chunks = self.search(asked, clue, candidates)
            step, here = self.prune_entities(candidates, chunks, depth)
            for each in chunks:
                best[each.chunk] = max(best[each.chunk], each.score)
            summary = (
                f"depth {depth}: the {len(chunks)} best chunks of {len(candidates)} candidates"
            )
            steps += [step, scored_step("search of pages", summary, self.labels, best.copy())]
            if not here:
                return Walked(steps, found, NOTHING_REACHED)
            found = [*found, *here]

            # ER: "q, Q_c^i, P^{i+1} and the top L chunks"; answer, or "a new clue query".
            texts = [self.chunks[place].passage for place in self.read(best)]
            triples = self.agent.triples(*found)
            verdict = self.llm(
                "examine", question=asked, clue=clue, triples=triples, passages=texts
            )
            said_yes = verdict.mentions_yes and options.yes == "anywhere"
            if verdict.sufficient or said_yes:
                return Walked(steps, found, ENOUGH)
            clue = verdict.text if options.clue else ""
            steps.append(
                Step("examine", f"depth {depth}: not enough; clue query: {clue or 'none'}")
            )
        return Walked(steps, found, EXHAUSTED)

    def search(self, asked: str, clue: str, candidates: Sequence[Reached]) -> list[Found]:
        """s = F_retr([q, q_j, p_jkl], t_jklm): the top K chunks on the candidates' pages, best
        first; a chunk on the page of a node counts once for it, by the triple that suits it best.

        Source: Wang, Sec. IV-A (tog2-ep)
        """
        options, queries = self.chosen, [asked] * len(candidates)
        if options.search_with == "triple":
            told = [agent.triple_text(self.graph, each.edges[-1]) for each in candidates]
            queries = [" ".join(filter(None, (asked, clue, triple))) for triple in told]
        cosines = self.chunk_index.similarities(queries)
        pairs = [
            Found(i, place, max(0.0, float(cosines[i, place])))
            for i, each in enumerate(candidates)
            for place in self.pages[each.nodes[-1]]
        ]
        pooled = best_of_each(pairs, candidates)
        if options.search == "two stages":  # the second ranks windows of sentences
            pooled = self.by_sentences(pooled[: options.first_stage], queries)
        return best_of_each(pooled, candidates)[: options.top_k]

    def by_sentences(self, found: Sequence[Found], queries: Sequence[str]) -> list[Found]:
        """The same chunks by the best window of two sentences in each, under the chunk's title."""
        places = dict.fromkeys(each.chunk for each in found)
        cut = {
            place: [
                f"{self.chunks[place].title}\n{text}"
                for text in windows(sentences_of(self.chunks[place].text)) or [""]
            ]
            for place in places
        }
        texts = [text for place in places for text in cut[place]]
        starts = np.cumsum([0, *(len(cut[place]) for place in places)])
        which = {query: row for row, query in enumerate(dict.fromkeys(queries))}
        cosines = text_index(texts, texts, self.encoder).similarities([*which])
        best = np.maximum.reduceat(cosines, starts[:-1], axis=1)  # (queries, chunks)
        column = {place: i for i, place in enumerate(places)}
        scores = [best[which[queries[each.candidate]], column[each.chunk]] for each in found]
        return [each._replace(score=max(0.0, float(s))) for each, s in zip(found, scores)]

    def prune_entities(
        self, candidates: Sequence[Reached], chunks: Sequence[Found], depth: int
    ) -> tuple[ChoiceStep, list[Reached]]:
        """The top-W candidates by the "exponentially decayed weighted sum of scores of its chunks
        that rank in top-K"; of a node that several triples lead to, the way of its best chunk.

        Source: Wang, Sec. IV-A (tog2-ep)
        """
        ends = [each.nodes[-1] for each in candidates]
        options, way = self.chosen, dict[int, int]()
        for each in chunks:
            way.setdefault(ends[each.candidate], each.candidate)
        pooled = [(ends[each.candidate], each.score) for each in chunks]
        scores = dict(decayed_scores(pooled, options.top_k, options.alpha))
        ways = set(way.values())
        rated = [
            each._replace(score=scores[ends[i]] if i in ways else 0.0)
            for i, each in enumerate(candidates)
        ]
        kept = {rated[i] for i in ways}

        def why(each: Reached) -> str:
            none = f"no passage of it is among the best {options.top_k}"
            other = "another triple that leads to it suits better"
            return "" if each in kept else other if each.nodes[-1] in scores else none

        return agent.choose_entities(self.agent, rated, depth, options.width, why)

    def read(self, scores: Vector) -> list[int]:
        """The top L chunks that the search found."""
        most = min(self.chosen.references, self.chosen.top_k)
        return [place for place in rank(scores, most).tolist() if scores[place] > 0]

    def context(
        self, retrieval: Retrieval, reader: Task | None = None
    ) -> tuple[Sections, Retrieval]:
        """The triples of the paths, and the top L chunks."""
        sections, retrieval = super().context(retrieval, reader)
        if sections["triples"]:
            places = self.read(retrieval.trace.last(ChunkStep).scores)
            sections["passages"] = [self.chunks[place].passage for place in places]
        return sections, retrieval

    def generate(self, retrieval: Retrieval, reader: Task) -> tuple[str, Retrieval]:
        """The answer, which a vote may have given already."""
        if retrieval.trace.last(StopStep).reason == AGREED:
            return retrieval.trace.last(VoteStep).vote.answer, retrieval
        return super().generate(retrieval, reader)


def best_of_each(found: Sequence[Found], candidates: Sequence[Reached]) -> list[Found]:
    """Best first; of the same chunk on the page of the same node only the best."""
    first: dict[tuple[int, int], Found] = {}
    for each in sorted(found, key=lambda row: -row.score):
        first.setdefault((candidates[each.candidate].nodes[-1], each.chunk), each)
    return list(first.values())
