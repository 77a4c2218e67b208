"""q14 on a graph in which every thing has one name, merged by hand, with zeros and ones in the
place of Wang's counts: what test_chapter_04 measures besides the chapter's own question.
"""

from types import SimpleNamespace

import networkx as nx
import numpy as np

import minirag as mr
from minirag.algorithms.pagerank import personalized_pagerank
from minirag.graphs import normalise_phrase

# The name that is kept, then the others; \u6797\u6bd3\u73cd is a name in Chinese script.
VARIANTS = """\
University of Veldmark = Veldmark University = the university = new college = the Mark
Lanthorn's Disease = Lanthorn Disease = PTD = the keepers' trouble
Lanthorn's Disease = progressive temporal dysmetria
Quillon Instruments = Quillon = The company
Candlemas Medal = the award
folding hydrophone = the device
mail boat = mail boat from Port Sable
Ilse Marrow = Dr Ilse Marrow = young anatomist
Katarzyna Wąsik = Katarzyna Wasik
Lin Yuzhen = Yuzhen Lin = \u6797\u6bd3\u73cd
Eleni Stavrou = \u0395\u03bb\u03ad\u03bd\u03b7 \u03a3\u03c4\u03b1\u03cd\u03c1\u03bf\u03c5
Jonah Birtwhistle = Dr Jonah Birtwhistle
Matteo Brisling = Brisling = M. Brisling
Bishop Anselm Thorley = Bishop Thorley
Harriet Okonjo-Bell = Okonjo-Bell
Samuel Adeyemi-Frost = Adeyemi-Frost
Petra Vandersluis = Vandersluis
Anneke Dross = Dross"""


def build_graph(triples_of, kind=nx.Graph):
    """Passage id -> triples; an edge weighs as much as it has triples."""
    graph = kind()
    for passage_id, triples in triples_of.items():
        for subject, relation, obj in triples:
            ends = normalise_phrase(subject), normalise_phrase(obj)
            if not graph.has_edge(*ends):
                graph.add_edge(*ends, name=relation, weight=0)
            graph.edges[ends]["weight"] += 1
            for node in ends:
                graph.nodes[node].setdefault("passages", set()).add(passage_id)
    return graph


def merge(triples_of, kept_name):
    """Write the kept name for the others; a triple whose two ends are then the same is dropped."""
    merged = {}
    for passage_id, triples in triples_of.items():
        renamed = ((kept_name.get(s, s), r, kept_name.get(o, o)) for s, r, o in triples)
        merged[passage_id] = [mr.Triple(*triple) for triple in renamed if triple[0] != triple[2]]
    return merged


def walk(weights, n, restart=0.5, steps=50):
    follow, n_prime = weights / weights.sum(axis=0), n
    for _ in range(steps):
        n_prime = restart * n + (1 - restart) * follow @ n_prime
    return n_prime


