"""Text to one vector for each token, for late interaction. `load_token_encoder("colbertv2")` is the
papers' model, "minilm" works offline.
"""

import functools
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, Self, TypeGuard, cast

import numpy as np

from ..algorithms.bm25 import tokenize
from ..algorithms.vectors import normalize
from ..core.encoder import Encoder, Kind, TokenEncoder
from ..core.errors import MiniragError
from ..core.files import model_folder, quiet, valid_text
from .embedding_cache import Float32
from .presets import TOKEN_PRESETS
from .text_encoders import LoadedEncoder, TransformerEncoder, load_encoder

BATCH = 32
# Lengths of the ColBERTv2 model: short questions are filled up, long passages cut.
QUERY_TOKENS, PASSAGE_TOKENS = 32, 300


class LoadedTokenEncoder(TokenEncoder, Protocol):
    """A token encoder that can learn from a corpus' texts."""

    def fit(self, texts: Sequence[str]) -> Self: ...


AnyEncoder = LoadedEncoder | LoadedTokenEncoder


def load_token_encoder(spec: Encoder | TokenEncoder | str = "minilm") -> LoadedTokenEncoder:
    """An object with `fit(texts)`, `tokens(text, kind)` -> list of str and `encode(texts, kind)` ->
    list of float32 (tokens, d), rows of length 1.

    "colbertv2": the model of ColBERTv2. "colbert:PATH": a folder with such a model. "minilm",
    "hf:..." or a preset's name: the last hidden states of a model that was trained to give one
    vector a text, not one a token. "lsa", or any object with `encode`: every word encoded alone,
    without its neighbours.
    """
    if has_tokens(spec):
        return spec
    if isinstance(spec, str) and (spec in TOKEN_PRESETS or spec.startswith("colbert:")):
        return ColBERTTokens(spec)
    encoder = load_encoder(cast("Encoder | str", spec))
    return HiddenStates(encoder) if isinstance(encoder, TransformerEncoder) else WordByWord(encoder)


def has_tokens(spec: object) -> TypeGuard[LoadedTokenEncoder]:
    """Whether it is an encoder with a vector for each token."""
    return callable(getattr(spec, "tokens", None))


def load_any_encoder(spec: Encoder | TokenEncoder | str = "minilm") -> AnyEncoder:
    """An encoder of either kind, for methods that link by one vector a text or by late interaction.

    "colbertv2", "colbert:PATH" and "tokens:NAME" (such as "tokens:minilm") name one with a vector
    a token, as does an object that has `tokens`; everything else is `load_encoder`'s.
    """
    prefixes = ("colbert:", "tokens:")
    if isinstance(spec, str) and (spec in TOKEN_PRESETS or spec.startswith(prefixes)):
        return load_token_encoder(spec.removeprefix("tokens:"))
    return spec if has_tokens(spec) else load_encoder(cast("Encoder | str", spec))


class WordByWord:
    """Every word as a text of its own: the same word has the same vector wherever it stands."""

    def __init__(self, encoder: LoadedEncoder) -> None:
        self.encoder, self.name = encoder, f"{encoder.name}, word by word"

    def fit(self, texts: Sequence[str]) -> Self:
        self.encoder.fit(texts)
        return self

    def tokens(self, text: str, kind: Kind = "passage") -> list[str]:
        return tokenize(text)

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> list[Float32]:
        texts_as_words = [self.tokens(text) for text in texts]
        known = sorted({word for words in texts_as_words for word in words})
        vectors = dict(zip(known, self.encoder.encode(known, kind=kind))) if known else {}
        return [
            np.stack([vectors[word] for word in words])
            if words
            else np.zeros((0, self.encoder.dimensions), dtype=np.float32)
            for words in texts_as_words
        ]


class HiddenStates:
    """The last hidden states of a sentence encoder, those of its special tokens ([CLS], [SEP]) left
    out. Such a model was not trained for this.
    """

    def __init__(self, encoder: TransformerEncoder) -> None:
        self.encoder, self.name = encoder, f"hidden states of {encoder.name}"

    def fit(self, texts: Sequence[str]) -> Self:
        return self

    def _split(self, text: str, kind: Kind) -> tuple[list[bool], list[str]]:
        """(which of the tokens of one text are words, these words)."""
        tokenizer = self.encoder.model.tokenizer
        read = tokenizer(
            self.encoder.prefix(kind) + valid_text(text),
            truncation=True,
            max_length=self.encoder.model.max_seq_length,
            return_special_tokens_mask=True,
        )
        real = [not special for special in read["special_tokens_mask"]]
        tokens = tokenizer.convert_ids_to_tokens(read["input_ids"])
        return real, [token for token, word in zip(tokens, real) if word]

    def tokens(self, text: str, kind: Kind = "passage") -> list[str]:
        return self._split(text, kind)[1]

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> list[Float32]:
        whole = [self.encoder.prefix(kind) + valid_text(text) for text in texts]
        options = {"output_value": "token_embeddings", "show_progress_bar": False}
        with quiet():
            found = self.encoder.model.encode(whole, batch_size=BATCH, **options) if whole else []
        vectors = []
        for text, rows in zip(texts, found):
            real, _ = self._split(text, kind)
            states = np.asarray(rows.cpu() if hasattr(rows, "cpu") else rows, dtype=np.float32)
            vectors.append(normalize(states[: len(real)][real]))
        return vectors


