"""The encoders that the papers use, by name: where their weights are, and how token vectors become
the vector of a text.

A model used with another pooling or without its prefix still gives vectors, only worse ones, and
nothing warns. What is written here is what the model cards and the files beside the weights say;
where a model comes with such files, they are loaded, and compared with this table.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..core.encoder import Kind
from ..core.errors import MiniragError
from ..core.files import quiet

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BGE_INSTRUCTION = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True)
class Preset:
    """model: its id on the hub; pooling: "mean" over the tokens or "cls", the first one; head: the
    layer after pooling, "none", "linear" or "tanh"; query, passage: what is put in front of a text;
    tokens: how many a text may have. `encode` scales all vectors to length 1: it gives cosines.
    """

    model: str
    pooling: Literal["mean", "cls"] = "mean"
    head: Literal["none", "linear", "tanh"] = "none"
    query: str = ""
    passage: str = ""
    tokens: int = 512

    def prefix(self, kind: Kind) -> str:
        """What is put in front of a text."""
        return self.query if kind == "query" else self.passage


PRESETS = {
    # The authors of Contriever compare by dot product; HippoRAG, and this kit, by cosine.
    "contriever": Preset("facebook/contriever"),
    "mcontriever": Preset("facebook/mcontriever"),  # for many languages
    "gtr-t5-base": Preset("sentence-transformers/gtr-t5-base", head="linear"),
    "minilm-l12": Preset("sentence-transformers/all-MiniLM-L12-v2", tokens=128),
    "labse": Preset("sentence-transformers/LaBSE", pooling="cls", head="tanh", tokens=256),
    "e5-base": Preset("intfloat/e5-base", query="query: ", passage="passage: "),
    "e5-base-v2": Preset("intfloat/e5-base-v2", query="query: ", passage="passage: "),
    # No instruction; only its dense vectors are used here.
    "bge-m3": Preset("BAAI/bge-m3", pooling="cls", tokens=8192),
    "bge-large-en-v1.5": Preset("BAAI/bge-large-en-v1.5", pooling="cls", query=BGE_INSTRUCTION),
    "all-roberta-large-v1": Preset("sentence-transformers/all-roberta-large-v1", tokens=256),
}
TOKEN_PRESETS = {"colbertv2": "colbert-ir/colbertv2.0"}


def load_model(folder: Path, preset: Preset | None = None) -> "SentenceTransformer":
    """The sentence-transformers model in `folder`, pooled as the preset says, if there is one.

    A model that says itself how to pool is loaded as it is and must agree with the preset; for one
    that does not (Contriever), pooling is added.
    """
    with quiet():
        import torch
        from sentence_transformers import SentenceTransformer, models

        device = "cuda" if torch.cuda.is_available() else "cpu"
        with damage_told(folder):
            if preset and (folder / "modules.json").is_file():
                _check(folder, preset)
                preset = None
            if preset is None:
                return SentenceTransformer(str(folder), device=device)
            if preset.head != "none":
                raise MiniragError(
                    f"{preset.model} has a layer after pooling, and {folder} holds no "
                    "modules.json that says where. Fetch the model again."
                )
            words = models.Transformer(str(folder), max_seq_length=preset.tokens)
            settings = _settings(folder / "config.json")
            width = settings.get("hidden_size") or settings["d_model"]
            pooling = models.Pooling(width, pooling_mode=preset.pooling)
            return SentenceTransformer(modules=[words, pooling], device=device)


@contextmanager
def damage_told(folder: Path) -> Iterator[None]:
    """Whatever a damaged or foreign file makes the loader raise becomes a sentence on it."""
    try:
        yield
    except MiniragError:
        raise
    except Exception as error:
        raise MiniragError(
            f"The model files in {folder} cannot be loaded ({type(error).__name__}: {error}). "
            "Fetch or copy them again."
        ) from error


def _check(folder: Path, preset: Preset) -> None:
    """Raise if the files beside the weights pool or end otherwise than the preset says."""
    modules = {
        module["type"].rsplit(".", 1)[-1]: folder / module["path"] / "config.json"
        for module in _settings(folder / "modules.json")
    }
    pooling, head = "missing", "none"
    if "Pooling" in modules:
        settings = _settings(modules["Pooling"])
        flags = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}
        flagged = [name for flag, name in flags.items() if settings.get(flag)]
        pooling = settings.get("pooling_mode") or [*flagged, "other"][0]
    if "Dense" in modules:
        activation = _settings(modules["Dense"]).get("activation_function", "")
        head = "tanh" if activation.endswith("Tanh") else "linear"
    if (pooling, head) != (preset.pooling, preset.head):
        raise MiniragError(
            f"The files in {folder} say pooling {pooling!r} and head {head!r}; {preset.model} has "
            f"pooling {preset.pooling!r} and head {preset.head!r}. These are the files of another "
            "model, or a newer version: fetch it again, or load it as it is with "
            f"'hf:{preset.model}'."
        )


def _settings(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
