"""What GRAG and G-Retriever share: a textual graph made of a corpus, passages for a retrieved
subgraph, and the trained model that answers.

Neither paper retrieves passages. So that both can stand beside the other methods, the kit lets
every retrieved edge speak for the passages it was read from, with the cosine of its own three texts
and the question; a retrieved node without a retrieved edge does the same by itself. These are
additions.
"""

import hashlib
import json
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from ..algorithms.ego_graphs import TextualGraph
from ..algorithms.vectors import SAME, normalize
from ..core.corpus import Corpus, Extraction
from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..core.files import cache_folder
from ..core.graph import Graph
from ..core.options import Settings, choose, vary
from ..core.trace import ChunkStep, EdgeStep, ScoredEdge, SubgraphStep, Trace, Vector, VectorStep
from ..encoders.text_encoders import load_encoder
from ..graphs import choose_extraction, knowledge_graph
from ..index.ego_graphs import EgoIndex, textual_graph
from ..llm import LLM, load_llm
from ..neural import HardPrompt, ModelOptions
from ..neural import trained as bundles
from ..operators import chunk
from ..operators.ranking import top_items
from ..operators.relationship import label
from ..prompts import Task, find_task
from .base import StoredMethod

if TYPE_CHECKING:  # torch is heavy: it loads when a model is trained or asked
    from ..neural.batches import Example

Piece = tuple[Sequence[int], Sequence[int]]  # a subgraph: positions of its nodes and edges


class NeedsTraining(MiniragError):
    """An answer was asked for, and no model has been trained for it yet."""


@dataclass(frozen=True)
class PromptOptions(ModelOptions):
    """What both methods can choose about the graph and the text, besides the `ModelOptions`.

    parallel_edges: "keep", or "drop" all edges between two nodes that more than one edge joins in
    the same direction.
    text: the hard prompt, a "description" of every subgraph, "flat" tables of nodes and edges, or
    "none".
    """

    parallel_edges: Literal["keep", "drop"] = "keep"
    text: HardPrompt = "description"

    def model_options(self) -> ModelOptions:
        """Those of the model alone."""
        names = [field.name for field in fields(ModelOptions)]
        return ModelOptions(**{name: getattr(self, name) for name in names})


