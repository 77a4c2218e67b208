"""minirag: graph-based RAG, one readable method at a time.

The data flows one way: corpus, graph, index, retrieval, answer. `import minirag` is light; what is heavy loads when it
is first used.
"""

import importlib

__version__ = "0.1.0"

_WHERE = {
    "corpus": ("Chunk", "Corpus", "Document", "Extraction", "Question", "Triple"),
    "shipped": ("list_corpora", "load_corpus"),
    "readers": ("read_folder",),
    "chunking": ("chunk_sentences", "chunk_structure", "chunk_tokens"),
    "segmentation": ("sentences",),
    "tokens": ("count_tokens",),
    "graph": ("Edge", "Graph", "Node"),
    "encoders": ("load_encoder",),
    "llm": ("load_llm",),
    "results": ("Answer", "Retrieval", "Step"),
    "methods": ("METHODS", "BM25Retriever", "DenseRetriever", "HippoRAG"),
    "fetching": ("fetch",),
    "datasets": ("load_dataset",),
    "evaluate": ("evaluate_retrieval", "reproduce"),
    "utils": ("MiniragError",),
}
_HOME = {name: module for module, names in _WHERE.items() for name in names}
__all__ = sorted(_HOME)


def __getattr__(name):
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers: {', '.join(__all__)}")


def __dir__():
    return sorted({*globals(), *__all__})
