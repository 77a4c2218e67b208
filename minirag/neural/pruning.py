"""Soft pruning: a factor for every node and edge, learnt from how far its text lies from the
question.
"""

import torch
from torch import nn

from ..core.errors import MiniragError
from .settings import DISTANCES

# by how much the logit of a factor falls at first, when the distance grows by its standard
# deviation
FALL = 2.0
# the last bias of an elementwise factor: it starts near sigmoid(2) = .88, so that nothing is lost
# before anything is learnt
KEPT_AT_FIRST = 2.0


class ScalingFactor(nn.Module):
    """alpha = MLP(z - z_q) for rows of texts beside rows of questions, each (n, d) of unit vectors;
    returns (n,).

    distance: "scalar", the Euclidean distance, one number (paper's text), or "elementwise", |z -
    z_q|, d numbers (official code).
    squash: a sigmoid keeps alpha between 0 and 1 (official code; the paper names no activation).
    A scalar distance is standardised by `center` and `spread`, which `fit` sets: distances of
    MiniLM lie in a narrow band, and a small MLP that sees it raw stays constant.

    Source: GRAG, Eq. 6 (eq-6)
    """

    def __init__(self, dimensions, distance="scalar", hidden=64, squash=True):
        super().__init__()
        if distance not in DISTANCES:
            raise MiniragError(f"distance is one of {', '.join(DISTANCES)}; got {distance!r}.")
        self.distance, self.squash = distance, squash
        entries = 1 if distance == "scalar" else dimensions
        self.mlp = nn.Sequential(
            nn.Linear(entries, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        )
        for layer in self.mlp[::2]:
            nn.init.kaiming_normal_(layer.weight)
        nn.init.constant_(self.mlp[-1].bias, KEPT_AT_FIRST if squash else 1.0)
        if distance == "scalar":
            self.start_falling()
        self.register_buffer("center", torch.tensor(0.0))
        self.register_buffer("spread", torch.tensor(1.0))

    def fit(self, distances):
        """Take mean and standard deviation of these scalar distances as the unit in which the MLP
        sees them.
        """
        if len(distances) > 1 and float(distances.std()) > 0:
            self.center.copy_(distances.mean())
            self.spread.copy_(distances.std())

    def start_falling(self):
        """Begin with factors of one half at the mean distance that fall as it grows: two units
        carry it through, the others have a small say.

        An addition of this kit: from random weights, some seeds end with factors that are the same
        for everything. How far a model gets with factors frozen at this start has not been
        measured.
        """
        first, middle, last = self.mlp[::2]
        fall = FALL if self.squash else FALL / 4
        with torch.no_grad():
            first.weight[:2], first.bias[:2] = torch.tensor([[1.0], [-1.0]]), 0.0
            middle.weight[:2], middle.bias[:2] = torch.eye(2, middle.in_features), 0.0
            last.weight.mul_(0.1)
            last.weight[0, :2] = torch.tensor([-fall, fall])
            last.bias.fill_(0.0 if self.squash else 0.5)

    def forward(self, texts, asked):
        if self.distance == "scalar":
            seen = ((euclidean(texts, asked) - self.center) / self.spread)[:, None]
        else:
            seen = (texts - asked).abs() * texts.shape[
                1
            ] ** 0.5  # a coordinate of a unit vector is tiny
        alpha = self.mlp(seen)[:, 0]
        return torch.sigmoid(alpha) if self.squash else alpha


def euclidean(texts, asked):
    """Row by row the Euclidean distance of (n, d) and (n, d): (n,)."""
    return (texts - asked).norm(dim=1)


class SoftPruning(nn.Module):
    """One `ScalingFactor` for nodes and one for edges: `forward(batch)` gives alpha_n (V,) and
    alpha_e (E,).

    Source: GRAG, Eq. 5-6 (eq-5, eq-6)
    """

    def __init__(self, dimensions, distance="scalar", hidden=64, squash=True):
        super().__init__()
        self.node = ScalingFactor(dimensions, distance, hidden, squash)
        self.edge = ScalingFactor(dimensions, distance, hidden, squash)

    def fit(self, batches):
        """Learn the unit of distance from the graphs of the training questions."""
        pairs = [(self._of_nodes(batch), self._of_edges(batch)) for batch in batches]
        for factor, side in ((self.node, 0), (self.edge, 1)):
            factor.fit(torch.cat([euclidean(*pair[side]) for pair in pairs]))

    def forward(self, batch):
        return self.node(*self._of_nodes(batch)), self.edge(*self._of_edges(batch))

    @staticmethod
    def _of_nodes(batch):
        return batch.texts[batch.nodes], batch.asked[batch.question_of_node]

    @staticmethod
    def _of_edges(batch):
        return batch.texts[batch.edges], batch.asked[batch.question_of_edge]