def follow_q14():
    """Everything that the tests ask for, by name."""
    ran = SimpleNamespace(build_graph=build_graph, merge=merge, walk=walk)
    ran.corpus = mr.load_corpus("professors")
    ran.question = ran.corpus.question("q14")
    ran.model, ran.encoder = mr.load_llm("recorded"), mr.load_encoder("minilm")
    ran.bm25 = mr.BM25Retriever.build(ran.corpus, llm="recorded")
    ran.dense = mr.DenseRetriever.build(ran.corpus, llm="recorded")
    p17 = next(chunk for chunk in ran.corpus.chunks if chunk.id == "p17")
    ran.fields = {"title": p17.title, "text": p17.text}
    ran.entities = ran.model("passage_entities", **ran.fields)
    ran.by_model = ran.model("triples", entities=ran.entities, **ran.fields)

    ran.annotated = ran.corpus.extractions["annotations"]
    ran.as_annotated = build_graph(ran.annotated.triples)
    ran.kept_name = {}
    for line in VARIANTS.splitlines():
        first, *others = line.split(" = ")
        ran.kept_name.update(dict.fromkeys(others, first))
    ran.merged = merge(ran.annotated.triples, ran.kept_name)
    ran.graph = build_graph(ran.merged)
    ran.part = build_graph({key: ran.merged[key] for key in ran.question.gold})
    ran.labels = list(ran.graph)
    vectors = ran.encoder.encode(ran.labels)

    def link(name):
        cosines = vectors @ ran.encoder.encode([normalise_phrase(name)])[0]
        return int(cosines.round(6).argmax())

    ran.link, ran.medal, ran.disease = link, "candlemas medal", "lanthorn s disease"
    ran.query_nodes = [link(x) for x in ran.model("question_entities", question=ran.question.text)]
    ran.medal_node, ran.disease_node = ran.query_nodes
    ran.her = ran.labels.index("katarzyna wąsik")
    ran.W, half_at = nx.to_numpy_array(ran.graph), 0.5 * np.eye(len(ran.labels))
    ran.n_equal = half_at[ran.query_nodes].sum(axis=0)
    ran.from_medal = walk(ran.W, half_at[ran.medal_node])
    ran.from_disease = walk(ran.W, half_at[ran.disease_node])
    ran.weaker, ran.n_prime = (
        np.minimum(ran.from_medal, ran.from_disease),
        walk(ran.W, ran.n_equal),
    )
    counts = [len(ran.graph.nodes[ran.labels[node]]["passages"]) for node in ran.query_nodes]
    ran.n_specific = np.zeros(len(ran.labels))
    ran.n_specific[ran.query_nodes] = 1 / np.array(counts)
    ran.n_specific /= ran.n_specific.sum()
    read = [ran.graph.nodes[name]["passages"] for name in ran.labels]
    ran.P = np.array([[float(chunk.id in ids) for ids in read] for chunk in ran.corpus.chunks])
    ran.scores_equal = ran.P @ ran.n_prime
    ran.row_of = {chunk.id: row for row, chunk in enumerate(ran.corpus.chunks)}

    def lead(weights, damping=0.5):
        """The score of p15 minus the score of p02."""
        p = ran.P @ personalized_pagerank(weights, ran.n_equal, damping=damping)
        return p[ran.row_of["p15"]] - p[ran.row_of["p02"]]

    def last_gold(method, q):
        """The rank of the last gold passage; equal scores stand in BM25's order."""
        by_words = ran.bm25.retrieve(q.text, k=40).ids
        found = method.retrieve(q.text, k=40).passages
        found = sorted(found, key=lambda p: (-round(p.score, 9), by_words.index(p.id)))
        ids = [passage.id for passage in found]
        return max(ids.index(gold) for gold in q.gold) + 1

    def build(extraction, **changes):
        options = ran.options | changes
        return mr.HippoRAG.build(ran.corpus, llm="recorded", extraction=extraction, **options)

    ran.lead, ran.last_gold = lead, last_gold
    ran.path_finding = [q for q in ran.corpus.questions if q.kind == "path-finding"]
    ran.options = {"synonymy": "none", "passage_matrix": "incidence", "specificity": False}
    ran.ours = mr.Extraction("annotations, names merged", {}, ran.merged)
    ran.hippo = build(ran.ours)
    ran.found = ran.hippo.retrieve(ran.question.text, k=5)
    ran.specific = ran.hippo.with_options(specificity=True)
    ran.methods = {"BM25": ran.bm25, "dense": ran.dense, "HippoRAG": ran.hippo}
    ran.methods["no walk"] = ran.hippo.with_options(propagation="query-nodes")
    ran.methods["specificity"] = ran.specific
    ran.methods["names not merged"] = build("annotations")
    ran.methods["with synonymy edges"] = build("annotations", synonymy="add")
    ran.methods["model's triples"] = build(None)
    ran.methods["all as Wang"] = mr.HippoRAG.build(ran.corpus, llm="recorded")
    ran.last = {
        name: np.array([last_gold(method, q) for q in ran.corpus.questions])
        for name, method in ran.methods.items()
    }
    return ran
