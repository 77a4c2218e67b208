"""From what somebody typed to a corpus, a language model, an encoder and built methods, or to a
sentence on what was meant.
"""

import difflib
import hashlib
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..core.errors import MiniragError
from ..core.files import cache_folder
from .show import did_you_mean, note, one_of

if TYPE_CHECKING:
    from ..core.corpus import Corpus
    from ..llm import LLM
    from ..methods.base import Method

OWN_TEXTS = "A corpus of the kit, a dataset, or a folder or file of your own texts."
CORPUS = typer.Argument(metavar="CORPUS_OR_FOLDER", help=OWN_TEXTS)
K = typer.Option(5, "-k", min=1, help="How many passages.")
LIVE = "openai:MODEL, ollama:MODEL, hf:MODEL_OR_PATH or batch:FOLDER"
SPECS = f"offline, recorded, replay:FILE, {LIVE}"
BATCHES = "a batch's prompts go to files, and the command goes on when a service answered them"
LLM_SPEC = typer.Option("offline", help=f"{SPECS}; {BATCHES}.")
ENCODER = typer.Option("minilm", help="minilm, lsa (needs no weights) or hf:MODEL_OR_PATH.")
EXTRACTION = typer.Option(
    None,
    help="Triples that came with the corpus, by name (offline the default), or rules: "
    "the text is read anew, by the rules or the --llm.",
)
DRY_RUN = typer.Option(False, "--dry-run", help="Count calls and tokens, ask nobody.")
MAX_CALLS = typer.Option(None, min=0, help="Stop a model before one call more.")
KEPT = "Keep the model's answers in this file, to replay them; else the cache folder keeps them."
RECORD = typer.Option(None, help=KEPT)
BASE_URL = typer.Option(None, help="The address of an OpenAI-compatible server.")
MODEL = typer.Option(None, help="Whom batch:FOLDER asks; by default the model it asks already.")
SUBMIT = typer.Option(False, "--submit", help="Send the files of batch:FOLDER, wait, go on.")

STATES = {"reused": "reused from an earlier run", "kept": "built and kept for the next question"}
RULES = "rules"  # the extraction that is none: the text is read anew
SHIPPED = ("offline", "recorded")
KINDS = ("replay", "batch", "openai", "ollama", "hf")
FORMS = f"{SPECS} (openai:MODEL with --base-url for any compatible server)"
FAMILIES = dict.fromkeys("gpt chatgpt o1 o3 o4".split(), "openai")
FAMILIES |= dict.fromkeys("llama mistral mixtral qwen gemma phi deepseek".split(), "ollama")


@dataclass(frozen=True)
class Session:
    """A corpus, a language model and an encoder, as a command names them; opens methods over them.

    named_llm: the model as it was typed. extractions: method name -> the triples that it reads; the
    others read the text. about: lines on the corpus and who read the graph of it. gold: question ->
    ids of the passages that the corpus marks as needed. untrainable: why no method can be trained
    on the corpus, if one of them would have to be. A dry run's model only counts.
    """

    corpus: "Corpus"
    llm: "LLM"
    named_llm: str
    encoder: str
    extractions: dict[str, str]
    about: list[str]
    gold: dict[str, set[str]]
    untrainable: str
    base_url: str | None
    dry_run: bool

    def open(self, name: str, **options: Any) -> "tuple[Method, str]":
        """The built method and a sentence on where its index comes from. options: of its `build`.

        A cache folder that cannot be written costs time, nothing else.
        """
        from ..methods import METHODS
        from ..methods.store import open_method

        if name in self.extractions:
            options["extraction"] = self.extractions[name]
        if self.dry_run:
            return self._plan(name, options)
        options |= {"llm": self.llm, "encoder": self.encoder}
        unkept = "the index will not be kept. Set MINIRAG_CACHE to a folder of your own."
        if not can_write(cache_folder() / "indices", unkept):
            return METHODS[name].build(self.corpus, **options), "built, not kept"
        method, state = open_method(name, self.corpus, **options)
        if state == "not kept" and not hasattr(method, "save"):
            vectors = method.index_components and method.vectors_are_kept and self.encoder != "lsa"
            kept = ", with the vectors that are kept" if vectors else ""
            return method, f"built, which every run does anew{kept}"
        return method, STATES.get(state, "built, not kept")

    def _plan(self, name: str, options: dict[str, Any]) -> "tuple[Method, str]":
        """The method for a dry run: with the index that the real run would reuse, else built by the
        dry run's model and thrown away.

        Calls and tokens do not depend on the encoder, so the quickest one is taken.
        """
        from ..llm import load_llm
        from ..methods import METHODS
        from ..methods.store import index_folder

        method: Any = METHODS[name]
        counting = {"llm": self.llm, "encoder": "lsa"}
        # No key, no index, or a broken one: the real run builds.
        with suppress(MiniragError, OSError, ValueError, TypeError, KeyError, AttributeError):
            model = load_llm(self.named_llm, base_url=self.base_url).name
            folder = index_folder(name, self.corpus, model, self.encoder, options)
            return method.load(folder, **counting), STATES["reused"]
        return method.build(self.corpus, **counting, **options), "to be built"


