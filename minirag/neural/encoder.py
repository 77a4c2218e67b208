"""The graph encoder: graph attention whose messages carry the scaled nodes and edges, pooled to one
vector a question.
"""

from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from . import ModelOptions
from .batches import GraphBatch

if TYPE_CHECKING:
    from collections.abc import Iterable


class GraphAttention(nn.Module):
    """One layer of graph attention over the edges and a loop at every node.

    The message along an edge is W h_u + W_e e_uv, with h_u and e_uv scaled by their factors; its
    weight is a softmax over all messages that reach the node. Heads are averaged.
    `edges_in_messages=False` drops e_uv, as the official model does (its layers are built without
    an edge dimension).
    messages: "both" ways of every edge, or only "along" it from head to tail, as in the official
    model; the paper says neither.

    Source: GRAG, Eq. 9 (eq-9)
    """

    def __init__(
        self, entries: int, hidden: int, heads: int, text_dimensions: int,
        edges_in_messages: bool = True, messages: str = "both",
    ) -> None:  # fmt: skip
        super().__init__()
        self.heads, self.hidden, self.messages = heads, hidden, messages
        self.node = nn.Linear(entries, heads * hidden, bias=False)
        width = heads * hidden
        self.edge = nn.Linear(text_dimensions, width, bias=False) if edges_in_messages else None
        self.direction = nn.Parameter(torch.zeros(3, heads))  # along, against the edge, to itself
        vectors = (nn.Parameter(torch.empty(heads, hidden)) for _ in range(3))
        self.sender, self.receiver, self.relation = vectors
        for vector in (self.sender, self.receiver, self.relation):
            nn.init.xavier_uniform_(vector)

    def forward(
        self, projected: Tensor, edge_scale: Tensor, texts: Tensor, batch: GraphBatch
    ) -> Tensor:
        """projected: W h of every node, scaled (V, heads * hidden). texts (T, d). Returns (V,
        hidden).
        """
        nodes, edges = len(projected), len(batch.edges)
        loops = torch.arange(nodes, device=projected.device)
        ways = [(batch.heads, batch.tails), (batch.tails, batch.heads)]
        ways = ways if self.messages == "both" else ways[:1]
        senders, receivers = (torch.cat(ends) for ends in zip(*ways, (loops, loops)))
        here = projected.view(nodes, self.heads, self.hidden)
        sent = torch.einsum("vhd,hd->vh", here, self.sender)
        received = torch.einsum("vhd,hd->vh", here, self.receiver)
        # Few texts are on many edges: each is projected once.
        kinds, kind = torch.unique(batch.edges, return_inverse=True)
        spoken = None
        if self.edge is not None:
            projected_texts = self.edge(texts.index_select(0, kinds))
            spoken = projected_texts.view(-1, self.heads, self.hidden)
        logits = sent.index_select(0, senders) + received.index_select(0, receivers)
        logits = logits + self._relation_logits(spoken, kind, edge_scale, sent, len(ways))
        weight = softmax_by(F.leaky_relu(logits, 0.2), receivers, nodes) / self.heads
        arrived = self._sent(here, weight, senders, receivers, batch)
        if spoken is None or not edges:
            return arrived
        # How much of each edge text arrives at each node: (V * kinds, heads).
        share = weight[: len(ways) * edges] * edge_scale.repeat(len(ways))[:, None]
        place = receivers[: len(ways) * edges] * len(kinds) + kind.repeat(len(ways))
        heard = share.new_zeros(nodes * len(kinds), self.heads).index_add(0, place, share)
        return arrived + heard.view(nodes, len(kinds) * self.heads) @ spoken.view(-1, self.hidden)

    def _sent(
        self, here: Tensor, weight: Tensor, senders: Tensor, receivers: Tensor, batch: GraphBatch
    ) -> Tensor:
        """What the nodes hear of each other: sum of weight times message over messages and heads,
        (V, hidden), as one matrix product for each graph.

        A product of small dense matrices takes a fifth of the time of adding up message by message;
        a graph of n nodes needs n x n x heads numbers.
        """
        slot, size = batch.slots
        cell = slot.index_select(0, receivers) * size + slot.index_select(0, senders) % size
        attention = weight.new_zeros(batch.graphs * size * size, self.heads)
        attention = attention.index_add(0, cell, weight)
        attention = attention.view(batch.graphs, size, size * self.heads)
        states = here.new_zeros(batch.graphs * size, self.heads * self.hidden)
        states = states.index_copy(0, slot, here.flatten(1))
        states = states.view(batch.graphs, size * self.heads, self.hidden)
        return torch.bmm(attention, states).flatten(0, 1).index_select(0, slot)

    def _relation_logits(
        self, spoken: Tensor | None, kind: Tensor, edge_scale: Tensor, sent: Tensor, ways: int
    ) -> Tensor:
        """What direction and relation add to the logits of the messages along edges, against them
        if any go there, and to oneself: (messages, heads).
        """
        *directions, loop = self.direction
        heard = sent.new_zeros(())
        if spoken is not None:
            heard = (spoken * self.relation).sum(-1).index_select(0, kind) * edge_scale[:, None]
        flat = sent.new_zeros(len(kind), self.heads)
        of_edges = [flat + direction + heard for direction in directions[:ways]]
        return torch.cat([*of_edges, loop.expand(len(sent), -1)])


