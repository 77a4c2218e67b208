"""Index once, reuse: a built method kept in the cache folder under a key of everything it was built
from.
"""

import functools
import hashlib
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.corpus import Corpus, Extraction
from ..core.errors import MiniragError
from ..core.files import cache_folder
from ..corpora.shipped_and_folders import shipped
from ..index.vectors import AnyEncoder
from ..llm import LLM, load_llm
from . import METHODS, Method

# What no index depends on: it comes after the methods.
AFTERWARDS = ("cli", "data", "evaluate", "exercises", "viz", "widgets")


def open_method(
    name: str, corpus: Corpus, llm: LLM | str = "offline", encoder: AnyEncoder | str = "minilm",
    **options: object,  # of the method
) -> tuple[Method, str]:  # fmt: skip
    """The named method over a corpus: loaded if the same one was built before, else built and
    saved.

    Returns `(method, state)`; state is "reused", "kept" (built and saved) or "not kept". The key
    covers the corpus's text, the method, its options, the language model, the encoder and this
    package's own code, so that a changed file, choice or rule builds anew. A broken saved index is
    built again. Methods without `save` are always built; the vectors of their texts come from the
    embedding cache, `ColBERT`'s do not.
    """
    if name not in METHODS:
        raise MiniragError(f"No method {name!r}; there are: {', '.join(METHODS)}.")
    method: Any = METHODS[name]  # Any: not every method can be saved
    model = load_llm(llm)
    if not hasattr(method, "save"):
        return method.build(corpus, llm=model, encoder=encoder, **options), "not kept"
    folder = index_folder(name, corpus, model.name, str(encoder), options)
    if folder.is_dir():
        try:
            return method.load(folder, llm=model, encoder=encoder), "reused"
        except (MiniragError, OSError, ValueError, TypeError, LookupError):
            pass
    built = method.build(corpus, llm=model, encoder=encoder, **options)
    try:
        built.save(folder)
    except Exception as error:  # whatever it is, what was built may have been paid for
        why = getattr(error, "strerror", None) or error
        warnings.warn(
            f"The index could not be kept in {folder} ({why}); "
            "it is used now and built again next time.",
            stacklevel=2,
        )
        return built, "not kept"
    return built, "kept"


def index_folder(
    name: str, corpus: Corpus, llm_name: str, encoder_name: str, options: Mapping[str, object]
) -> Path:
    """The cache folder of an index, named by a hash of everything that decides what is built (who
    runs the calls does not).
    """
    texts = [[chunk.id, chunk.title, chunk.text] for chunk in corpus.chunks]
    named = corpus.extractions.get(str(options.get("extraction")))  # which may change under a name
    options = {**options, "extraction": named} if named else options
    decides = sorted((key, _content(value)) for key, value in options.items() if key != "executor")
    parts = [code_version(), name, llm_name, encoder_name, decides, texts]
    text = json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return cache_folder() / "indices" / f"{name}-{hashlib.sha256(text).hexdigest()[:24]}"


@functools.cache
def code_version(package: Path = Path(__file__).parents[1]) -> str:
    """A hash of the code that decides what is built, and of the shipped corpora and recordings.

    It is taken from the files themselves, so that nobody has to think of raising a number.
    """
    files = [(file, file.relative_to(package).parts[0]) for file in package.rglob("*.py")]
    code = [file for file, layer in files if layer not in AFTERWARDS]
    digest = hashlib.sha256()
    data = [*shipped("corpora").rglob("*.jsonl"), *shipped("recordings").rglob("*.jsonl")]
    for path in (*sorted(code), *sorted(data)):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _content(value: object) -> str:
    if not isinstance(value, Extraction):  # whose repr is only a summary
        return repr(value)
    parts = [value.source, sorted(value.entities.items()), sorted(value.triples.items())]
    return json.dumps(parts, ensure_ascii=False)