def open_session(
    where: str,
    names: Sequence[str],
    llm: str,
    encoder: str,
    extraction: str | None = None,
    record: Path | None = None,
    base_url: str | None = None,
    dry_run: bool = False,
    tasks: Sequence[str] = (),
    **options: Any,
) -> Session:
    """Whatever a command needs to open the methods `names`, checked before anything is built.

    tasks: what else the command takes in the corpus's place. options: of `load_llm`.
    """
    from ..methods import METHODS

    encoder_named(encoder)
    needy = [name for name in names if METHODS[name].needs_model]
    if needy and llm == "offline" and not dry_run:
        free = ", ".join(name for name, method in METHODS.items() if not method.needs_model)
        raise MiniragError(
            f"the method {needy[0]!r} needs a model: no offline rule can write what it asks for. "
            "Give --llm openai:MODEL, ollama:MODEL, hf:MODEL or replay:FILE, or take a method "
            f"that needs none: {free}."
        )
    corpus = open_corpus(where, tasks)
    chosen = {name: extraction_for(name, corpus, extraction, llm) for name in names}
    extractions = {name: known for name, known in chosen.items() if known is not None}
    model = open_llm(llm, record=record, base_url=base_url, dry_run=dry_run, **options)
    gold: dict[str, set[str]] = {}
    for question in corpus.questions:
        gold.setdefault(question.text.strip(), set()).update(question.gold)
    about = [repr(corpus)]
    walking = [name for name in names if METHODS[name].graph_type != "none"]
    if walking:
        about.append(graph_source(corpus, extractions.get(walking[0]), llm, model))
    untrainable = ""
    if any(METHODS[name].needs_training for name in names):
        from ..evaluate.training import split_questions

        try:
            split_questions(corpus)
        except MiniragError as error:
            untrainable = str(error)
    return Session(
        corpus, model, llm, encoder, extractions, about, gold, untrainable, base_url, dry_run
    )


def graph_source(corpus: "Corpus", extraction: str | None, spec: str, llm: "LLM") -> str:
    """Who read the graph that the methods walk, and how to have it read by another."""
    sources = {name: known.source for name, known in corpus.extractions.items()}
    if extraction is not None:
        reader = "the offline rules" if spec in SHIPPED else llm.name
        return f"Graph: {sources[extraction]}; --extraction {RULES} lets {reader} read the text"
    also = [f"; also here: --extraction {name} ({source})" for name, source in sources.items()]
    return "".join([f"Graph: read by {llm.name}", *also[:1]])


def open_corpus(where: str, tasks: Sequence[str] = ()) -> "Corpus":
    """A shipped corpus, a published dataset, or the reader's own folder or file, in this order.

    tasks: other names that an error tells.
    """
    from ..corpora.datasets import DATASETS, load_dataset
    from ..corpora.shipped_and_folders import list_corpora, load_corpus, read_corpus, read_folder

    path, shipped = Path(where).expanduser(), list_corpora()
    published = [name for name, dataset in DATASETS.items() if dataset.file("openie")]
    if where in shipped or where in published:
        if path.exists():
            also = f"for the folder of that name write ./{where}"
            note(f"{where!r} names a corpus of the kit; {also}")
        return load_corpus(where) if where in shipped else load_dataset(where)
    if path.exists():
        return read_corpus(path) if (path / "passages.jsonl").is_file() else read_folder(path)
    files = list(path.parent.iterdir()) if path.parent.is_dir() else []
    beside = [file.name for file in files if not file.name.startswith(".")]
    named = [*shipped, *published, *tasks]
    near = difflib.get_close_matches(path.name, [*named, *beside], n=1, cutoff=0.6)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise MiniragError(
        f"there is no corpus, folder or file {where!r}.{hint} Give a folder of your own texts, or"
        f" one of: {', '.join(named)}."
    )


