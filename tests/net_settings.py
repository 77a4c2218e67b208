"""The settings that `net.py` records: which methods, built how, varied how, asked by whom."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import minirag as mr

GRAPHS = ("hipporag", "graphrag-local", "graphrag-global", "lightrag-local", "lightrag-global")
GRAPHS += ("lightrag-hybrid", "pathrag", "pathrag-lt", "grag", "g-retriever")
FOLLOWED = ("hipporag", "graphrag-local", "graphrag-global", "graphrag-ts", "graphrag-ss")
FOLLOWED += ("pathrag", "pathrag-lt", "grag", "g-retriever")
ASKING = ("bm25", *GRAPHS[:8], "graphrag-ts", "graphrag-ss")  # whose prompts or texts know a model
SMALLEST, LARGEST = "professors", "harbor_news"
PUBLISHED = "gpt-3.5-turbo-1106"  # the triples of MuSiQue
QUESTION = {"empty": "question"}

# What `with_options` changes on a built method.
VARIED = {
    "hipporag": (
        {"passage_matrix": "facts"},
        {"passage_matrix": "incidence"},
        {"specificity": False},
        {"reset": "entity"},
        {"synonymy": "none"},
        {"synonymy": "overwrite"},
        {"synonymy_threshold": 0.6, "max_neighbours": 5, "strict": False},
        {"restart_probability": 0.1},
        {"restart_read_as": "follow"},
        {"propagation": "query-nodes"},
        {"propagation": "neighbours"},
        {"propagation": "neighbours", "neighbour_hops": 2, "neighbour_share": "node"},
        {"no_entities": "uniform"},
        {"ensemble": True},
        {"ties": "descending"},
    ),
    "hipporag code": (
        {"specificity": False},
        {"ensemble": True},
        {"reset": "entity"},
        {"propagation": "neighbours"},
    ),
    "graphrag-local": (
        {"relation_order": "degree", "chunk_order": "entity"},
        {"chunk_order": "neighbours"},
        {"community_order": "hits", "level": 0},
        {"include_claims": True, "fill": "by entity"},
        {"every_passage": True, "section_order": "reports first"},
        {"window": 600, "node_k": 8},
        {"relation_k": 5, "outside_k": 2, "community_k": None},
    ),
    "graphrag-global": (
        {"level": 0},
        {"level": 1, "union": True},
        {"min_rating": 3.0},
        {"report_k": 3},
        {"report_k": 3, "roll_up": 1},
        {"scoring": "points", "resort": "rating"},
        {"window": 900, "resort": "occurrence"},
        {"window": 900, "whole_prompt": False},
        {"window": 600, "oversize": "leave out", "seed": None},
    ),
    "graphrag-ts": (
        {"window": 1000},
        {"window": 500, "oversize": "exceed", "scoring": "points"},
        {"window": 420, "oversize": "leave out", "seed": 3},
    ),
    "graphrag-ss": ({"window": 700}, {"window": 300, "whole_prompt": False}),
    "lightrag-hybrid": (
        {"chunk_order": "polling"},
        {"chunk_order": "citation"},
        {"mix": True},
        {"merge": "global first", "global_order": "degree"},
        {"local_order": "degree"},
        {"empty": "skip"},
        {"cutoff": 0.4, "entity_budget": 200},
        {"cut": "search", "top_k": 20},
        {"entity_text": "name", "relation_text": "keywords, names, description"},
    ),
    "lightrag-hybrid early": (QUESTION,),
    "lightrag-hybrid late": (QUESTION, {"mix": True}, {"chunk_order": "polling"}),
    "pathrag": (
        {"global_edges": 0},
        {"directed": False},
        {"sources": True},
        {"ranking": "random"},
        {"ranking": "hop-first"},
        {"prompt": "flat"},
        {"flow": "edges", "threshold": 0.3},
        {"nodes": 10},
        {"top_k": 5},
        {"alpha": 1.0},
        {"levels": "low", "search": "joined"},
        {"order": "random", "per_pair": 1},
        {"layout": "tables", "edge_text": "keywords"},
        {"question": "last", "path_budget": 300},
    ),
    "pathrag code": (QUESTION, {**QUESTION, "layout": "lines"}),
    "pathrag-lt": ({"sources": True},),
    "pathrag-lt code": (QUESTION,),
    "grag": ({"hops": 1, "direction": "out"}, {"text": "flat", "top": 3}, {"text": "none"}),
    "g-retriever": (
        {"k": 10, "k_e": 0},
        {"edge_cost": 0.1, "text": "description"},
        {"text": "none"},
    ),
}

# What decides how a method is built; the second half of a pair is the language model.
BUILT = {
    "bm25": [({"k1": 1.2, "b": 0.5, "epsilon": 0.0}, "rules")],
    "dense": [({"encoder": "lsa"}, "rules")],
    "colbert": [({"encoder": "lsa"}, "rules")],
    "hipporag": [
        ({"script": "ascii", "empty_names": "keep"}, "rules"),
        ({"encoder": "lsa"}, "rules"),
        ({"encoder": "tokens:minilm", "extraction": "annotations"}, "rules"),
    ],
    "graphrag-local": [({"covariates": True, "include_claims": True}, "rules")],
    "graphrag-global": [
        ({"limit": 300}, "rules"),
        ({"limit": 300, "substitution": "released"}, "rules"),
        ({"limit": 300, "follow": "code"}, "rules"),
        ({"method": "louvain"}, "rules"),
        ({"max_size": 4, "resolution": 2.0, "covariates": True}, "rules"),
    ],
    "cot-sc": [({"samples": 4, "denominator": "parsable"}, "scripted")],
    "hyde": [({"follow": "code"}, "scripted")],
    "ircot": [
        ({"retriever": "bm25", "max_steps": 4}, "scripted"),
        ({"retriever": "dense"}, "scripted"),
        ({"retriever": "lightrag-hybrid", "follow": "early"}, "scripted"),
    ],
    "ircot-hipporag": [({"follow": "code"}, "scripted"), ({"ensemble": True}, "scripted")],
}


@dataclass(frozen=True)
class Setting:
    """A method, who replies, what `build` gets and what `with_options` then changes."""

    method: str
    llm: str = "rules"
    build: Mapping[str, Any] = field(default_factory=dict)
    vary: Mapping[str, Any] = field(default_factory=dict)
    task: str | None = None

    def __str__(self):
        chosen = {**self.build, **self.vary, **({"task": self.task} if self.task else {})}
        parts = [f"{name}={value}" for name, value in chosen.items()]
        return " ".join([self.method, *(["scripted"] if self.llm == "scripted" else []), *parts])

    @property
    def plain(self):
        return self == Setting(self.method)


def of(name):
    """The settings that are recorded over a shipped corpus, "musique_train" or "dulce"."""
    kinds = {"musique_train": of_musique, "dulce": of_dulce, SMALLEST: of_smallest}
    return kinds[name]() if name in kinds else of_shipped(name == LARGEST)


def followed(method):
    """What `follow` may be for a method, besides its default."""
    if method.startswith("lightrag"):
        return ("early", "late")
    return ("code",) if method in FOLLOWED else ()


def varied(method, build):
    """A setting, and its variations by `with_options`."""
    label = " ".join(filter(None, (method, build.get("follow"))))
    yield Setting(method, build=build)
    for vary in VARIED.get(label, ()):
        yield Setting(method, build=build, vary=vary)


def of_shipped(large=False):
    """Methods with the replies of their kind, every `follow`, annotations, and named options.

    large: of what `with_options` varies, GraphRAG alone.
    """
    for method, kind in mr.METHODS.items():
        if kind.needs_model:
            if method != "ircot":  # its default retriever, ColBERT, takes seconds
                yield Setting(method, "scripted")
            continue
        for follow in ({}, *({"follow": one} for one in followed(method))):
            if large and not method.startswith("graphrag"):
                yield Setting(method, build=follow)
            else:
                yield from varied(method, follow)
        if method in ASKING:
            yield Setting(method, "scripted")
        if method in GRAPHS:
            yield Setting(method, build={"extraction": "annotations"})
    by_hand = {"extraction": "annotations", "reports": "annotations"}
    yield Setting("graphrag-global", build=by_hand)
    yield Setting("hipporag", build={"over": "lightrag-hybrid"})
    yield Setting("hipporag", build={"over": "lightrag-hybrid", "node_text": "description"})
    yield Setting("graphrag-global", "scripted", {"follow": "code"})
    if not large:
        yield Setting("lightrag-hybrid", "scripted", {"follow": "late"})
        yield Setting("pathrag", "scripted", {"follow": "code"})


def of_smallest():
    """`of_shipped`, and what decides a build, readers, and methods without the model they need."""
    yield from of_shipped()
    yield Setting("ircot", "scripted")
    for method in mr.METHODS:
        if mr.METHODS[method].needs_model:
            yield Setting(method)
        for build, llm in BUILT.get(method, ()):
            yield Setting(method, llm, build)
    for task in ("answer_open", "full_answer", "reduce_answer"):
        yield Setting("bm25", task=task)


def of_musique():
    """What runs quickly over 1,890 passages with the published triples."""
    for method in ("bm25", "dense", "vanilla"):
        yield Setting(method)
    yield Setting("ircot", "scripted", {"retriever": "bm25", "max_steps": 4})
    for follow in ({}, {"follow": "code"}):
        yield from varied("hipporag", {"extraction": PUBLISHED, **follow})
    yield Setting("pathrag", build={"extraction": PUBLISHED})
    yield Setting("lightrag-hybrid", build={"extraction": PUBLISHED})


def of_dulce():
    """The methods that stand on Microsoft's graph and reports."""
    for method in ("graphrag-local", "graphrag-global", *GRAPHS[3:8], "hipporag"):
        for follow in ({}, *({"follow": one} for one in followed(method))):
            few = (one for one in varied(method, follow) if one.vary.get("flow") != "edges")
            yield from few  # the flow on edges of `follow="code"` is the same, and takes seconds
        yield Setting(method, "scripted")


