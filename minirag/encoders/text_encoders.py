"""Text to vectors. `load_encoder("minilm")` is all-MiniLM-L6-v2, `load_encoder("lsa")` needs no
downloaded weights at all.
"""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from ..algorithms.vectors import normalize
from ..core.display import progress
from ..core.encoder import Encoder, Kind
from ..core.errors import MiniragError
from ..core.files import fingerprint_of, minilm_folder, model_folder, quiet, valid_text
from .embedding_cache import EmbeddingCache, Float32, Vectors, key_of
from .presets import PRESETS, TOKEN_PRESETS, Preset, load_model

TEXTS_AT_ONCE = 2048  # encoded between two writes to the cache: what an interrupted run loses
BATCH = 32
_load_model = functools.lru_cache(maxsize=2)(load_model)


class LoadedEncoder(Encoder, Protocol):
    """An encoder that can learn from a corpus' texts, and knows how long its vectors are."""

    @property
    def dimensions(self) -> int: ...

    def fit(self, texts: Sequence[str]) -> Self: ...


def load_encoder(spec: Encoder | str = "minilm") -> LoadedEncoder:
    """The encoder that `spec` names: "minilm", "lsa", a name in `minirag.encoders.presets` such as
    "contriever", or "hf:MODEL_OR_PATH" (any sentence-transformers model). An encoder object passes
    through.

    An encoder has `name`, `dimensions`, `fit(texts)` (which returns the encoder, and does nothing
    for a trained model) and `encode(texts, kind="passage")`, which returns float32 (n, d) with rows
    of length 1; kind is "passage" or "query". Nothing is loaded before the first text is encoded.
    Raises MiniragError for an unknown name.
    """
    if not isinstance(spec, str):
        if callable(getattr(spec, "encode", None)):
            return cast("LoadedEncoder", spec)
        raise MiniragError(
            "An encoder is named by a string or is an object with encode(texts, kind=...); "
            f"got {type(spec).__name__}."
        )
    if spec == "minilm":
        return TransformerEncoder("minilm", minilm_folder)
    if spec == "lsa":
        return LsaEncoder()
    if spec.startswith("hf:") and spec != "hf:":
        return TransformerEncoder(spec, functools.partial(model_folder, spec[3:]))
    if spec in PRESETS:
        return PresetEncoder(spec, PRESETS[spec])
    if spec in TOKEN_PRESETS:
        raise MiniragError(
            f"The encoder {spec!r} gives one vector a token, not one a text: "
            "use it with the methods 'colbert' and 'hipporag'."
        )
    known = f"'minilm', 'lsa', 'hf:MODEL_OR_PATH', {', '.join(map(repr, PRESETS))}"
    raise MiniragError(
        f"Unknown encoder {spec!r}. Known: {known}, or an object with encode(texts, kind=...)."
    )