def softmax_by(logits: Tensor, group: Tensor, count: int) -> Tensor:
    """Softmax of (n, heads) over the rows of each group (n,): the weights of a group add to 1."""
    place = group[:, None].expand_as(logits)
    highest = logits.new_full((count, logits.shape[1]), -torch.inf)
    highest = highest.scatter_reduce(0, place, logits.detach(), "amax")
    weight = (logits - highest.index_select(0, group)).exp()
    total = torch.zeros_like(highest).index_add(0, group, weight)
    return weight / total.index_select(0, group)


def mean_by(rows: Tensor, group: Tensor, count: int) -> Tensor:
    """Mean of (n, d) over the rows of each group (n,): (count, d); zeros where there are none."""
    total = rows.new_zeros(count, rows.shape[1]).index_add(0, group, rows)
    sizes = rows.new_zeros(count).index_add(0, group, rows.new_ones(len(rows)))
    return total / sizes.clamp(min=1)[:, None]


class GraphEncoder(nn.Module):
    """Graphs of a batch to one vector a question, (B, hidden).

    prune_at: "layers", the factors scale the nodes in every layer (paper), or "input", before the
    first one only (official code).
    merge: "graphs", the mean over a question's graphs of each graph's mean (paper), or "nodes", one
    mean over all their nodes (official code).
    sees_question: the question's vector is added to every node before the first layer, a control of
    this kit: it reaches the encoder without pruning. Layer normalisation and the residual around
    every layer but the first are this kit's; the paper says nothing, the official code has batch
    normalisation and no residual. They undo most of a node's pruning: one without edges comes out
    nearly the same at a factor of 1 and of .01.

    Source: GRAG, Eq. 9-10 (eq-9, eq-10)
    """

    def __init__(self, text_dimensions: int, options: ModelOptions) -> None:
        super().__init__()
        self.options = options
        hidden, heads = options.hidden, options.heads
        shape = hidden, heads, text_dimensions, options.edges_in_messages, options.messages
        sizes = [text_dimensions] + [hidden] * (options.layers - 1)
        self.layers = nn.ModuleList(GraphAttention(size, *shape) for size in sizes)
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in sizes)
        self.out, self.dropout = nn.LayerNorm(hidden), nn.Dropout(options.dropout)
        self.question: nn.Linear | None = None
        if options.sees_question:
            self.question = nn.Linear(text_dimensions, heads * hidden, bias=False)

    def forward(self, batch: GraphBatch, factors: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """factors: (alpha_n, alpha_e) of `SoftPruning`, or None for no pruning."""
        return self.pool(batch, self.node_states(batch, factors))

    def node_states(self, batch: GraphBatch, factors: tuple[Tensor, Tensor] | None) -> Tensor:
        """The states of all nodes after the last layer, (V, hidden).

        Source: GRAG, Eq. 9 (eq-9)
        """
        ones = batch.asked.new_ones
        node_scale, edge_scale = factors or (ones(len(batch.nodes)), ones(len(batch.edges)))
        layers = cast("Iterable[GraphAttention]", self.layers)
        texts = batch.texts * batch.texts.shape[1] ** 0.5  # coordinates of about 1
        states = texts  # until the first layer
        for number, (layer, norm) in enumerate(zip(layers, self.norms)):
            if number == 0:  # a text is projected once, however many nodes it is on
                projected = layer.node(texts).index_select(0, batch.nodes)
                if self.question is not None:
                    asked = self.question(batch.asked * batch.asked.shape[1] ** 0.5)
                    projected = projected + asked.index_select(0, batch.question_of_node)
            else:
                projected = layer.node(states)
            if number == 0 or self.options.prune_at == "layers":
                projected = projected * node_scale[:, None]  # W (alpha h) is alpha (W h)
            received = layer(projected, edge_scale, texts, batch)
            states = self.dropout(F.gelu(norm(states + received if number else received)))
        return states

    def pool(self, batch: GraphBatch, states: Tensor) -> Tensor:
        """The mean of node states for each question, (B, hidden).

        Source: GRAG, Eq. 10 (eq-10)
        """
        if self.options.merge == "nodes":
            return self.out(mean_by(states, batch.question_of_node, len(batch.asked)))
        pooled = mean_by(states, batch.graph, batch.graphs)
        return self.out(mean_by(pooled, batch.question_of, len(batch.asked)))
