"""RAPTOR: a tree of summaries over the passages, searched as one list of nodes or layer by layer;
and RAPTOR-K, the same with k-means clusters, which the survey uses where Gaussian mixtures do not
finish.

RAPTOR's own paper (Sarthi et al., 2024) is not among this kit's papers. From the survey: every node
is searched by its vector (Tables 1 and 3), the k of all layers together (Sec. 7.2, Exp.4), k = 4
(Sec. 7.1), and a summary for clusters of more than two nodes (Sec. 4). From RAPTOR's released code:
the clusters (`algorithms.soft_clusters`), their limits, and where the layers end. The survey's tree
has one parent a node (Table 13: edges are nodes - 1); here soft clusters give a node several, as in
the released code.

Official code: parthsarthi03/raptor, commit 2e3e83e; `follow="code"` does as it does: clusters of
one or two are summarised too, 10 nodes and 3,500 tokens. Balanced k-means: JayLZhou/GraphRAG,
commit 4e87938.
Known differences from the released codes, not reproduced: a traversal by threshold keeps the nodes
whose cosine distance is greater than it, the far ones (here `cutoff` keeps the near ones); its
sentence splitter removes delimiters, can give an empty chunk and put parts out of order; an error
of the model becomes the summary; nodes that no cluster took cannot be reached by a traversal (here
it starts at all nodes without a parent).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from functools import cached_property
from typing import ClassVar, Self

from ..algorithms.report_elements import prefix
from ..core.corpus import Chunk, Corpus
from ..core.encoder import Encoder
from ..core.files import valid_text
from ..core.options import choose
from ..core.results import Passage, Retrieval
from ..core.trace import NodeStep, Step, Trace
from ..encoders.text_encoders import load_encoder
from ..graphs.tree_and_passage_graph import cluster_tree, family_sizes, layer_of, node_text
from ..index.vectors import VectorIndex
from ..llm import LLM, load_llm
from ..operators import chunk, node, question
from ..text.tokens import count_tokens
from .raptor_options import BUILT, RaptorKOptions, RaptorOptions, TreeOptions
from .rich_graph import GraphMethod


class TreeMethod(GraphMethod):
    """A method over a tree of summaries; subclasses say how a layer is clustered."""

    graph_type = "tree"
    index_components = ("Tree node",)
    primitive = "Question vector"
    granularity = ("Tree node",)
    operators: ClassVar = {"node": ("VDB",)}
    options_type: ClassVar[type[TreeOptions]] = TreeOptions
    settings: ClassVar = {"paper": {}, "code": {"min_members": 1, "k": 10, "budget": 3500}}
    built_with: ClassVar[tuple[str, ...]] = BUILT
    chosen: TreeOptions

    @classmethod
    def build(
        cls, corpus: Corpus, llm: LLM | str = "offline", encoder: Encoder | str = "minilm",
        executor: Executor | None = None, follow: str | None = None, **options: object,
    ) -> Self:  # fmt: skip
        """Cluster the passages and let the language model summarise each cluster, layer by layer.

        executor: any `concurrent.futures.Executor`, for the summaries of a layer.
        """
        chosen = choose(cls.options_type, cls.settings, follow, options).decided()
        model = load_llm(llm)
        loaded = load_encoder(encoder).fit([each.passage for each in corpus.chunks])
        graph = cluster_tree(
            corpus.chunks, loaded, model, chosen.cluster, chosen.layers, chosen.summary_tokens,
            chosen.min_members, chosen.last_layer, executor,
        )  # fmt: skip
        return cls(graph, model, loaded, chosen)

    @property
    def shape(self) -> str:
        """The layers in words, with the clusters that have a single member."""
        told = [f"{len(self.chunks)} leaves"]
        for layer, sizes in family_sizes(self.graph).items():
            alone = f", {sizes.count(1)} of one member" if 1 in sizes else ""
            told.append(f"layer {layer}: {len(sizes)} of {min(sizes)} to {max(sizes)}{alone}")
        return "; ".join(told if len(told) > 1 else [*told, "no cluster got a summary"])

    def __repr__(self) -> str:
        reduction = getattr(self.chosen, "reduction", "")
        reduced = f"reduced by {reduction}; " if reduction else ""
        made = f"{reduced}encoder {self.encoder.name}; summaries by {self.graph.source}"
        return f"{type(self).__name__}: {self.shape}; {made}; answers by {self.llm.name}"

    @cached_property
    def texts(self) -> list[str]:
        """The passage of each leaf, the text of each summary."""
        return [node_text(each, self.chunks) for each in self.graph.nodes]

    @cached_property
    def node_index(self) -> VectorIndex:
        """A vector for every node, leaf or summary.

        Source: Survey, Sec. 5 (indices)
        """
        labels = tuple(
            self.labels[each.chunks[0]] if each.type == "chunk" else each.name
            for each in self.graph.nodes
        )
        return VectorIndex(labels, self.encoder.encode(self.texts), self.encoder)

    def score_many(self, questions: Sequence[str]) -> list[Sequence[Step]]:
        """For each question the nodes that its vector finds, and the passages among them."""
        return self.search(questions, self.chosen.k)

    def search(self, questions: Sequence[str], k: int) -> list[Sequence[Step]]:
        """As `score_many`, for another k.

        Source: Survey, Sec. 6.1 (op-node); Survey, Sec. 6.3 (conversion)
        """
        # Question conversion: the question as a vector.
        vectors = question.vector(questions, self.encoder)
        if self.chosen.search == "collapsed":
            # Node: VDB. The k nearest of all nodes, whatever their layer.
            found = node.vdb(vectors, self.node_index, k)
        else:  # RAPTOR's other search: the k nearest on each layer, from the top down
            found = node.descend(vectors, self.node_index, self.graph, k, self.chosen.cutoff)
        found = [self.within_budget(step) for step in found]
        # The leaves among them.
        passages = chunk.from_leaves(found, self.graph, self.labels)
        return list(zip(found, passages))

    def within_budget(self, step: NodeStep) -> NodeStep:
        """The first of the chosen nodes that fit into the budget, all where there is none."""
        budget = self.chosen.budget
        if budget is None:
            return step
        sizes = [count_tokens(self.texts[row.index], self.chosen.count) for row in step.nodes]
        fit = prefix(sizes, budget)
        told = f"{step.summary}; {fit} of {len(sizes)} fit into {budget} tokens"
        return NodeStep(step.operator, told, nodes=step.nodes[:fit])

    def retrieve_many(self, questions: Sequence[str], k: int = 5) -> list[Retrieval]:
        """The first k tree nodes as passages; a summary is named as its node, "summary 1.2".

        A collapsed search looks for k nodes where that is more than the option `k`.
        """
        wide = k if self.chosen.search == "collapsed" else 0
        questions, retrievals = [valid_text(text) for text in questions], []
        traces = self.search(questions, max(self.chosen.k, wide))
        for text, trace in zip(questions, traces):
            rows = enumerate(Trace(trace).last(NodeStep).nodes[:k], start=1)
            found = [Passage(self.as_chunk(row.index), row.score, rank) for rank, row in rows]
            retrievals.append(Retrieval(text, self.name, tuple(found), Trace(trace)))
        return retrievals

    def as_chunk(self, place: int) -> Chunk:
        """A node as a chunk: the leaf's own, or a summary under its node's name."""
        each = self.graph.nodes[place]
        if each.type == "chunk":
            return self.chunks[each.chunks[0]]
        return Chunk(each.name, each.description, each.name, end=len(each.description))

    def layer_shares(self, retrievals: Iterable[Retrieval]) -> dict[int, float]:
        """{layer: share of the retrieved nodes, from 0 to 1}, layers without any included.

        Source: Survey, Table 8 (tab-8)
        """
        counted = Counter(layer for found in retrievals for layer in self.layers_of(found))
        total = max(1, counted.total())
        return {layer: counted[layer] / total for layer in sorted({*self.layers.values()})}

    @cached_property
    def layers(self) -> dict[str, int]:
        """The layer of each node, by the id of the passage that stands for it."""
        nodes = enumerate(self.graph.nodes)
        return {self.as_chunk(place).id: layer_of(each) for place, each in nodes}

    def layers_of(self, found: Retrieval) -> list[int]:
        """The layer of each retrieved node."""
        return [self.layers[passage.id] for passage in found]


class RAPTOR(TreeMethod):
    """Passages and summaries of clusters of passages, ranked together: broad questions find
    summaries, narrow ones passages.

    Source: Survey, Table 1 (tab-1); Survey, Table 3 (tab-3)
    """

    name = "raptor"
    paper = "Survey, Table 3 (RAPTOR)"
    options_type = RaptorOptions
    built_with = (*BUILT, "reduction", "dim", "threshold", "max_clusters", "rows_per_cluster")
    chosen: RaptorOptions


class RAPTORK(TreeMethod):
    """RAPTOR with balanced k-means for its Gaussian mixtures: every node has one parent.

    Source: Survey, Table 6 (tab-6)
    """

    name = "raptor-k"
    paper = "Survey, Table 6 (RAPTOR-K)"
    options_type = RaptorKOptions
    built_with = (*BUILT, "cluster_size")
    chosen: RaptorKOptions
