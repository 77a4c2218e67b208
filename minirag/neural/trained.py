"""A trained model on disk: weights in safetensors, everything else as readable JSON, nothing that
runs when it is opened.

A bundle is a folder. `trained.json` says what was trained on what, by whom and how well;
`weights.safetensors` holds what training changed; `language/` holds the tiny language model, unless
a named one was used, whose name is all that is kept.
"""

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.encoder import Encoder
from ..core.errors import MiniragError
from ..core.files import write_atomic
from ..llm import Counts, Ledger
from . import ModelOptions

if TYPE_CHECKING:  # torch is heavy: what a bundle says of itself is read without it
    from ..algorithms.ego_graphs import TextualGraph
    from .batches import Example, GraphBatch
    from .model import GraphPrompt

TOLD, WEIGHTS, LANGUAGE = "trained.json", "weights.safetensors", "language"
NEEDED = (
    "method", "trained_on", "encoder", "dimensions", "settings", "tuning", "language", "questions",
    "measured", "files",
)  # fmt: skip


@dataclass
class Trained:
    """A model that writes, `told`, what is known of its training (see `save`), and what its answers
    cost.
    """

    model: "GraphPrompt" = field(repr=False)
    told: dict[str, Any]
    ledger: Ledger = field(default_factory=Ledger, repr=False)

    @property
    def name(self) -> str:
        """Who writes, in words that nobody can take for a large language model's name."""
        return describe(self.told)

    def batch(
        self, question: str, graphs: tuple["TextualGraph", ...], encoder: Encoder
    ) -> "GraphBatch":
        """A question and its graphs as arrays: every text of theirs and its vector.

        Source: GRAG, Eq. 5 (eq-5)
        """
        from .batches import Collator, Example, TextTable

        seen = [Example(question, "", graphs)]
        return Collator(TextTable.of(seen, encoder))(seen).to(self.model.device)

    def write(self, examples: Sequence["Example"], encoder: Encoder) -> list[str]:
        """The answers to `Example`s, one string each. encoder: the one that it was trained with."""
        from .batches import Collator, TextTable
        from .model import write_all

        if not examples:
            return []
        return write_all(self.model, Collator(TextTable.of(examples, encoder)), list(examples))

    def count(self, prompt: Sequence[int], answer: str) -> None:
        """Enter into the ledger what an answer cost: the start and the graph token, the tokens of
        the prompt, and those written.
        """
        written = len(self.model.language.ids(answer))
        self.ledger.add("answer", Counts(1, 2 + len(prompt), written))

    def signed(self, spent: Counts) -> str:
        """Who wrote an answer: this model."""
        return self.name


def describe(told: dict[str, Any]) -> str:
    """Method, language model and its size, and what it was trained on, in one line."""
    language, trained = told["language"], len(told["questions"]["train"])
    kind = "tiny language model" if language["tiny"] else f"language model {language['name']}"
    lessons = f"trained on {trained} questions of {told['trained_on']['name']}"
    return f"{told['method']}, {kind} ({in_words(language['weights'])} weights, {lessons})"


def in_words(count: int) -> str:
    """A number of weights as people say it: "0.3 M", "6.7 G"."""
    return f"{count / 1e9:.1f} G" if count >= 5e8 else f"{count / 1e6:.1f} M"


