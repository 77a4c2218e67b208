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
from . import ModelOptions
from .batches import Example, GraphBatch
from .encoder import GraphEncoder
from .language_model import LanguageModel
from .soft_pruning import Factors, SoftPruning

Collate = Callable[[Sequence[Example]], GraphBatch]
SHARPNESS = 16.0  # of the warm-up's softmax over cosines


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