def extraction_for(name: str, corpus: "Corpus", extraction: str | None, llm: str) -> str | None:
    """The triples that a method reads; None where it has no graph, or where the text is read.

    extraction: a name; RULES lets `llm` read the text; None is the same for a language model, while
    offline the triples that came with the corpus are taken, since the rules read too little for the
    graph to lead anywhere.
    """
    from ..methods import METHODS

    if METHODS[name].graph_type == "none" or extraction == RULES:
        return None
    if extraction is None:
        return next(iter(corpus.extractions), None) if llm in SHIPPED else None
    if not corpus.extractions:
        raise MiniragError(
            f"{corpus.name!r} comes without triples: leave --extraction out, and its text is read."
        )
    return one_of(extraction, [*corpus.extractions, RULES], f"extraction of {corpus.name!r} called")


def open_llm(
    spec: str, *, record: Path | None = None, base_url: str | None = None, **options: Any
) -> "LLM":
    """`minirag.llm.load_llm`, with its options; says what may have been meant by what is no model.

    A live model's answers are kept in `record` or in `answers_file`, a batch's in its folder.
    """
    from ..llm import load_llm

    kind, _, name = spec.partition(":")
    if spec not in SHIPPED and not (kind in KINDS and name):
        meant = _meant(spec, kind, name)
        hint = f" Did you mean {meant!r}?" if meant else ""
        raise MiniragError(f"there is no language model {spec!r}.{hint} --llm takes {FORMS}.")
    if base_url and kind not in ("openai", "ollama", "batch"):
        note(f"--base-url is not used: it is the address of --llm openai:MODEL, not of {spec}.")
    if record is None and kind in KINDS[2:]:
        record = answers_file(spec, base_url)
    return load_llm(spec, record=record, base_url=base_url, **options)


def answers_file(spec: str, base_url: str | None = None) -> Path | None:
    """Where the cache folder keeps a model's answers; None, and a note, where it cannot."""
    folder = cache_folder() / "answers"
    unkept = "the model's answers will not be kept. Give --record FILE, or set MINIRAG_CACHE"
    if not can_write(folder, f"{unkept} to a folder of your own."):
        return None
    where = [os.environ.get(name) for name in ("MINIRAG_BASE_URL", "OPENAI_BASE_URL")]
    key = hashlib.sha256(repr([spec, base_url, *where]).encode()).hexdigest()
    return folder / f"{key[:16]}.jsonl"


def can_write(folder: Path, otherwise: str = "") -> bool:
    """Whether files can be written to a folder; otherwise: what a note says if they cannot."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        if otherwise:
            note(f"{folder} cannot be written, so {otherwise}")
        return False


def _meant(spec: str, kind: str, name: str) -> str | None:
    """The nearest spec that could be one: a kind corrected, or the kind that a bare name lacks."""
    if name and kind not in KINDS:
        near = difflib.get_close_matches(kind.lower(), KINDS, n=1, cutoff=0.5)
        if near:
            return f"{near[0]}:{name}"
    if spec.endswith(".jsonl") or Path(spec).is_file():
        return f"replay:{spec}"
    for start, family in FAMILIES.items():
        if spec.lower().startswith(start):
            return f"{family}:{spec}"
    if "/" in spec:
        return f"hf:{spec}"
    return next(iter(difflib.get_close_matches(spec, SHIPPED, n=1, cutoff=0.5)), None)


def encoder_named(spec: str) -> str:
    """`spec` if an encoder has this name, else an error with the nearest names and all of them."""
    from ..encoders.presets import PRESETS, TOKEN_PRESETS

    known = ["minilm", "lsa", *PRESETS, *TOKEN_PRESETS]
    if spec in known or (spec.startswith("hf:") and spec != "hf:"):
        return spec
    hint = f" Did you mean 'hf:{spec}'?" if "/" in spec else did_you_mean(spec, known)
    raise MiniragError(
        f"there is no encoder {spec!r}.{hint} --encoder takes {', '.join(known)}, or"
        " hf:MODEL_OR_PATH."
    )
