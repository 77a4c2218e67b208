"""Naive RAG: the passages nearest to the question, and a model that answers from them. What every
graph has to beat.
"""

from .dense import DenseRetriever


class VanillaRAG(DenseRetriever):
    """Dense retrieval and an answer, under the name and in the row that the papers give it; `dense`
    is the same retrieval as a retriever's baseline.

    Source: Survey, Table 5 (tab-5); Wang, Table II (tab-2)
    """

    name = "vanilla"
    paper = "Survey, Table 5 (VanillaRAG); Wang, Table II (Vanilla RAG)"
