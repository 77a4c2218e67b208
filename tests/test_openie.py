"""HippoRAG's two ends: a passage is read in two steps, and a question's names are linked to
nodes.
"""

import json

import numpy as np
import pytest

from minirag.core.corpus import Triple
from minirag.core.graph import Edge, Graph, Node
from minirag.graphs.knowledge_graph import extract
from minirag.index.vectors import node_index
from minirag.operators.node import link

from .scripted import Scripted
from .small import TableEncoder, corpus_of


@pytest.mark.paper("Wang", "hippo-ner-openie")
def test_entities_are_asked_for_first_and_stand_in_the_request_for_triples():
    replies = {
        "passage_entities": json.dumps({"named_entities": ["Ada", "Oslo"]}),
        "triples": json.dumps({"triples": [["Ada", "lives in", "Oslo"]]}),
    }
    llm = Scripted(lambda task, fields: replies[task])
    extraction = extract(corpus_of(("p1", "Ada lives in Oslo.")), llm)
    assert [task for task, _, _ in llm.asked] == ["passage_entities", "triples"]
    request = llm.asked[1][1].split("Ada lives in Oslo.")[-1]
    assert '"Ada"' in request
    assert '"Oslo"' in request
    assert extraction.entities == {"p1": ("Ada", "Oslo")}
    assert extraction.triples == {"p1": (Triple("Ada", "lives in", "Oslo"),)}


@pytest.mark.paper("Wang", "hippo-linking")
def test_each_phrase_goes_to_the_one_node_of_the_greatest_cosine():
    names = {"ada": (1.0, 0.0, 0.0), "oslo": (0.0, 1.0, 0.0), "ada lee": (0.8, 0.6, 0.0)}
    asked = {"ms lee": (0.7, 0.7, 0.1), "norway": (0.0, 0.9, 0.1)}
    nodes = tuple(Node(name) for name in names)
    graph = Graph("knowledge", "a test", nodes, (Edge(0, 1),), corpus_of(("p", "x")).chunks)
    index = node_index(graph, TableEncoder(names | asked), text="name")
    first, nothing = link([["ms lee", "norway"], []], index)
    for linked, phrase in zip(first.nodes, asked, strict=True):
        cosines = [np.dot(v, asked[phrase]) / np.linalg.norm(asked[phrase]) for v in names.values()]
        assert linked.index == int(np.argmax(cosines))
        assert linked.score == pytest.approx(max(cosines), abs=1e-6)
    assert [linked.index for linked in first.nodes] == [2, 1]
    assert nothing.nodes == ()