def save(
    folder: Path, model: "GraphPrompt", told: dict[str, Any], language: Path | None = None
) -> dict[str, Any]:
    """Write a bundle, `trained.json` last, so that a killed run leaves nothing that loads; returns
    all that it tells.

    told: method, trained_on, encoder, questions, measured and what else should be known. language:
    the folder of a tiny language model, which is copied in.
    """
    from safetensors.torch import save as to_bytes

    folder = Path(folder)
    (folder / TOLD).unlink(missing_ok=True)
    names = [WEIGHTS]
    if language is not None:
        shutil.rmtree(folder / LANGUAGE, ignore_errors=True)
        shutil.copytree(language, folder / LANGUAGE)
        names += [f"{LANGUAGE}/{path.name}" for path in sorted((folder / LANGUAGE).glob("*"))]
    own = model.own_state().items()
    tensors = {name: tensor.cpu().contiguous().clone() for name, tensor in own}
    write_atomic(folder / WEIGHTS, to_bytes(tensors))
    count = sum(parameter.numel() for parameter in model.language.model.parameters())
    told = {
        **told, "settings": asdict(model.options), "dimensions": model.dimensions,
        "tuning": model.language.tuning,
        "language": {
            "tiny": language is not None, "name": told.get("language") or "", "weights": count,
            "reads": model.language.max_text, "writes": model.language.max_answer,
        },
        "files": {name: _digest(folder / name) for name in names},
    }  # fmt: skip
    write_atomic(folder / TOLD, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    return told


def read(folder: Path) -> dict[str, Any]:
    """What a bundle tells of itself. Its weights are not read, and torch is not needed. Raises
    MiniragError where there is none, or a broken one.
    """
    path = Path(folder) / TOLD
    if not path.is_file():
        raise MiniragError(
            f"{folder} holds no trained model: {TOLD} is missing. `minirag train` writes one."
        )
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        missing = [name for name in NEEDED if name not in told]
        describe(told)
    except (ValueError, LookupError, TypeError) as error:
        raise MiniragError(
            f"{path} cannot be read ({type(error).__name__}: {error}). Train again."
        ) from error
    if missing:
        raise MiniragError(
            f"{path} does not say {', '.join(missing)}: it is no trained model of this kit, or an"
            " older one. Train again."
        )
    return told


def refuse_other(
    folder: Path, told: dict[str, Any], method: str, encoder: str, fingerprint: str, command: str
) -> None:
    """Raise where a bundle was trained for another method, encoder, or corpus, graph and options,
    whose hash is `fingerprint`. command: trains the right one.
    """
    about = told["trained_on"]
    if told["method"] != method:
        raise MiniragError(f"{folder} was trained for {told['method']!r}, not for {method!r}.")
    if told["encoder"] != encoder:
        raise MiniragError(
            f"{folder} was trained with the encoder {told['encoder']!r}; this index uses"
            f" {encoder!r}."
        )
    if about.get("fingerprint") != fingerprint:
        source = about.get("source", "unknown source")
        raise MiniragError(
            f"{folder} was trained on {about['name']} ({source}), which is not the corpus, graph"
            f" and options of this index. Train for this one: {command}"
        )


def load(folder: Path, device: str | None = None) -> Trained:
    """The `Trained` model of a bundle, on a GPU if there is one, or on `device`.

    Raises MiniragError for files that are missing or differ from what was saved.
    """
    folder, told = Path(folder), read(folder)
    for name, digest in told["files"].items():
        path, outside = folder / name, Path(name).is_absolute() or ".." in Path(name).parts
        if outside or not path.is_file() or _digest(path) != digest:
            raise MiniragError(
                f"{folder} is damaged: {name} is missing or not the file that was saved. Train"
                " again."
            )
    needed = {WEIGHTS}
    if told["language"]["tiny"]:
        needed.add(f"{LANGUAGE}/model.safetensors")
    if not needed <= set(told["files"]):
        raise MiniragError(
            f"{folder} holds no weights in safetensors, the only form that is read. Train again."
        )
    from .model import chosen_device

    return Trained(_model(folder, told).to(chosen_device(device)).eval(), told)


def _model(folder: Path, told: dict[str, Any]) -> "GraphPrompt":
    import torch
    from safetensors.torch import load_file

    from .language_model import LanguageModel
    from .model import GraphPrompt

    kept = told["language"]
    language = LanguageModel.load(
        folder / LANGUAGE if kept["tiny"] else kept["name"],
        tuning=told["tuning"], max_text=kept["reads"], max_answer=kept["writes"],
    )  # fmt: skip
    with torch.random.fork_rng():  # building a model draws numbers; who loads one should not notice
        model = GraphPrompt(language, told["dimensions"], ModelOptions(**told["settings"]))
    try:
        missing, unknown = model.load_state_dict(load_file(str(folder / WEIGHTS)), strict=False)
    except RuntimeError as error:
        why = str(error).splitlines()[-1].strip()
        raise MiniragError(
            f"{folder}: the weights do not fit the settings ({why}). Train again."
        ) from error
    if unknown or set(missing) & set(model.own_state()):
        names = ", ".join([*unknown, *missing][:3])
        raise MiniragError(
            f"{folder}: the weights are those of other settings ({names}). Train again."
        )
    return model


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
