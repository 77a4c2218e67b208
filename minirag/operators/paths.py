"""Operators that choose paths of a knowledge graph. Each takes a batch of questions and returns one
step a question.

Source: Survey, Sec. 6.1 (op-subgraph)
"""

from collections.abc import Sequence

from ..algorithms.khop_paths import Path, Ways, balanced, chained_paths, khop_paths
from ..core.graph import Graph
from ..core.trace import NodeStep, PathStep, ScoredPath
from ..llm import LLM
from ..prompts.agent_evidence import NONE, plain_arrows
from .ranking import count_of


def khop_path(
    linked: Sequence[NodeStep], graph: Graph, hops: int = 5, most: int = 5, directed: bool = False,
    chained: bool = False,
) -> list[PathStep]:  # fmt: skip
    """KhopPath: paths of at most `hops` edges between the linked nodes, at most `most` of them.

    directed: edges are followed from subject to object only. chained: as DALK's released code does
    (see `algorithms.khop_paths`).

    Source: Survey, Sec. 6.1 (op-subgraph)
    """
    ways = Ways(len(graph.nodes), [(edge.source, edge.target) for edge in graph.edges], directed)

    def letters(path: Path) -> int:
        relations = (graph.edges[edge].name for edge in path.edges)
        return len("->".join([*(graph.nodes[i].name for i in path.nodes), *relations]))

    steps = []
    for step in linked:
        starts = [node.index for node in step.nodes]
        if chained:
            found = chained_paths(ways, starts, hops, most, letters)
        else:
            found = khop_paths(ways, starts, hops, most)
        kept = balanced(found, most, ends=not chained)
        paths = [ScoredPath(tuple(graph.nodes[i].name for i in path.nodes), 1.0) for path in kept]
        edges = tuple(tuple((edge,) for edge in path.edges) for path in kept)
        summary = f"{len(kept)} of {count_of(found, 'path')} between {count_of(starts, 'node')}"
        steps.append(PathStep("khop path", summary, paths=tuple(paths), edges=edges))
    return steps


def path_text(graph: Graph, path: ScoredPath, edges: Sequence[Sequence[int]]) -> str:
    """A path as prompts show it: "a -> relation -> b <- relation <- c", an arrow to an object."""
    text = path.nodes[0]
    for here, there, step in zip(path.nodes, path.nodes[1:], edges):
        edge = graph.edges[step[0]]
        arrow = "->" if graph.nodes[edge.source].name == here else "<-"
        text += f" {arrow} {edge.name} {arrow} {there}"
    return text


def agent_path(
    questions: Sequence[str], found: Sequence[PathStep], graph: Graph, llm: LLM, most: int = 5
) -> list[PathStep]:
    """AgentPath: of the paths found those that a language model, or the offline rule, says help to
    answer the question, best first; their score is 1 / rank.

    Where its reply cannot be read or names no path that it was offered, all are kept.

    Source: Survey, Sec. 6.1 (op-subgraph)
    """
    texts = [{path_text(graph, *row): row for row in zip(step.paths, step.edges)} for step in found]
    asked = [place for place, offered in enumerate(texts) if offered]
    fields = [
        {"question": questions[place], "evidence": [*texts[place]], "most": most} for place in asked
    ]
    replies = dict(zip(asked, llm.map("rerank_evidence", fields)))
    steps = []
    for place, offered in enumerate(texts):
        named = replies.get(place, ())
        plain = {plain_arrows(text): row for text, row in offered.items()}
        rows = [plain[text] for text in named if text in plain][:most]
        unread = not rows and NONE not in named
        rows = [*offered.values()][:most] if unread else rows
        paths = [ScoredPath(path.nodes, 1 / rank) for rank, (path, _) in enumerate(rows, start=1)]
        why = "; the reply names none of them, so all are kept" if offered and unread else ""
        summary = f"{len(rows)} of {count_of(offered, 'path')} kept{why}"
        edges = tuple(row[1] for row in rows)
        steps.append(PathStep("agent path", summary, paths=tuple(paths), edges=edges))
    return steps
