"""GRAG's model, Eq. 5 to 11: graph -> soft pruning -> graph encoder -> projector -> one token in
front of a language model.

G-Retriever is the same without pruning, over a Steiner subgraph instead of ego-graphs.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..core.errors import MiniragError
from . import DISTANCES, ModelOptions
from .batches import Example, GraphBatch
from .encoder import GraphEncoder
from .language_model import LanguageModel

Collate = Callable[[Sequence[Example]], GraphBatch]
Factors = tuple[Tensor, Tensor]  # alpha_n (V,) and alpha_e (E,)
FALL = 2.0  # how far a factor's logit falls at first over one standard deviation of the distance
# The last bias of an elementwise factor: it starts near sigmoid(2) = .88, so that nothing is lost
# before anything is learnt.
KEPT_AT_FIRST = 2.0
SHARPNESS = 16.0  # of the warm-up's softmax over cosines


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


class GraphPrompt(nn.Module):
    """All of it together. language: a `LanguageModel`; dimensions: of the text vectors.

    Source: GRAG, Eq. 10-11 (eq-10, eq-11)
    """

    def __init__(self, language: LanguageModel, dimensions: int, options: ModelOptions) -> None:
        super().__init__()
        self.language, self.options, self.dimensions = language, options, dimensions
        self.pruning: SoftPruning | None = None
        self.encoder: Any = None  # a `GraphEncoder`, or what stands in for it
        self.projector: nn.Module | None = None
        self.constant: nn.Parameter | None = None
        if options.graph_token == "constant":
            self.constant = nn.Parameter(torch.randn(language.dimensions))
        if options.graph_token == "encoder":
            if options.pruning != "none":
                self.pruning = SoftPruning(dimensions, options.pruning, squash=options.squash)
            self.encoder = GraphEncoder(dimensions, options)
            hidden = options.hidden
            first, last = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, language.dimensions)
            self.projector = nn.Sequential(first, nn.GELU(), last)

    @property
    def device(self) -> torch.device:
        return self.language.embeddings.weight.device

    def own_state(self) -> dict[str, Tensor]:
        """Everything but the frozen language model, whose weights never change."""
        changing = {name for name, parameter in self.named_parameters() if parameter.requires_grad}
        return {
            name: tensor.detach()
            for name, tensor in self.state_dict().items()
            if name in changing or not name.startswith("language.")
        }

    def factors(self, batch: GraphBatch) -> Factors | None:
        """(alpha_n, alpha_e), or None without pruning."""
        return self.pruning(batch) if self.pruning is not None else None

    def fit_pruning(self, collate: Collate, examples: Sequence[Example]) -> None:
        """Standardise the distances that pruning sees by those of the first 2,048 examples."""
        if self.pruning is not None:
            starts = range(0, min(len(examples), 2048), 256)
            batches = (collate(examples[start : start + 256]) for start in starts)
            self.pruning.fit([batch.to(self.device) for batch in batches])

    def node_states(self, batch: GraphBatch, factors: Factors | None) -> Tensor | None:
        """h_v of every node after the last layer, (V, hidden); None without an encoder.

        Source: GRAG, Eq. 9 (eq-9)
        """
        return self.encoder.node_states(batch, factors) if self.encoder is not None else None

    def direction(self, batch: GraphBatch, states: Tensor | None = None) -> Tensor | None:
        """The graph token before it gets its length: unit vectors (B, d_LM), or None where there is
        no token. states: of the nodes, by default those that the encoder makes.
        """
        if self.constant is not None:
            return F.normalize(self.constant, dim=0).expand(len(batch.asked), -1)
        if self.encoder is None or self.projector is None:
            return None
        if states is None:
            pooled = self.encoder(batch, self.factors(batch))
        else:
            pooled = self.encoder.pool(batch, states)
        return F.normalize(self.projector(pooled), dim=1)

    def token(self, batch: GraphBatch, states: Tensor | None = None) -> Tensor | None:
        """h_G, (B, d_LM). It takes the length of an average word embedding, an addition to the
        paper that spares a small model a search.

        Source: GRAG, Eq. 10 (eq-10)
        """
        direction = self.direction(batch, states)
        return None if direction is None else direction * self.language.word_length()

    def loss(self, examples: Sequence[Example], batch: GraphBatch) -> Tensor:
        """Mean cross-entropy of the answers' tokens.

        Source: GRAG, Eq. 11 (eq-11)
        """
        prompts = [self.language.prompt_ids(example) for example in examples]
        answers = [self.language.answer_ids(example.answer) for example in examples]
        return self.language.loss(prompts, answers, self.token(batch.to(self.device)))

    def alignment_loss(
        self,
        examples: Sequence[Example],
        batch: GraphBatch,
        answers: dict[str, int],
        vectors: Tensor,
    ) -> Tensor:
        """Cross-entropy of picking the answer whose unit embedding (rows of `vectors`) is nearest
        to the token: no language model runs.

        This warm-up is an addition of this kit; the paper trains through the language model only.
        """
        due = torch.tensor([answers[example.answer] for example in examples], device=self.device)
        direction = self.direction(batch.to(self.device))
        assert direction is not None, "a model without a token has no warm-up"
        return F.cross_entropy(SHARPNESS * direction @ vectors.T, due)

    @torch.no_grad()
    def write(self, examples: Sequence[Example], batch: GraphBatch) -> list[str]:
        """Greedy answers, one string an example."""
        prompts = [self.language.prompt_ids(example) for example in examples]
        return self.language.write(prompts, self.token(batch.to(self.device)))


def write_all(
    model: GraphPrompt, collate: Collate, examples: Sequence[Example], batch: int = 128
) -> list[str]:
    """The model's answers, one string an example. Prompts of about the same length are read
    together, since a batch is as wide as its longest.
    """
    model.eval()
    lengths = [len(model.language.prompt_ids(example)) for example in examples]
    order = sorted(range(len(examples)), key=lengths.__getitem__)
    written: dict[int, str] = {}
    for start in range(0, len(order), batch):
        places = order[start : start + batch]
        part = [examples[place] for place in places]
        written |= zip(places, model.write(part, collate(part)))
    return [written[place] for place in range(len(examples))]


def accuracy(model: GraphPrompt, collate: Collate, examples: Sequence[Example]) -> float:
    """Share of examples whose written answer is the expected one, but for case and outer space."""
    if not examples:
        return 0.0
    pairs = zip(write_all(model, collate, examples), examples)
    right = [text.strip().casefold() == e.answer.strip().casefold() for text, e in pairs]
    return sum(right) / len(examples)


def chosen_device(name: str | None = None) -> torch.device:
    """The torch device of this name; None takes a GPU if there is one. Raises MiniragError for a
    device that this machine does not have.
    """
    try:
        device = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        why = str(error).splitlines()[0][:150]
        raise MiniragError(
            f"The device {name!r} cannot be used here ({why}). Choose 'cpu' or 'cuda', or none for"
            " a GPU if there is one."
        ) from error
    return device
