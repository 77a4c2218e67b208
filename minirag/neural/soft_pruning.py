"""GRAG's soft pruning, Eq. 5 and 6: a learnt factor for every node and edge says how much of it
the graph encoder gets.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..core.errors import MiniragError
from . import DISTANCES
from .batches import GraphBatch

Factors = tuple[Tensor, Tensor]  # alpha_n (V,) and alpha_e (E,)
FALL = 2.0  # how far a factor's logit falls at first over one standard deviation of the distance
# The last bias of an elementwise factor: it starts near sigmoid(2) = .88, so that nothing is lost
# before anything is learnt.
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

    center: Tensor
    spread: Tensor

    def __init__(
        self, dimensions: int, distance: str = "scalar", hidden: int = 64, squash: bool = True
    ) -> None:
        super().__init__()
        if distance not in DISTANCES:
            raise MiniragError(f"distance is one of {', '.join(DISTANCES)}; got {distance!r}.")
        self.distance, self.squash = distance, squash
        entries = 1 if distance == "scalar" else dimensions
        layers = [nn.Linear(entries, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)]
        self.mlp = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
        for layer in layers:
            nn.init.kaiming_normal_(layer.weight)
        nn.init.constant_(layers[2].bias, KEPT_AT_FIRST if squash else 1.0)
        if distance == "scalar":
            self.start_falling(*layers)
        self.register_buffer("center", torch.tensor(0.0))
        self.register_buffer("spread", torch.tensor(1.0))

    def start_falling(self, first: nn.Linear, middle: nn.Linear, last: nn.Linear) -> None:
        """Begin with factors of one half at the mean distance that fall as it grows: two units
        carry it through, the others have a small say.

        An addition of this kit: from random weights, some seeds end with factors that are the same
        for everything. How far a model gets with factors frozen at this start has not been
        measured.
        """
        fall = FALL if self.squash else FALL / 4
        with torch.no_grad():
            first.weight[:2], first.bias[:2] = torch.tensor([[1.0], [-1.0]]), 0.0
            middle.weight[:2], middle.bias[:2] = torch.eye(2, middle.in_features), 0.0
            last.weight.mul_(0.1)
            last.weight[0, :2] = torch.tensor([-fall, fall])
            last.bias.fill_(0.0 if self.squash else 0.5)

    def fit(self, distances: Tensor) -> None:
        """Take mean and standard deviation of these scalar distances as the unit in which the MLP
        sees them.
        """
        if len(distances) > 1 and float(distances.std()) > 0:
            self.center.copy_(distances.mean())
            self.spread.copy_(distances.std())

    def forward(self, texts: Tensor, asked: Tensor) -> Tensor:
        if self.distance == "scalar":
            seen = ((euclidean(texts, asked) - self.center) / self.spread)[:, None]
        else:  # a coordinate of a unit vector is tiny
            seen = (texts - asked).abs() * texts.shape[1] ** 0.5
        alpha = self.mlp(seen)[:, 0]
        return torch.sigmoid(alpha) if self.squash else alpha


def euclidean(texts: Tensor, asked: Tensor) -> Tensor:
    """Row by row the Euclidean distance of (n, d) and (n, d): (n,)."""
    return (texts - asked).norm(dim=1)


class SoftPruning(nn.Module):
    """One `ScalingFactor` for nodes and one for edges: `forward(batch)` gives alpha_n (V,) and
    alpha_e (E,).

    Source: GRAG, Eq. 5-6 (eq-5, eq-6)
    """

    def __init__(
        self, dimensions: int, distance: str = "scalar", hidden: int = 64, squash: bool = True
    ) -> None:
        super().__init__()
        self.node = ScalingFactor(dimensions, distance, hidden, squash)
        self.edge = ScalingFactor(dimensions, distance, hidden, squash)

    def fit(self, batches: Sequence[GraphBatch]) -> None:
        """Learn the unit of distance from the graphs of the training questions."""
        self.node.fit(torch.cat([euclidean(*self._of_nodes(batch)) for batch in batches]))
        self.edge.fit(torch.cat([euclidean(*self._of_edges(batch)) for batch in batches]))

    def forward(self, batch: GraphBatch) -> Factors:
        return self.node(*self._of_nodes(batch)), self.edge(*self._of_edges(batch))

    @staticmethod
    def _of_nodes(batch: GraphBatch) -> tuple[Tensor, Tensor]:
        return batch.texts[batch.nodes], batch.asked[batch.question_of_node]

    @staticmethod
    def _of_edges(batch: GraphBatch) -> tuple[Tensor, Tensor]:
        return batch.texts[batch.edges], batch.asked[batch.question_of_edge]