def opened(method, source, llm, build):
    """A method built over a corpus, or opened over a graph or over Microsoft's index."""
    build = dict(build)
    kind = mr.METHODS[method]
    if "over" in build:
        graph = mr.METHODS[build.pop("over")].build(source, llm).graph
        return kind.from_graph(graph, llm, **build)
    if hasattr(source, "documents"):
        return kind.build(source, llm, **build)
    if hasattr(kind, "from_index"):
        return kind.from_index(source.index, llm, **build)
    return kind.from_graph(source.graph, llm, **build)


def scripted_reply(task, number, words):
    """A reply in the form that a task asks for; `number` decides, `words` fill it."""
    a, b, c, d = words
    replies = {
        "keywords": {"high_level_keywords": [a, b], "low_level_keywords": [c, d]},
        "question_entities": {"named_entities": [a, b]},
        "map_answer": {"answer": f"{a} and {b}.", "score": number % 101},
        "map_points": {
            "points": [
                {"description": f"{a} and {b}.", "score": number % 101},
                {"description": f"{c} and {d}.", "score": number // 101 % 101},
            ]
        },
    }
    if task in replies:
        return json.dumps(replies[task])
    done = f" So the answer is: {d}" if number % 2 else ""
    return f"Thought: {a} {b} {c}.{done}\nAnswer: {d}"
