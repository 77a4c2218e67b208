"""Index once, reuse: a built method kept in the cache folder under a key of everything it was built from."""

import hashlib
import json
import warnings

from ..corpus import Extraction
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
    folder = index_folder(name, corpus, llm.name, str(encoder), options)
    if folder.is_dir():
        try:
            return method.load(folder, llm=llm, encoder=encoder), True
        except (MiniragError, OSError, ValueError, TypeError, LookupError):
            pass
    built = method.build(corpus, llm=llm, encoder=encoder, **options)
    try:
        built.save(folder)
    except OSError as error:
        warnings.warn(f"The index could not be kept in {folder} ({error.strerror}); it is used now and built again next time.", stacklevel=2)
    return built, False


def index_folder(name, corpus, llm_name, encoder_name, options):
    """The cache folder of an index, named by a hash of everything that decides what is built (who runs the calls does not)."""
    texts = [[chunk.id, chunk.title, chunk.text] for chunk in corpus.chunks]
    decides = sorted((key, _content(value)) for key, value in options.items() if key != "executor")
    parts = json.dumps([name, llm_name, encoder_name, decides, texts], ensure_ascii=False)
    return cache_folder() / "indices" / f"{name}-{hashlib.sha256(parts.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def _content(value):
    if isinstance(value, Extraction):  # its repr is only a summary
        return json.dumps([value.source, sorted(value.entities.items()), sorted(value.triples.items())], ensure_ascii=False)
    return repr(value)
