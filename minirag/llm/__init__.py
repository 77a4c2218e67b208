"""Language models behind one call: offline rules, recordings, OpenAI-compatible servers and
batches, local Hugging Face models. `load_llm` goes from a name to a model.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.errors import MiniragError
from .base import LLM, Capped, Completion, Waiting
from .batch import Batch
from .batch_files import BatchFolder
from .ledger import Counts, Ledger
from .offline import DryRun, OfflineRules
from .recorded import Recorded
from .replay import Recorder, Replay

SHIPPED: dict[str, Callable[[], LLM]] = {"offline": OfflineRules, "recorded": Recorded}
KINDS = ("replay", "batch", "openai", "ollama", "hf")
FORMS = (
    "'offline', 'recorded', 'replay:FILE', 'openai:MODEL', 'ollama:MODEL', 'batch:FOLDER' or "
    "'hf:MODEL_OR_PATH' ('openai:MODEL' with base_url=... for any compatible server)"
)


def load_llm(
    spec: str | LLM,
    *,
    record: str | Path | None = None,
    max_calls: int | None = None,
    dry_run: bool = False,
    base_url: str | None = None,
    timeout: float = 60,
    attempts: int = 5,
    model: str | None = None,
    submit: bool = False,
    **options: Any,
) -> LLM:
    """The language model that `spec` names; an LLM object is taken as it is.

    record: a file to which every answer is appended, and from which a later run takes it.
    max_calls: a model stops with an error before one call more. dry_run: count calls and tokens and
    ask nobody; with `record`, what is recorded already costs nothing. base_url, timeout (seconds of
    silence), attempts (tries per call) and options (such as temperature) go to the server. Keys
    come from OPENAI_API_KEY or MINIRAG_API_KEY, addresses also from MINIRAG_BASE_URL or
    OPENAI_BASE_URL.

    'recorded' takes the kit's recordings of a large language model where they hold the prompt, and
    the offline rules elsewhere; an answer says which.

    'batch:FOLDER' writes all prompts of a round to FOLDER/requests-NNN.jsonl in the OpenAI Batch
    format and stops with `Waiting`. Have a service answer them (`vllm run-batch`, OpenAI's web
    page), put its output there as responses-NNN.jsonl, and run the same again; methods that ask
    more than once need as many rounds. submit: send the files, wait, and go on until all is
    answered. model: who is asked; by default the model that FOLDER asks already. Loops of your own
    go through `llm.each`, so that all their prompts are in one batch.
    """
    kind, _, name = spec.partition(":") if isinstance(spec, str) else ("", "", "")
    if (
        not isinstance(spec, LLM)
        and spec not in ("offline", "recorded")
        and not (kind in KINDS and name)
    ):
        raise MiniragError(f"unknown language model {spec!r}. Give {FORMS}.")
    if (model or submit) and kind != "batch":
        raise MiniragError(f"{spec!r}: model= and submit= belong to llm='batch:FOLDER'.")
    if dry_run:
        return _dry_run(spec, kind, name, record)
    llm: LLM
    server: dict[str, Any]
    if isinstance(spec, LLM):
        llm = spec
    elif spec in SHIPPED:
        llm = SHIPPED[spec]()
    elif kind == "replay":
        llm = Replay(name)
    elif kind == "hf":
        from .hf import HuggingFace

        llm = HuggingFace(name, **options)
    elif kind == "batch":
        server = {"base_url": base_url, "timeout": timeout, "attempts": attempts}
        llm = Batch(name, model, submit=submit, max_calls=max_calls, **server, **options)
    else:
        from .openai_compatible import OpenAICompatible

        server = {"base_url": base_url, "timeout": timeout, "attempts": attempts}
        llm = OpenAICompatible(kind, name, **server, **options)
    if (
        max_calls is not None
        and llm.is_model
        and not isinstance(llm, (Replay, Recorded))
        and kind != "batch"
    ):
        llm = Capped(llm, max_calls, record)
    return Recorder(llm, record) if record else llm


def _dry_run(spec: str | LLM, kind: str, name: str, record: str | Path | None) -> DryRun:
    dry = DryRun(spec.name if isinstance(spec, LLM) else spec, name if kind == "replay" else record)
    if kind == "batch":  # which asks no prompt twice
        stored = BatchFolder(name).answers
        dry.answers |= {key: {"reply": answer.text} for key, answer in stored.items()}
        dry.records = True
    return dry
