"""Index once, reuse: a built method kept in the cache folder under a key of everything it was built from."""

import hashlib
import json

from ..llm import load_llm
from ..utils import MiniragError, cache_folder
from . import METHODS


def open_method(name, corpus, llm="offline", encoder="minilm", **options):
    """The named method over a corpus: loaded if the same one was built before, else built and saved.

    Returns `(method, reused)`. The key covers the corpus's text, the method, its options, the language model and the encoder,
    so that a changed file or a changed choice builds anew. A broken saved index is built again. Methods without `save`
    are cheap to build and are always built; their vectors come from the embedding cache.
    """
    if name not in METHODS:
        raise MiniragError(f"No method {name!r}; there are: {', '.join(METHODS)}.")
    method, llm = METHODS[name], load_llm(llm)
    if not hasattr(method, "save"):
        return method.build(corpus, llm=llm, encoder=encoder, **options), False
    folder = cache_folder() / "indices" / index_key(name, corpus, llm.name, str(encoder), options)
    if folder.is_dir():
        try:
            return method.load(folder, llm=llm, encoder=encoder), True
        except (MiniragError, OSError, ValueError, TypeError):
            pass
    built = method.build(corpus, llm=llm, encoder=encoder, **options)
    built.save(folder)
    return built, False


def index_key(name, corpus, llm_name, encoder_name, options):
    """A hash of everything that decides what is built."""
    texts = [[chunk.id, chunk.title, chunk.text] for chunk in corpus.chunks]
    parts = [name, llm_name, encoder_name, sorted((k, repr(v)) for k, v in options.items()), texts]
    return f"{name}-{hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"