class TransformerEncoder:
    """A sentence-transformers model behind the cache on disk. `find_folder()` returns the folder of
    its files when they are first needed.
    """

    def __init__(
        self, name: str, find_folder: Callable[[], Path], cache: EmbeddingCache | None = None
    ) -> None:
        self.name = name
        self._find_folder = find_folder
        self._cache = cache or EmbeddingCache()

    def __repr__(self) -> str:
        return f"Encoder {self.name}"

    @functools.cached_property
    def folder(self) -> Path:
        return self._find_folder()

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the files that decide a vector: weights, tokenizer, pooling. Two copies of a
        model share their cached vectors.
        """
        return fingerprint_of(self.folder)

    @property
    def model(self) -> Any:
        """The sentence-transformers model itself."""
        return _load_model(self.folder)

    def prefix(self, kind: Kind) -> str:
        """What the model wants to see in front of a question or a passage."""
        return ""

    @functools.cached_property
    def dimensions(self) -> int:
        return self.encode(["dimensions"]).shape[1]

    def fit(self, texts: Sequence[str]) -> Self:
        """Nothing to learn: the model is trained already."""
        return self

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> Float32:
        """float32 (n, d), rows of length 1. Each distinct text is encoded once, longest first, and
        remembered on disk.
        """
        texts = _checked(texts, kind)
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        texts = [self.prefix(kind) + text for text in texts]
        keys = [key_of(self.fingerprint, kind, text) for text in texts]
        vectors = self._cache.get(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts) if key not in vectors}
        if missing:
            vectors.update(self._encode_missing(missing))
        return np.stack([vectors[key] for key in keys])

    def _encode_missing(self, missing: dict[bytes, str]) -> Vectors:
        """{key: text} -> {key: vector}, written to the cache as it goes. Texts of like length share
        a batch, which wastes the least padding.
        """
        waiting = sorted(missing.items(), key=lambda item: (-len(item[1]), item[1]))
        model, vectors, fresh = self.model, Vectors(), Vectors()
        description = f"encoding with {self.name}"
        with progress(total=len(waiting), description=description, unit="text") as bar:
            for start in range(0, len(waiting), BATCH):
                batch = waiting[start : start + BATCH]
                fresh.update(zip((key for key, _ in batch), _vectors(model, [t for _, t in batch])))
                bar.update(len(batch))
                if len(fresh) >= TEXTS_AT_ONCE or start + BATCH >= len(waiting):
                    self._cache.put(fresh)
                    vectors.update(fresh)
                    fresh = {}
        return vectors


class PresetEncoder(TransformerEncoder):
    """A model of the papers, with the pooling and the prefixes that it was trained with (see
    `minirag.encoders.presets`).
    """

    def __init__(
        self,
        name: str,
        preset: Preset,
        find_folder: Callable[[], Path] | None = None,
        cache: EmbeddingCache | None = None,
    ) -> None:
        super().__init__(name, find_folder or functools.partial(model_folder, preset.model), cache)
        self.preset = preset

    @functools.cached_property
    def fingerprint(self) -> str:
        return f"{fingerprint_of(self.folder)} {self.preset.pooling}"

    @functools.cached_property
    def model(self) -> Any:
        return load_model(self.folder, self.preset)

    def prefix(self, kind: Kind) -> str:
        return self.preset.prefix(kind)


def _vectors(model: Any, texts: list[str]) -> Float32:
    # A question, or a model's triple, may hold half a character.
    whole = [valid_text(text) for text in texts]
    options = {"batch_size": len(whole), "show_progress_bar": False, "convert_to_numpy": True}
    with quiet():
        return normalize(model.encode(whole, **options).astype(np.float32))


class LsaEncoder:
    """Latent semantic analysis: TF-IDF of the corpus' words, reduced by a truncated singular value
    decomposition. Knows only the words it was fitted on.
    """

    name = "lsa"

    def __init__(self, dimensions: int = 300) -> None:
        self.wanted = dimensions
        self._steps: tuple[Any, NDArray[np.float64]] | None = None

    def __repr__(self) -> str:
        state = "not fitted" if self._steps is None else f"{self.dimensions} dimensions"
        return f"Encoder lsa ({state})"

    @property
    def dimensions(self) -> int:
        return self._fitted()[1].shape[1]

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn words and directions from the corpus' texts; returns self. Same texts, same
        vectors.
        """
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = _checked(texts, "passage")
        words = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b", dtype=np.float64)
        try:
            weights = words.fit_transform(texts)
        except ValueError as error:
            raise MiniragError(
                "The encoder 'lsa' learns from the corpus' own words, and these texts hold none."
            ) from error
        self._steps = words, _directions(weights, self.wanted)
        return self

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> Float32:
        """float32 (n, d), rows of length 1, or of zeros for a text without a known word."""
        texts = _checked(texts, kind)
        words, directions = self._fitted()
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return normalize((words.transform(texts) @ directions).astype(np.float32))

    def _fitted(self) -> tuple[Any, NDArray[np.float64]]:
        """The words' weights and the directions; an error before `fit`."""
        if self._steps is None:
            raise MiniragError(
                "The encoder 'lsa' learns from the corpus: call encoder.fit(texts) with the "
                "corpus' texts before encoding."
            )
        return self._steps


def _directions(weights: Any, most: int) -> NDArray[np.float64]:
    """The first right singular vectors of a sparse (texts, words) matrix, as columns (words, at
    most `most`), the strongest first, signs fixed.
    """
    from scipy.sparse.linalg import svds

    size = min(most, min(weights.shape) - 1)
    if size > 0:
        start = np.random.default_rng(0).random(min(weights.shape))
        _, strength, rows = svds(weights, k=size, v0=start)
    else:  # one text, or one word
        _, strength, rows = np.linalg.svd(weights.toarray(), full_matrices=False)
    rows = rows[np.argsort(-strength)][: np.count_nonzero(strength > 1e-9 * strength.max())]
    strongest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
    return (rows * np.sign(strongest)).T


def _checked(texts: Sequence[str], kind: str) -> list[str]:
    if isinstance(texts, str):
        raise MiniragError("encode takes a list of texts, not one string: put it in a list.")
    if kind not in ("passage", "query"):
        raise MiniragError(f"kind is 'passage' or 'query'; got {kind!r}.")
    for text in (texts := list(texts)):
        if not isinstance(text, str):
            raise MiniragError(f"encode takes strings; got {type(text).__name__}.")
    return texts