class ColBERTTokens:
    """ColBERTv2's own encoder: BERT and a linear layer to 128 dimensions.

    A question becomes [CLS] [unused0] its tokens [SEP], filled up to 32 with [MASK], which are not
    attended to but keep their vectors. A passage becomes [CLS] [unused1] its tokens [SEP], and the
    vectors of punctuation are dropped.
    """

    def __init__(self, spec: str) -> None:
        self.name = spec
        self._spec = TOKEN_PRESETS.get(spec) or spec.removeprefix("colbert:")

    def fit(self, texts: Sequence[str]) -> Self:
        return self

    @functools.cached_property
    def _parts(self) -> tuple[Any, Any, Any]:
        import torch
        from transformers import AutoTokenizer, BertModel

        folder = model_folder(self._spec)
        with quiet():
            head = _tensor(folder, "linear.weight")
            model = BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
            tokenizer = AutoTokenizer.from_pretrained(folder)
        return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu"), head

    def _ids(self, text: str, kind: Kind) -> tuple[list[int], list[int]]:
        """(ids of the tokens, whether each is attended to)."""
        tokenizer = self._parts[0]
        room = (QUERY_TOKENS if kind == "query" else PASSAGE_TOKENS) - 3
        marker = tokenizer.convert_tokens_to_ids("[unused0]" if kind == "query" else "[unused1]")
        ids = [
            tokenizer.cls_token_id,
            marker,
            *tokenizer(valid_text(text), add_special_tokens=False)["input_ids"][:room],
            tokenizer.sep_token_id,
        ]
        fill = QUERY_TOKENS - len(ids) if kind == "query" else 0
        return ids + [tokenizer.mask_token_id] * fill, [1] * len(ids) + [0] * fill

    def _kept(self, ids: list[int], kind: Kind) -> list[int]:
        """The positions of the tokens whose vectors are kept."""
        dropped: set[int] = set()
        if kind == "passage":
            tokenizer = self._parts[0]
            marks = tokenizer.convert_tokens_to_ids(list(string.punctuation))
            dropped = set(marks) - {tokenizer.unk_token_id}
        return [position for position, id in enumerate(ids) if id not in dropped]

    def tokens(self, text: str, kind: Kind = "passage") -> list[str]:
        ids, _ = self._ids(text, kind)
        words = self._parts[0].convert_ids_to_tokens(ids)
        return [words[position] for position in self._kept(ids, kind)]

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> list[Float32]:
        import torch

        _, model, head = self._parts
        found = []
        # One at a time: no padding, so that a text's vectors do not depend on its company.
        for text in texts:
            ids, attended = self._ids(text, kind)
            inputs = {"input_ids": ids, "attention_mask": attended}
            rows = {name: torch.tensor([row], device=model.device) for name, row in inputs.items()}
            with torch.inference_mode():
                states = model(**rows).last_hidden_state[0].cpu()
                vectors = (states @ head.T).numpy()[self._kept(ids, kind)]
            found.append(normalize(vectors.astype(np.float32)))
        return found


def _tensor(folder: Path, name: str) -> Any:
    """One tensor of a model's weights by its name."""
    import torch
    from safetensors import safe_open

    if (folder / "model.safetensors").is_file():
        with safe_open(folder / "model.safetensors", "pt") as file:
            if name in list(file.keys()):
                return file.get_tensor(name).float()
    elif (folder / "pytorch_model.bin").is_file():
        weights = torch.load(folder / "pytorch_model.bin", map_location="cpu", weights_only=True)
        if name in weights:
            return weights[name].float()
    raise MiniragError(
        f"The model in {folder.name} has no layer {name!r}: it is not a ColBERT model. "
        "Name one with 'colbert:PATH', or use 'minilm'."
    )
