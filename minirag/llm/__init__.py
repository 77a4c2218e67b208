"""Language models behind one call: offline rules, recordings, OpenAI-compatible servers, local
Hugging Face models. `load_llm` goes from a name to a model.
"""

from ..core.errors import MiniragError
from .base import LLM, Capped, Completion
from .ledger import Counts, Ledger
from .offline import DryRun, OfflineRules
from .replay import Recorder, Replay

__all__ = ["LLM", "Completion", "Counts", "Ledger", "load_llm"]

FORMS = "'offline', 'replay:FILE', 'openai:MODEL', 'ollama:MODEL' or 'hf:MODEL_OR_PATH' ('openai:MODEL' with base_url=... for any compatible server)"


def load_llm(
    spec,
    *,
    record=None,
    max_calls=None,
    dry_run=False,
    base_url=None,
    timeout=60,
    attempts=5,
    **options,
):
    """The language model that `spec` names; an LLM object is taken as it is.

    record: a file to which every answer is appended, and from which a later run takes it.
    max_calls: a model stops with an error before one call more. dry_run: count calls and tokens and
    ask nobody; with `record`, what is recorded already costs nothing. base_url, timeout (seconds of
    silence), attempts (tries per call) and options (such as temperature) go to the server. Keys
    come from OPENAI_API_KEY or MINIRAG_API_KEY, addresses also from MINIRAG_BASE_URL or
    OPENAI_BASE_URL.
    """
    if dry_run:
        return _dry_run(spec, record)
    llm = spec if isinstance(spec, LLM) else _named(spec, base_url, timeout, attempts, options)
    if max_calls is not None and llm.is_model and not isinstance(llm, Replay):
        llm = Capped(llm, max_calls, record)
    return Recorder(llm, record) if record else llm


def _named(spec, base_url, timeout, attempts, options):
    kind, _, name = str(spec).partition(":")
    if spec == "offline":
        return OfflineRules()
    if kind == "replay" and name:
        return Replay(name)
    if kind in ("openai", "ollama") and name:
        from .openai_compatible import OpenAICompatible

        return OpenAICompatible(
            kind, name, base_url=base_url, timeout=timeout, attempts=attempts, **options
        )
    if kind == "hf" and name:
        from .hf import HuggingFace

        return HuggingFace(name, **options)
    raise MiniragError(f"unknown language model {spec!r}. Give {FORMS}.")


def _dry_run(spec, record):
    if isinstance(spec, LLM):
        return DryRun(spec.name, record)
    kind, _, name = str(spec).partition(":")
    if spec != "offline" and not (kind in ("replay", "openai", "ollama", "hf") and name):
        raise MiniragError(f"unknown language model {spec!r}. Give {FORMS}.")
    return DryRun(spec, name if kind == "replay" else record)