class GraphPrompted(StoredMethod):
    """Subclasses write `index`, `pieces` and `hard_prompt`, `score_many` and `generate`.

    `answer` needs a trained model: `minirag train NAME CORPUS` makes one, and it is found again by
    all that it depends on.

    Source: GRAG, Sec. 4 (eq-2)
    """

    graph_type = "knowledge"
    needs_training = True
    answer_task = ""
    options_type: ClassVar[type[PromptOptions]] = PromptOptions
    settings: ClassVar[Settings] = {"paper": {}, "code": {}}
    stored_type = Graph
    chosen: PromptOptions

    def __init__(
        self, graph: Graph, llm: LLM, encoder: Encoder | str, chosen: PromptOptions,
        extraction: str = "", trained: str | Path | None = None,
    ) -> None:  # fmt: skip
        super().__init__(graph.chunks, llm)
        self.graph, self.chosen, self.extraction = graph, chosen, extraction
        self.encoder: Encoder = load_encoder(encoder).fit([each.passage for each in self.chunks])
        self.textual_graph, self.read_from = textual_graph(graph, chosen.parallel_edges)
        self.trained = Path(trained) if trained is not None else None
        if self.trained is not None:
            self.check(bundles.read(self.trained))

    def __repr__(self) -> str:
        over = f"{type(self).__name__} over a {self.graph!r}; encoder {self.encoder.name}"
        return f"{over}; answers only after training"

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        extraction: Extraction | str | None = None, executor: Executor | None = None,
        follow: str | None = None, trained: str | Path | None = None,
        **options: Any,  # the fields of `options_type`
    ) -> Self:  # fmt: skip
        """Read triples, make them a graph of texts, encode it.

        extraction: None lets `llm` read the text; a name picks one that came with the corpus; an
        `Extraction` is used as it is.
        follow: "paper" (the default) or "code".
        trained: the folder of a model that `minirag train` wrote, if it is not where it is looked
        for.
        """
        chosen, asked = choose(cls.options_type, cls.settings, follow, options), load_llm(llm)
        named = "rules" if extraction is None else extraction if isinstance(extraction, str) else ""
        read = choose_extraction(corpus, extraction, asked, executor)
        method = cls(knowledge_graph(corpus.chunks, read), asked, encoder, chosen, named, trained)
        _ = method.index  # encoded now, not when the first question comes
        return method

    @classmethod
    def from_graph(
        cls, graph: Graph, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        follow: str | None = None, trained: str | Path | None = None,
        **options: Any,  # the fields of `options_type`
    ) -> Self:  # fmt: skip
        """The method over a `Graph` that exists already."""
        chosen = choose(cls.options_type, cls.settings, follow, options)
        return cls(graph, load_llm(llm), encoder, chosen, trained=trained)

    def with_options(self, **options: Any) -> Self:  # Any: the fields of `options_type`
        """The same graph with other options."""
        chosen = vary(self.chosen, options)
        return type(self)(self.graph, self.llm, self.encoder, chosen, self.extraction)

    @property
    def stored(self) -> Graph:
        return self.graph

    def extras(self) -> dict[str, object]:
        trained = str(self.trained) if self.trained else None
        return {"extraction": self.extraction, "trained": trained}

    # What each of the two methods writes.

    @property
    @abstractmethod
    def index(self) -> EgoIndex:
        """What the operators search."""

    @abstractmethod
    def pieces(self, found: SubgraphStep) -> list[Piece]:
        """The graphs that are shown to the model, of a retrieved subgraph."""

    @abstractmethod
    def hard_prompt(self, text: str, pieces: Sequence[Piece]) -> str:
        """The text of these graphs for the question `text`."""

    # Passages, which neither paper retrieves.

    def passages(self, asked: VectorStep, found: SubgraphStep) -> tuple[EdgeStep, ChunkStep]:
        """The retrieved edges by their own similarity, and the passages that they and the nodes
        without an edge speak for.
        """
        vector = np.asarray(asked.vector, dtype=np.float64)
        related = self._similar_edges(vector, found)
        [scored] = chunk.from_relationships([related], self.graph, self.labels)
        return related, self._with_lone_nodes(vector, found, scored)

    def _similar_edges(self, vector: Vector, found: SubgraphStep) -> EdgeStep:
        """The retrieved edges with the cosine of their three texts' mean vector and the question;
        what points away counts 0.
        """
        cosines = np.round(self._edge_texts[list(found.edges)] @ vector, SAME).clip(min=0)
        best = sorted(zip(cosines.tolist(), found.edges), key=lambda pair: (-pair[0], pair[1]))
        places = [(self.read_from[edge], cosine) for cosine, edge in best]
        edges = tuple(ScoredEdge(label(self.graph, i), i, cosine) for i, cosine in places)
        of_texts = "by the cosine of their texts and the question"
        summary = f"{len(edges)} retrieved edges {of_texts}"
        return EdgeStep("relationship similarity", summary, edges=edges)

    def _with_lone_nodes(self, vector: Vector, found: SubgraphStep, scored: ChunkStep) -> ChunkStep:
        joined = {end for edge in found.edges for end in self.textual_graph.edges[edge][::2]}
        lone = [node for node in found.nodes if node not in joined]
        if not lone:
            return scored
        scores = scored.scores.copy()
        vectors = normalize(self.index.node_vectors[lone].astype(np.float64))
        for node, cosine in zip(lone, np.round(vectors @ vector, SAME).clip(min=0).tolist()):
            scores[sorted(set(self.graph.nodes[node].chunks))] += cosine
        summary = f"{scored.summary}, and {len(lone)} nodes without a retrieved edge"
        items = top_items(self.labels, scores)
        return ChunkStep(scored.operator, summary, items, scores=scores)

    @cached_property
    def _edge_texts(self) -> Vector:
        """(edges, d): the unit mean vector of head, relation and tail."""
        nodes, triples = self.index.node_vectors.astype(np.float64), self.textual_graph.edges
        if not triples:
            return np.zeros((0, nodes.shape[1]))
        heads, tails = [head for head, _, _ in triples], [tail for _, _, tail in triples]
        texts = nodes[heads] + self.index.edge_vectors.astype(np.float64) + nodes[tails]
        return np.asarray(normalize(texts), dtype=np.float64)

    # The trained model.

    def examples(
        self, questions: Sequence[str], answers: Sequence[str] | None = None
    ) -> list["Example"]:
        """What the model sees of each question; answers are for training only and never decide what
        is retrieved.

        Source: GRAG, Eq. 7-8 (eq-7, eq-8)
        """
        from ..neural.batches import Example

        traces, due = map(Trace, self.score_many(questions)), answers or [""] * len(questions)
        found = [self.pieces(trace.last(SubgraphStep)) for trace in traces]
        return [
            Example(text, answer, self.graphs(pieces), self.hard_prompt(text, pieces))
            for text, answer, pieces in zip(questions, due, found)
        ]

    def graphs(self, pieces: Sequence[Piece]) -> tuple[TextualGraph, ...]:
        """Pieces of the textual graph as graphs of their own."""
        return tuple(self.textual_graph.subgraph(*piece) for piece in pieces)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that a trained model depends on: passages, graph, encoder and options."""
        passages = [[each.id, each.passage] for each in self.chunks]
        graph, options = self.textual_graph, asdict(self.chosen)
        parts = [self.name, self.encoder.name, options, graph.nodes, graph.edges, passages]
        text = json.dumps(parts, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]

    @property
    def trained_folder(self) -> Path:
        """Where the trained model of this method over this graph is looked for, and where `minirag
        train` puts it.
        """
        return self.trained or cache_folder() / "trained" / f"{self.name}-{self.fingerprint}"

    def training_command(self, corpus: str = "CORPUS") -> str:
        """What to type to train it."""
        words = ["minirag", "train", self.name, corpus]
        if self.encoder.name != "minilm":
            words += ["--encoder", self.encoder.name]
        if self.extraction:
            words += ["--extraction", self.extraction]
        return " ".join(words)

    def check(self, told: dict[str, Any]) -> None:  # what a bundle tells, as JSON
        """Raise where a trained model is not one for this method, encoder, corpus, graph and
        options.
        """
        wanted = self.name, self.encoder.name, self.fingerprint, self.training_command()
        bundles.refuse_other(self.trained_folder, told, *wanted)

    @cached_property
    def writer(self) -> bundles.Trained:
        """The trained model, loaded when an answer is first asked for. Raises `NeedsTraining` where
        there is none.
        """
        if not (self.trained_folder / bundles.TOLD).is_file():
            raise NeedsTraining(
                f"{self.name} retrieves without training, but answers only after it:"
                f" {self.training_command()}"
            )
        self.check(bundles.read(self.trained_folder))
        return bundles.load(self.trained_folder)

    def reader(self, task: str | Task | None = None) -> Task:
        """Refuses every prompt but the one that the model was trained on; like it, this one asks
        for a short answer.
        """
        self.check_task(task or None)
        return find_task("answer")
