"""A causal language model behind one soft token: it reads [start; graph token; hard prompt;
question] and writes the answer.

Any causal model of Hugging Face will do. It stays frozen unless asked: `tuning="lora"` adds
low-rank updates to its attention, `tuning="full"` trains all of it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..core.errors import MiniragError
from ..core.files import quiet
from .batches import Example

TUNINGS = ("frozen", "lora", "full")
LORA_TARGETS = ("q_proj", "v_proj")
IGNORED = -100


class LowRank(nn.Module):
    """A frozen linear layer and a trained update of low rank beside it, scaled by alpha / rank. The
    settings are the paper's.

    Source: GRAG, App. A.1 (tab-2)
    """

    def __init__(
        self, linear: nn.Linear, rank: int = 8, alpha: float = 16, dropout: float = 0.05
    ) -> None:
        super().__init__()
        self.linear, self.scale, self.dropout = linear, alpha / rank, nn.Dropout(dropout)
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / linear.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, states: Tensor) -> Tensor:
        update = F.linear(F.linear(self.dropout(states), self.down), self.up)
        return self.linear(states) + self.scale * update


def add_low_rank(model: nn.Module) -> None:
    """Put a `LowRank` in the place of every query and value projection. Raises MiniragError for a
    model that has none under these names.
    """
    found = [
        (module, name)
        for module in model.modules()
        for name in LORA_TARGETS
        if isinstance(getattr(module, name, None), nn.Linear)
    ]
    if not found:
        raise MiniragError(
            f"tuning='lora' looks for linear layers called {' and '.join(LORA_TARGETS)};"
            f" {type(model).__name__} has none. Use tuning='full'."
        )
    for module, name in found:
        setattr(module, name, LowRank(getattr(module, name)))


class LanguageModel(nn.Module):
    """Tokenizer and causal model. max_text: tokens of the hard prompt that are read, the official
    code's 512; max_answer: tokens written.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        tuning: str = "frozen",
        max_text: int = 512,
        max_answer: int = 12,
    ) -> None:
        super().__init__()
        if tuning not in TUNINGS:
            raise MiniragError(f"tuning is one of {', '.join(TUNINGS)}; got {tuning!r}.")
        self.model, self.tokenizer, self.tuning = model, tokenizer, tuning
        self.max_text, self.max_answer = max_text, max_answer
        self.model.requires_grad_(tuning == "full")
        if tuning == "lora":
            add_low_rank(self.model)
        start, self.end = tokenizer.bos_token_id, tokenizer.eos_token_id
        self.start = self.end if start is None else start
        if self.start is None:
            raise MiniragError(
                "This model's tokenizer has neither a start nor an end token; a graph-prompted"
                " model needs one in front of the graph token."
            )
        self._read: dict[str, list[int]] = {}

    @classmethod
    def load(cls, name: str | Path, **options: Any) -> Self:
        """A model of the hub or a folder, such as "meta-llama/Llama-2-7b-hf" or one that `pretrain`
        wrote.
        """
        import transformers

        try:
            with quiet():
                tokenizer = transformers.AutoTokenizer.from_pretrained(str(name))
                model = transformers.AutoModelForCausalLM.from_pretrained(str(name))
        except (OSError, ValueError) as error:
            why = str(error).splitlines()[0][:200]
            raise MiniragError(
                f"No causal language model could be loaded from {str(name)!r} ({why})."
            ) from error
        return cls(model, tokenizer, **options)

    def train(self, mode: bool = True) -> Self:
        """A frozen model stays in evaluation mode, so that its own dropout never makes noise."""
        return super().train(mode and self.tuning != "frozen")

    @property
    def embeddings(self) -> Any:
        return self.model.get_input_embeddings()

    @property
    def dimensions(self) -> int:
        return self.embeddings.weight.shape[1]

    def ids(self, text: str) -> list[int]:
        """Token ids, without start and end; each text is tokenized once."""
        if text not in self._read:
            self._read[text] = self.tokenizer.encode(text, add_special_tokens=False)
        return self._read[text]

    def question_ids(self, question: str) -> list[int]:
        """The ids of the question, as the model reads it.

        Source: GRAG, Eq. 7 (eq-7)
        """
        return self.ids(f"{question} answer:")

    def text_ids(self, text: str) -> list[int]:
        """The ids of the hard prompt, cut after `max_text` tokens; none for no text.

        Source: GRAG, Eq. 8 (eq-8)
        """
        return self.ids(text)[: self.max_text] + self.ids("\n") if text else []

    def prompt_ids(self, example: Example) -> list[int]:
        """The ids behind the graph token: hard prompt and question.

        Source: GRAG, Eq. 7-8 (eq-7, eq-8)
        """
        return self.text_ids(example.text) + self.question_ids(example.question)

    def answer_ids(self, answer: str) -> list[int]:
        """The ids that are to be written: the answer, cut to `max_answer`, and the end token."""
        return self.ids(f" {answer}")[: self.max_answer - 1] + [self.end]

    def answer_vectors(self, answers: Sequence[str]) -> Tensor:
        """The mean word embedding of each answer, (n, dimensions), unscaled."""
        device = self.embeddings.weight.device
        ids = [torch.tensor(self.answer_ids(answer)[:-1], device=device) for answer in answers]
        return torch.stack([self.embeddings(row).mean(dim=0) for row in ids])

    def word_length(self) -> Tensor:
        """The mean Euclidean length of a word embedding, which a graph token takes."""
        return self.embeddings.weight.detach().norm(dim=1).mean()

    def read(
        self, prompts: Sequence[list[int]], answers: Sequence[list[int]], soft: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Embed `[start; soft token; prompt; answer]`, padded on the left, so that all answers end
        together.

        prompts, answers: lists of id lists. soft: (B, dimensions) or None. Returns inputs (B, L,
        d), mask (B, L), labels (B, L): ids of the answers, `IGNORED` elsewhere.

        Source: GRAG, Eq. 11 (eq-11)
        """
        device = self.embeddings.weight.device
        front = 1 if soft is None else 2
        width = front + max(len(prompt) + len(answer) for prompt, answer in zip(prompts, answers))
        ids, labels = (torch.full((len(prompts), width), fill) for fill in (self.end, IGNORED))
        mask = torch.zeros(len(prompts), width, dtype=torch.long)
        slots = []
        for row, (prompt, answer) in enumerate(zip(prompts, answers)):
            first = width - front - len(prompt) - len(answer)
            ids[row, first] = self.start
            ids[row, first + front :] = torch.tensor(prompt + answer)
            mask[row, first:] = 1
            if answer:
                labels[row, width - len(answer) :] = torch.tensor(answer)
            slots.append(first + 1)
        inputs = self.embeddings(ids.to(device))
        if soft is not None:
            inputs = inputs.clone()
            rows = torch.arange(len(prompts), device=device)
            inputs[rows, torch.tensor(slots, device=device)] = soft.to(inputs.dtype)
        return inputs, mask.to(device), labels.to(device)

    def loss(
        self, prompts: Sequence[list[int]], answers: Sequence[list[int]], soft: Tensor | None
    ) -> Tensor:
        """Mean cross-entropy of the answers' tokens, each given all before it."""
        inputs, mask, labels = self.read(prompts, answers, soft)
        states = self.states(inputs, mask)
        due = labels[:, 1:] != IGNORED  # logits only where an answer is due: a vocabulary is wide
        logits = self.model.get_output_embeddings()(states[:, :-1][due])
        return F.cross_entropy(logits.float(), labels[:, 1:][due])

    def states(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """The last hidden states (B, L, d); positions count from each row's first token, not from
        its padding.
        """
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
        found = self.model.base_model(
            inputs_embeds=inputs, attention_mask=mask, position_ids=positions, use_cache=False
        )
        return found.last_hidden_state

    @torch.no_grad()
    def write(self, prompts: Sequence[list[int]], soft: Tensor | None) -> list[str]:
        """Greedy answers, one string a prompt."""
        inputs, mask, _ = self.read(prompts, [[]] * len(prompts), soft)
        written = self.model.generate(
            inputs_embeds=inputs, attention_mask=mask, max_new_tokens=self.max_answer,
            do_sample=False, pad_token_id=self.end, eos_token_id=self.end,
        )  # fmt: skip
        texts = self.tokenizer.batch_decode(written, skip_special_tokens=True)
        return [text.strip() for text in texts]
