"""A tiny causal language model for laptops, taught the form of a task and nothing of its answers.

It reads the training questions and graph texts with answers drawn at RANDOM from the task's
answers, so no question tells it anything. In half of what it reads the soft token's place holds the
embedding of that random answer: this teaches it to read a word from that place, which a large model
would do out of its general experience. These *keyword documents* are an addition of this kit; the
paper has a pretrained Llama-2.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from filelock import FileLock
from torch import Tensor
from torch.nn import functional as F

from ..core.display import progress
from ..core.errors import MiniragError
from ..core.files import quiet
from .batches import Example
from .language_model import IGNORED, LanguageModel

START, END = "<s>", "</s>"
SHAPE = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
SIZES: dict[str, dict[str, Any]] = {
    "tiny": dict(zip(SHAPE, (96, 2, 4, 192))),
    "small": dict(zip(SHAPE, (160, 3, 4, 320))),
}
# of a word's length, on the words in the soft token's place: a graph token will never be exact
NOISE = 0.3


@dataclass(frozen=True)
class Pretraining:
    """size: a key of `SIZES`. with_text: share of steps that read the hard prompt too. keyword:
    share of documents with a word in the soft token's place.

    answer_weight: of the answers' own loss beside that of all tokens. Where few answers are to
    choose from, little is to be gained by reading the word, and a larger weight makes up for it.
    """

    size: str = "tiny"
    steps: int = 400
    batch: int = 64
    batch_with_text: int = 16
    learning_rate: float = 3e-3
    with_text: float = 0.4
    keyword: float = 0.5
    answer_weight: float = 1.0
    vocabulary: int = 2000
    seed: int = 0
    max_text: int = 512


def build_tokenizer(texts: Sequence[str], vocabulary: int = 2000) -> Any:
    """A byte-level BPE tokenizer learnt from these texts; it can spell any text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=[START, END], initial_alphabet=alphabet,
        show_progress=False,
    )  # fmt: skip
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=START, eos_token=END, pad_token=END
    )


def build_model(tokenizer: Any, size: str = "tiny", window: int = 1024) -> Any:
    """A random Llama of the given size. Raises MiniragError for an unknown size."""
    from transformers import LlamaConfig, LlamaForCausalLM

    if size not in SIZES:
        raise MiniragError(f"size is one of {', '.join(SIZES)}; got {size!r}.")
    config = LlamaConfig(
        vocab_size=len(tokenizer), max_position_embeddings=window, tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id, **SIZES[size],
    )  # fmt: skip
    with quiet():
        return LlamaForCausalLM(config)


def pretrain(
    examples: Sequence[Example], answers: Sequence[str], plan: Pretraining = Pretraining(),
    folder: Path | None = None, device: str = "cpu",
) -> LanguageModel:  # fmt: skip
    """A `LanguageModel` taught on the form of these examples, whose own answers are never looked
    at.

    answers: the words or phrases that may be asked for. folder: where to keep it, in the form that
    `LanguageModel.load` reads.
    """
    if not examples or not answers:
        raise MiniragError(
            "A language model is pretrained on questions and on the answers that may be asked for;"
            " one of the two is empty."
        )
    torch.manual_seed(plan.seed)
    draw = random.Random(f"pretraining {plan.seed}")
    texts = [f"{e.text}\n{e.question} answer: {draw.choice(answers)}" for e in examples]
    tokenizer = build_tokenizer(texts + [f" {answer}" for answer in answers], plan.vocabulary)
    model = build_model(tokenizer, plan.size)
    language = LanguageModel(model, tokenizer, tuning="full", max_text=plan.max_text).to(device)
    optimizer = torch.optim.AdamW(
        language.parameters(), lr=plan.learning_rate, betas=(0.9, 0.95), weight_decay=0.01,
        foreach=True,
    )  # fmt: skip
    rise = 0.1 if plan.steps != 10 else 0.2  # torch divides by zero where the rise is one step long
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, plan.learning_rate, total_steps=plan.steps, pct_start=rise
    )
    for _ in progress(range(plan.steps), description="teaching a tiny language model", unit="step"):
        loss = _loss(language, examples, answers, plan, draw)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(language.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    if folder is not None:
        with quiet():
            language.model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
    return language.eval()


def taught_once(
    folder: Path,
    examples: Callable[[], Sequence[Example]],
    answers: Sequence[str],
    plan: Pretraining = Pretraining(),
) -> Path:
    """`folder`, with the model that `pretrain` makes of `examples()`. The first process that wants
    it teaches it; others wait.

    Written beside and renamed, so that a killed process leaves nothing half.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            with TemporaryDirectory(dir=folder.parent) as beside:
                pretrain(examples(), answers, plan, Path(beside) / "model")
                (Path(beside) / "model").replace(folder)
    return folder


def _loss(
    language: LanguageModel, examples: Sequence[Example], answers: Sequence[str],
    plan: Pretraining, draw: random.Random,
) -> Tensor:  # fmt: skip
    """Next-token loss of one batch of documents, all with a word in the soft token's place or all
    without, plus the loss of the answers alone.
    """
    reads_text = draw.random() < plan.with_text
    size = plan.batch_with_text if reads_text else plan.batch
    chosen = [draw.choice(examples) for _ in range(size)]
    drawn = [draw.choice(answers) for _ in chosen]
    if reads_text:
        prompts = [language.prompt_ids(example) for example in chosen]
    else:
        prompts = [language.question_ids(example.question) for example in chosen]
    written = [language.answer_ids(answer) for answer in drawn]
    soft = _noisy(language, drawn) if draw.random() < plan.keyword else None
    inputs, mask, labels = language.read(prompts, written, soft)
    logits = language.model.get_output_embeddings()(language.states(inputs, mask))[:, :-1]
    due = labels[:, 1:] != IGNORED
    answer_loss = F.cross_entropy(logits[due], labels[:, 1:][due])
    everything = torch.full(inputs.shape[:2], IGNORED, device=inputs.device)
    for row, (prompt, answer) in enumerate(zip(prompts, written)):
        ids = torch.tensor(prompt + answer, device=inputs.device)
        everything[row, -len(ids) :] = ids
    due_ids = everything[:, 1:].flatten()
    document_loss = F.cross_entropy(logits.flatten(0, 1), due_ids, ignore_index=IGNORED)
    return document_loss + plan.answer_weight * answer_loss


def _noisy(language: LanguageModel, answers: Sequence[str]) -> Tensor:
    """The answers' embeddings at the length of a word, with noise."""
    length = language.word_length()
    exact = F.normalize(language.answer_vectors(answers), dim=1)
    noise = torch.randn_like(exact) * NOISE / exact.shape[1] ** 0.5
    return length * F.normalize(exact + noise, dim=1)
