"""From what somebody typed after --llm and --encoder to a language model and an encoder's name, or
to a sentence on what was meant.
"""

import difflib
import hashlib
import os
import tempfile
from pathlib import Path

from ..core.errors import MiniragError
from ..core.files import cache_folder
from .app import did_you_mean, note

KINDS = ("replay", "openai", "ollama", "hf")
FORMS = "offline, replay:FILE, openai:MODEL, ollama:MODEL or hf:MODEL_OR_PATH (openai:MODEL with --base-url for any compatible server)"
FAMILIES = {"gpt": "openai", "chatgpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai"}
FAMILIES |= dict.fromkeys(
    ("llama", "mistral", "mixtral", "qwen", "gemma", "phi", "deepseek"), "ollama"
)


def open_llm(spec, record=None, **options):
    """`minirag.llm.load_llm`, with its options; says what may have been meant by what is no model.

    A live model's answers are always kept: in `record`, else in `answers_file`.
    """
    from ..llm import load_llm

    kind, _, name = spec.partition(":")
    if spec != "offline" and not (kind in KINDS and name):
        meant = _meant(spec, kind, name)
        raise MiniragError(
            f"there is no language model {spec!r}.{f' Did you mean {meant!r}?' if meant else ''} --llm takes {FORMS}."
        )
    record = record or (answers_file(spec, options.get("base_url")) if kind in KINDS[1:] else None)
    return load_llm(spec, record=record, **options)


def answers_file(spec, base_url=None):
    """Where the cache folder keeps this model's answers, so that no prompt is paid twice.

    None, and a note, where it cannot be written.
    """
    folder = cache_folder() / "answers"
    if not can_write(folder):
        note(
            f"{folder} cannot be written, so the model's answers will not be kept. "
            "Give --record FILE, or set MINIRAG_CACHE to a folder of your own."
        )
        return None
    where = [os.environ.get(name) for name in ("MINIRAG_BASE_URL", "OPENAI_BASE_URL")]
    key = hashlib.sha256(repr([spec, base_url, *where]).encode()).hexdigest()
    return folder / f"{key[:16]}.jsonl"


def kept_line(model):
    """In a list, where the answers of a live model are kept; an empty list for any other."""
    from ..llm.replay import Recorder

    said = f"Answers kept in {getattr(model, 'path', '')}: the same prompt is not asked again."
    return [said] if isinstance(model, Recorder) else []


def can_write(folder):
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _meant(spec, kind, name):
    """The nearest spec that could be one: a kind corrected, or the kind that a bare name lacks."""
    if name and kind not in KINDS:
        near = difflib.get_close_matches(kind.lower(), KINDS, n=1, cutoff=0.5)
        if near:
            return f"{near[0]}:{name}"
    if spec.endswith(".jsonl") or Path(spec).is_file():
        return f"replay:{spec}"
    family = next(
        (kind for start, kind in FAMILIES.items() if spec.lower().startswith(start)), None
    )
    if family:
        return f"{family}:{spec}"
    if "/" in spec:
        return f"hf:{spec}"
    return next(iter(difflib.get_close_matches(spec, ["offline"], n=1, cutoff=0.5)), None)


def encoder_named(spec):
    """`spec` if an encoder has this name, else an error with the nearest names and all of them."""
    from ..encoders.presets import PRESETS, TOKEN_PRESETS

    known = ["minilm", "lsa", *PRESETS, *TOKEN_PRESETS]
    if spec in known or (spec.startswith("hf:") and spec != "hf:"):
        return spec
    hint = f" Did you mean 'hf:{spec}'?" if "/" in spec else did_you_mean(spec, known)
    raise MiniragError(
        f"there is no encoder {spec!r}.{hint} --encoder takes {', '.join(known)}, or hf:MODEL_OR_PATH."
    )


def check_needs(names, llm):
    """Raise where a method needs a model's knowledge and there are only rules."""
    from ..methods import METHODS

    needy = [name for name in names if METHODS[name].needs_model]
    if needy and llm == "offline":
        free = ", ".join(name for name, method in METHODS.items() if not method.needs_model)
        said = f"the method {needy[0]!r} needs a model: no offline rule can write what it asks for."
        raise MiniragError(
            f"{said} Give --llm openai:MODEL, ollama:MODEL, hf:MODEL or replay:FILE, or take a method that needs none: {free}."
        )
