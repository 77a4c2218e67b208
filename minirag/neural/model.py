"""GRAG's generator: graph -> soft pruning -> graph encoder -> projector -> one token in front of a
language model.

G-Retriever is the same without pruning, over a Steiner subgraph instead of ego-graphs.
"""

import torch
from torch import nn
from torch.nn import functional as F

from .encoder import GraphEncoder
from .pruning import SoftPruning
from .settings import Settings


class GraphPrompt(nn.Module):
    """All of it together. language: a `LanguageModel`; dimensions: of the text vectors.

    Source: GRAG, Eq. 10-11 (eq-10, eq-11)
    """

    def __init__(self, language, dimensions, settings=Settings()):
        super().__init__()
        self.language, self.settings, self.dimensions = language, settings, dimensions
        self.pruning = self.encoder = self.projector = self.constant = None
        if settings.graph_token == "constant":
            self.constant = nn.Parameter(torch.randn(language.dimensions))
        if settings.graph_token == "encoder":
            if settings.pruning != "none":
                self.pruning = SoftPruning(dimensions, settings.pruning, squash=settings.squash)
            options = (
                "hidden",
                "layers",
                "heads",
                "dropout",
                "edges_in_messages",
                "messages",
                "prune_at",
                "merge",
                "sees_question",
            )
            self.encoder = GraphEncoder(
                dimensions, **{name: getattr(settings, name) for name in options}
            )
            middle = 4 * settings.hidden
            self.projector = nn.Sequential(
                nn.Linear(settings.hidden, middle),
                nn.GELU(),
                nn.Linear(middle, language.dimensions),
            )

    @property
    def device(self):
        return self.language.embeddings.weight.device

    def own_state(self):
        """Everything but the frozen language model, whose weights lie elsewhere and never change."""
        changing = {name for name, parameter in self.named_parameters() if parameter.requires_grad}
        return {
            name: tensor.detach()
            for name, tensor in self.state_dict().items()
            if name in changing or not name.startswith("language.")
        }

    def factors(self, batch):
        """(alpha_n, alpha_e), or None without pruning."""
        return self.pruning(batch) if self.pruning is not None else None

    def direction(self, batch):
        """The graph token before it gets its length: unit vectors (B, d_LM), or None where there is
        no token.
        """
        if self.constant is not None:
            return F.normalize(self.constant, dim=0).expand(len(batch.asked), -1)
        if self.encoder is None:
            return None
        return F.normalize(self.projector(self.encoder(batch, self.factors(batch))), dim=1)

    def token(self, batch):
        """h_G, (B, d_LM). It takes the length of an average word embedding, an addition to the
        paper that spares a small model a search.

        Source: GRAG, Eq. 10 (eq-10)
        """
        direction = self.direction(batch)
        return None if direction is None else direction * self.language.word_length()

    def loss(self, examples, batch):
        """Mean cross-entropy of the answers' tokens.

        Source: GRAG, Eq. 11 (eq-11)
        """
        prompts = [self.language.prompt_ids(example) for example in examples]
        answers = [self.language.answer_ids(example.answer) for example in examples]
        return self.language.loss(prompts, answers, self.token(batch.to(self.device)))

    def alignment_loss(self, examples, batch, answers, vectors):
        """Cross-entropy of picking the answer whose unit embedding (rows of `vectors`) is nearest
        to the token: no language model runs.

        This warm-up is an addition of this kit; the paper trains through the language model only.
        """
        due = torch.tensor([answers[example.answer] for example in examples], device=self.device)
        return F.cross_entropy(SHARPNESS * self.direction(batch.to(self.device)) @ vectors.T, due)

    @torch.no_grad()
    def write(self, examples, batch):
        """Greedy answers, one string an example."""
        return self.language.write(
            [self.language.prompt_ids(example) for example in examples],
            self.token(batch.to(self.device)),
        )


SHARPNESS = 16.0  # of the warm-up's softmax over cosines
