"""minirag: graph-based RAG, one readable method at a time.

The data flows one way: corpus, graph, index, retrieval, answer. `import minirag` is light; what is
heavy loads when it is first used.
"""

import importlib

__version__ = "0.1.0"

_WHERE = {
    "core.communities": "Communities Community",
    "core.corpus": "Chunk Corpus Document Extraction Question Triple",
    "core.errors": "MiniragError",
    "core.graph": "Claim Edge Graph GraphQuestion GraphTask Node",
    "core.reports": "CommunityIndex Report ReportContext",
    "core.results": "Answer Passage Retrieval",
    "core.trace": "ChunkStep CommunityStep ContextStep EdgeStep EgoGraphStep EntityStep FactStep"
    " KeywordStep NodeStep PathStep ScoredCommunity ScoredEdge ScoredNode ScoredPath Step"
    " SteinerStep SubgraphStep Trace VectorStep WalkStep",
    "text.chunking": "chunk_sentences chunk_structure chunk_tokens sentences",
    "text.tokens": "count_tokens",
    "corpora.shipped_and_folders": "corpus_card list_corpora load_corpus read_corpus read_folder",
    "corpora.fetching": "fetch",
    "corpora.datasets": "load_dataset",
    "corpora.survey_sets": "read_dataset",
    "corpora.microsoft_index": "load_dulce read_microsoft write_microsoft",
    "corpora.expla_graphs": "load_expla_graphs",
    "corpora.detours": "detours",
    "encoders.text_encoders": "load_encoder",
    "encoders.token_encoders": "load_token_encoder",
    "llm": "load_llm",
    "methods": "METHODS Method ZeroShot ChainOfThought SelfConsistency VanillaRAG BM25Retriever"
    " DenseRetriever PropositionRetriever ColBERT HyDE HippoRAG HippoRAGPassages IRCoT"
    " IRCoTHippoRAG GraphRAGLocal GraphRAGGlobal TextSummaries SemanticSearch GraphRAGER GraphRAGCC"
    " VGraphRAGCC VGraphRAG CheapRAG LightRAGLocal LightRAGGlobal LightRAGHybrid FastGraphRAG"
    " PathRAG PathRAGLight GRAG GRetriever RAPTOR RAPTORK",
    "methods.compose": "compose",
    "methods.store": "open_method",
    "operators.pool": "OPERATORS",
    "evaluate.metrics": "evaluate_answers evaluate_retrieval",
    "reproduce.retrieval_tables": "reproduce_table",
}
_HOME = {name: module for module, names in _WHERE.items() for name in names.split()}
__all__ = sorted(_HOME)


def __getattr__(name):
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}; it offers: {', '.join(__all__)}"
    )


def __dir__():
    return sorted({*globals(), *__all__})
