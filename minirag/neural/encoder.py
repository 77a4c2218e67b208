"""The graph encoder: graph attention whose messages carry the scaled nodes and edges, pooled to one
vector a question.
"""

import torch
from torch import nn
from torch.nn import functional as F


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
        self, entries, hidden, heads, text_dimensions, edges_in_messages=True, messages="both"
    ):
        super().__init__()
        self.heads, self.hidden, self.edges_in_messages, self.messages = (
            heads,
            hidden,
            edges_in_messages,
            messages,
        )
        self.node = nn.Linear(entries, heads * hidden, bias=False)
        self.edge = (
            nn.Linear(text_dimensions, heads * hidden, bias=False) if edges_in_messages else None
        )
        self.direction = nn.Parameter(
            torch.zeros(3, heads)
        )  # along the edge, against it, to itself
        self.sender, self.receiver, self.relation = (
            nn.Parameter(torch.empty(heads, hidden)) for _ in range(3)
        )
        for vector in (self.sender, self.receiver, self.relation):
            nn.init.xavier_uniform_(vector)

    def forward(self, projected, edge_scale, texts, batch):
        """projected: W h of every node, scaled (V, heads * hidden). texts (T, d). Returns (V,
        hidden).
        """
        nodes, edges = len(projected), len(batch.edges)
        loops = torch.arange(nodes, device=projected.device)
        ways = (
            [(batch.heads, batch.tails), (batch.tails, batch.heads)]
            if self.messages == "both"
            else [(batch.heads, batch.tails)]
        )
        senders, receivers = (torch.cat(ends) for ends in zip(*ways, (loops, loops)))
        here = projected.view(nodes, self.heads, self.hidden)
        sent, received = (
            torch.einsum("vhd,hd->vh", here, part) for part in (self.sender, self.receiver)
        )
        kinds, kind = torch.unique(
            batch.edges, return_inverse=True
        )  # few texts are on many edges: each is projected once
        spoken = (
            self.edge(texts.index_select(0, kinds)).view(-1, self.heads, self.hidden)
            if self.edges_in_messages
            else None
        )
        logits = self._relation_logits(spoken, kind, edge_scale, sent, len(ways))
        weight = (
            softmax_by(
                F.leaky_relu(
                    sent.index_select(0, senders) + received.index_select(0, receivers) + logits,
                    0.2,
                ),
                receivers,
                nodes,
            )
            / self.heads
        )
        arrived = self._sent(here, weight, senders, receivers, batch)
        if spoken is None or not edges:
            return arrived
        said = weight[: len(ways) * edges] * edge_scale.repeat(len(ways))[:, None]
        place = receivers[: len(ways) * edges] * len(kinds) + kind.repeat(len(ways))
        heard = said.new_zeros(nodes * len(kinds), self.heads).index_add(
            0, place, said
        )  # how much of each edge text arrives at each node
        return arrived + heard.view(nodes, len(kinds) * self.heads) @ spoken.view(-1, self.hidden)

    def _sent(self, here, weight, senders, receivers, batch):
        """What the nodes hear of each other: sum of weight times message over messages and heads,
        (V, hidden), as one matrix product for each graph.

        A product of small dense matrices takes a fifth of the time of adding up message by message;
        a graph of n nodes needs n x n x heads numbers.
        """
        slot, size = batch.slots
        cell = slot.index_select(0, receivers) * size + slot.index_select(0, senders) % size
        attention = (
            weight.new_zeros(batch.graphs * size * size, self.heads)
            .index_add(0, cell, weight)
            .view(batch.graphs, size, size * self.heads)
        )
        spread = here.new_zeros(batch.graphs * size, self.heads * self.hidden).index_copy(
            0, slot, here.flatten(1)
        )
        return (
            torch.bmm(attention, spread.view(batch.graphs, size * self.heads, self.hidden))
            .flatten(0, 1)
            .index_select(0, slot)
        )

    def _relation_logits(self, spoken, kind, edge_scale, sent, ways):
        """What direction and relation add to the logits of the messages along edges, against them
        if any go there, and to oneself: (messages, heads).
        """
        *directions, loop = self.direction
        heard = 0
        if spoken is not None:
            heard = (spoken * self.relation).sum(-1).index_select(0, kind) * edge_scale[:, None]
        flat = sent.new_zeros(len(kind), self.heads)
        return torch.cat(
            [
                *(flat + direction + heard for direction in directions[:ways]),
                loop.expand(len(sent), -1),
            ]
        )


def softmax_by(logits, group, count):
    """Softmax of (n, heads) over the rows of each group (n,): the weights of a group add to 1."""
    place = group[:, None].expand_as(logits)
    highest = logits.new_full((count, logits.shape[1]), -torch.inf).scatter_reduce(
        0, place, logits.detach(), "amax"
    )
    weight = (logits - highest.index_select(0, group)).exp()
    total = torch.zeros_like(highest).index_add(0, group, weight)
    return weight / total.index_select(0, group)


def mean_by(rows, group, count):
    """Mean of (n, d) over the rows of each group (n,): (count, d); zeros for a group without rows."""
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

    def __init__(
        self, text_dimensions, hidden=64, layers=2, heads=4, dropout=0.0, edges_in_messages=True, messages="both", prune_at="layers", merge="graphs",
        sees_question=False,
    ):  # fmt: skip
        super().__init__()
        sizes = [text_dimensions] + [hidden] * (layers - 1)
        self.layers = nn.ModuleList(
            GraphAttention(size, hidden, heads, text_dimensions, edges_in_messages, messages)
            for size in sizes
        )
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in sizes)
        self.out = nn.LayerNorm(hidden)
        self.dropout, self.prune_at, self.merge, self.hidden = (
            nn.Dropout(dropout),
            prune_at,
            merge,
            hidden,
        )
        self.question = (
            nn.Linear(text_dimensions, heads * hidden, bias=False) if sees_question else None
        )

    def forward(self, batch, factors=None):
        """factors: (alpha_n, alpha_e) of `SoftPruning`, or None for no pruning."""
        node_scale, edge_scale = factors or (
            batch.asked.new_ones(len(batch.nodes)),
            batch.asked.new_ones(len(batch.edges)),
        )
        texts = batch.texts * batch.texts.shape[1] ** 0.5  # coordinates of about 1
        states = None
        for layer, norm in zip(self.layers, self.norms):
            projected = (
                layer.node(texts).index_select(0, batch.nodes)
                if states is None
                else layer.node(states)
            )
            if states is None and self.question is not None:
                projected = projected + self.question(
                    batch.asked * batch.asked.shape[1] ** 0.5
                ).index_select(0, batch.question_of_node)
            if states is None or self.prune_at == "layers":
                projected = projected * node_scale[:, None]  # W (alpha h) is alpha (W h)
            received = layer(projected, edge_scale, texts, batch)
            states = self.dropout(F.gelu(norm(received if states is None else states + received)))
        if self.merge == "nodes":
            return self.out(mean_by(states, batch.question_of_node, len(batch.asked)))
        pooled = mean_by(states, batch.graph, batch.graphs)
        return self.out(mean_by(pooled, batch.question_of, len(batch.asked)))
