"""Stage 4 of the unified framework: every method by name. `METHODS[name].build(corpus)` is the way
in.
"""

from .base import Method
from .baselines import BM25Retriever, ColBERT, DenseRetriever, PropositionRetriever, VanillaRAG
from .cok import ChainOfKnowledge
from .dalk import DALK
from .fastgraphrag import FastGraphRAG
from .g_retriever import GRetriever
from .grag import GRAG
from .graphrag.global_search import GraphRAGGlobal
from .graphrag.local_search import GraphRAGLocal
from .graphrag.text_summaries import SemanticSearch, TextSummaries
from .graphrag.variants import CheapRAG, GraphRAGCC, GraphRAGER, VGraphRAG, VGraphRAGCC
from .hipporag import HippoRAG
from .hipporag_passages import HippoRAGPassages
from .hyde import HyDE
from .ircot import IRCoT, IRCoTHippoRAG
from .kgp import KGP
from .lightrag import LightRAGGlobal, LightRAGHybrid, LightRAGLocal
from .pathrag import PathRAG, PathRAGLight
from .raptor import RAPTOR, RAPTORK
from .tog import ToG
from .tog2 import ToG2
from .zeroshot import ChainOfThought, SelfConsistency, ZeroShot

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        *(ZeroShot, ChainOfThought, SelfConsistency),
        *(VanillaRAG, BM25Retriever, DenseRetriever, PropositionRetriever, ColBERT, HyDE),
        *(HippoRAG, HippoRAGPassages, IRCoT, IRCoTHippoRAG),
        *(GraphRAGLocal, GraphRAGGlobal, TextSummaries, SemanticSearch),
        *(GraphRAGER, GraphRAGCC, VGraphRAGCC, VGraphRAG, CheapRAG, FastGraphRAG),
        *(LightRAGLocal, LightRAGGlobal, LightRAGHybrid, PathRAG, PathRAGLight),
        *(RAPTOR, RAPTORK, GRAG, GRetriever),
        *(ToG, ToG2, KGP, DALK, ChainOfKnowledge),
    )
}
METHODS["direct"] = ZeroShot  # as Wang calls it
