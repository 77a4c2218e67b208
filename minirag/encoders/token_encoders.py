"""Text to one vector for each token, for late interaction. `load_token_encoder("colbertv2")` is the
papers' model, "minilm" works offline.
"""

import functools
import string

import numpy as np

from ..algorithms.bm25 import tokenize
from ..algorithms.vectors import normalize
from ..core.errors import MiniragError
from ..core.files import valid_text
from ..core.model_files import model_folder, quiet
from .presets import TOKEN_PRESETS
from .text_encoders import TransformerEncoder, load_encoder

BATCH = 32
QUERY_TOKENS, PASSAGE_TOKENS = (
    32,
    300,
)  # lengths of the ColBERTv2 model: short questions are filled up, long passages cut


def load_token_encoder(spec="minilm"):
    """An object with `fit(texts)`, `tokens(text, kind)` -> list of str and `encode(texts, kind)` ->
    list of float32 (tokens, d), rows of length 1.

    "colbertv2": the model of ColBERTv2. "colbert:PATH": a folder with such a model. "minilm",
    "hf:..." or a preset's name: the last hidden states of a model that was trained to give one
    vector a text, not one a token. "lsa", or any object with `encode`: every word encoded alone,
    without its neighbours.
    """
    if callable(getattr(spec, "tokens", None)):
        return spec
    if isinstance(spec, str) and (spec in TOKEN_PRESETS or spec.startswith("colbert:")):
        return ColBERTTokens(spec)
    encoder = load_encoder(spec)
    return HiddenStates(encoder) if isinstance(encoder, TransformerEncoder) else WordByWord(encoder)


def load_any_encoder(spec="minilm"):
    """An encoder of either kind, for methods that link by one vector a text or by late interaction.

    "colbertv2", "colbert:PATH" and "tokens:NAME" (such as "tokens:minilm") name one with a vector
    a token, as does an object that has `tokens`; everything else is `load_encoder`'s.
    """
    if isinstance(spec, str) and (
        spec in TOKEN_PRESETS or spec.startswith(("colbert:", "tokens:"))
    ):
        return load_token_encoder(spec.removeprefix("tokens:"))
    return spec if callable(getattr(spec, "tokens", None)) else load_encoder(spec)


class WordByWord:
    """Every word as a text of its own: the same word has the same vector wherever it stands."""

    def __init__(self, encoder):
        self.encoder, self.name = encoder, f"{encoder.name}, word by word"

    def fit(self, texts):
        self.encoder.fit(texts)
        return self

    def tokens(self, text, kind="passage"):
        return tokenize(text)

    def encode(self, texts, kind="passage"):
        words = [self.tokens(text) for text in texts]
        known = sorted({word for some in words for word in some})
        rows = dict(zip(known, self.encoder.encode(known, kind=kind))) if known else {}
        return [
            np.stack([rows[word] for word in some])
            if some
            else np.zeros((0, self.encoder.dimensions), dtype=np.float32)
            for some in words
        ]


class HiddenStates:
    """The last hidden states of a sentence encoder, those of its special tokens ([CLS], [SEP]) left
    out. Such a model was not trained for this.
    """

    def __init__(self, encoder):
        self.encoder, self.name = encoder, f"hidden states of {encoder.name}"

    def fit(self, texts):
        return self

    def _split(self, text, kind):
        """(ids, which of them are words, the words) of one text."""
        tokenizer = self.encoder.model.tokenizer
        read = tokenizer(
            self.encoder.prefix(kind) + valid_text(text),
            truncation=True,
            max_length=self.encoder.model.max_seq_length,
            return_special_tokens_mask=True,
        )
        real = [not special for special in read["special_tokens_mask"]]
        return real, [
            token
            for token, word in zip(tokenizer.convert_ids_to_tokens(read["input_ids"]), real)
            if word
        ]

    def tokens(self, text, kind="passage"):
        return self._split(text, kind)[1]

    def encode(self, texts, kind="passage"):
        texts = list(texts)
        with quiet():
            whole = [self.encoder.prefix(kind) + valid_text(text) for text in texts]
            found = (
                self.encoder.model.encode(
                    whole,
                    batch_size=BATCH,
                    output_value="token_embeddings",
                    show_progress_bar=False,
                )
                if texts
                else []
            )
        states = [
            np.asarray(rows.cpu() if hasattr(rows, "cpu") else rows, dtype=np.float32)
            for rows in found
        ]
        return [
            normalize(rows[: len(real)][real])
            for rows, (real, _) in zip(states, (self._split(text, kind) for text in texts))
        ]


class ColBERTTokens:
    """ColBERTv2's own encoder: BERT and a linear layer to 128 dimensions.

    A question becomes [CLS] [unused0] its tokens [SEP], filled up to 32 with [MASK], which are not
    attended to but keep their vectors. A passage becomes [CLS] [unused1] its tokens [SEP], and the
    vectors of punctuation are dropped.
    """

    def __init__(self, spec):
        self.name = spec
        self._spec = TOKEN_PRESETS.get(spec) or spec.removeprefix("colbert:")

    def fit(self, texts):
        return self

    @functools.cached_property
    def _parts(self):
        import torch
        from transformers import AutoTokenizer, BertModel

        folder = model_folder(self._spec)
        with quiet():
            head = _tensor(folder, "linear.weight")
            model, tokenizer = (
                BertModel.from_pretrained(folder, add_pooling_layer=False).eval(),
                AutoTokenizer.from_pretrained(folder),
            )
        return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu"), head

    def _ids(self, text, kind):
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

    def _kept(self, ids, kind):
        dropped = (
            set(self._parts[0].convert_tokens_to_ids(list(string.punctuation)))
            - {self._parts[0].unk_token_id}
            if kind == "passage"
            else set()
        )
        return [at for at, one in enumerate(ids) if one not in dropped]

    def tokens(self, text, kind="passage"):
        ids, _ = self._ids(text, kind)
        words = self._parts[0].convert_ids_to_tokens(ids)
        return [words[at] for at in self._kept(ids, kind)]

    def encode(self, texts, kind="passage"):
        import torch

        _, model, head = self._parts
        found = []
        for text in (
            texts
        ):  # one at a time: no padding, so that a text's vectors do not depend on its company
            ids, attended = self._ids(text, kind)
            with torch.inference_mode():
                inputs = {
                    "input_ids": torch.tensor([ids]),
                    "attention_mask": torch.tensor([attended]),
                }
                states = (
                    model(**{name: value.to(model.device) for name, value in inputs.items()})
                    .last_hidden_state[0]
                    .cpu()
                )
                found.append(
                    normalize((states @ head.T).numpy()[self._kept(ids, kind)].astype(np.float32))
                )
        return found


def _tensor(folder, name):
    """One tensor of a model's weights by its name."""
    import torch
    from safetensors import safe_open

    if (folder / "model.safetensors").is_file():
        with safe_open(folder / "model.safetensors", "pt") as file:
            if name in file.keys():
                return file.get_tensor(name).float()
    elif (folder / "pytorch_model.bin").is_file():
        weights = torch.load(folder / "pytorch_model.bin", map_location="cpu", weights_only=True)
        if name in weights:
            return weights[name].float()
    raise MiniragError(
        f"The model in {folder.name} has no layer {name!r}: it is not a ColBERT model. Name one with 'colbert:PATH', or use 'minilm'."
    )
