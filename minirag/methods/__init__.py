"""Stage 4 of the unified framework: every method by name. `METHODS[name].build(corpus)` is the way in."""

from .base import Method
from .bm25 import BM25Retriever
from .dense import DenseRetriever
from .hipporag import HippoRAG
from .ircot import IRCoTHippoRAG

METHODS = {method.name: method for method in (BM25Retriever, DenseRetriever, HippoRAG, IRCoTHippoRAG)}

__all__ = ["METHODS", "BM25Retriever", "DenseRetriever", "HippoRAG", "IRCoTHippoRAG", "Method"]
