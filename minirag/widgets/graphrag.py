"""Explorers of GraphRAG: the community hierarchy with its reports, and packed context windows."""

from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from ..core.errors import MiniragError
from ..core.results import Answer
from ..methods.graphrag.citations import cited
from ..methods.graphrag.map_reduce import MapStep, PackStep, ReduceStep
from ..prompts.map_reduce import answer_block, unit_block
from ..text.tokens import count_tokens
from ..viz import Figure, draw_hierarchy, draw_windows
from .explorer import Choice, Explorer, Slider

if TYPE_CHECKING:
    from ..core.communities import Community
    from ..core.reports import CommunityIndex
    from ..methods.graphrag.global_search import GraphRAGGlobal

BACK = "(stay here)"


class HierarchyExplorer(Explorer):
    """A level, a community on it, and the way down into its parts, with the report that somebody or
    something wrote on each.

    `index`: a `CommunityIndex`.

    Source: GraphRAG, Sec. 2.5 (sec-2.5-higher)
    """

    def __init__(self, index: "CommunityIndex") -> None:
        if not index.communities.items:
            raise MiniragError("The index has no communities: there is nothing to browse.")
        self.index, self.communities = index, index.communities
        self.places = {item.id: place for place, item in enumerate(index.communities.items)}
        shown = self._listed(self.communities.at(0))
        super().__init__(
            Choice("community", "Community", shown, shown[0][1]),
            self._parts(shown[0][1]),
            Slider("level", "level", 0, self.communities.deepest, 1, 0),
        )

    def _label(self, place: int) -> str:
        item, report = self.communities.items[place], self.index.reports.get(place)
        return f"{item.id}, {len(item.members)} entities: {report.title if report else 'no report'}"

    def _listed(self, places: tuple[int, ...]) -> tuple[tuple[str, str], ...]:
        return tuple((self._label(place), self.communities.items[place].id) for place in places)

    def _parts(self, community: str) -> Choice:
        children = self.communities.items[self.places[community]].children
        return Choice("open", "Open a part", ((BACK, BACK), *self._listed(children)), BACK)

    @property
    def place(self) -> int:
        """Position of the open community."""
        return self.places[self.state["community"]]

    @property
    def community(self) -> "Community":
        """The open community."""
        return self.communities.items[self.place]

    def changed(self, name: str) -> None:
        """Opening a part goes one level down to it; a level that does not have the open community
        shows the one that holds it, or its first part.
        """
        state, items = self.state, self.communities.items
        if name == "open" and state["open"] != BACK:
            state["community"] = state["open"]
            state["level"] = self.community.level
        elif name == "level":
            members, here = set(self.community.members), self.communities.at(state["level"])
            touching = [place for place in here if members & set(items[place].members)]
            state["community"] = items[touching[0]].id
        state["open"] = BACK
        shown = self._listed(self.communities.at(state["level"]))
        self.controls["community"] = Choice("community", "Community", shown, state["community"])
        self.controls["open"] = self._parts(state["community"])

    def figure(self) -> Figure:
        names = [node.name for node in self.communities.graph.nodes]
        partitions = map(self.communities.partition, range(len(self.communities.levels)))
        levels = [[{names[i] for i in members} for members in level] for level in partitions]
        marked = {names[i] for i in self.community.members}
        caption = "The open community has a thick edge on every level on which it stands."
        return draw_hierarchy(levels, highlight=[marked], caption=caption)

    def html(self) -> str:
        return self.figure().svg + self._report_html()

    def _report_html(self) -> str:
        report = self.index.reports.get(self.place)
        if report is None:
            return "<p>Nobody wrote a report on this community.</p>"
        author = f"Written by: {escape(report.source)}. Rating {report.rating:g} of 10."
        head = f"<h4>{escape(report.title)}</h4><p style='color:#555555'>{author}</p>"
        found = [(escape(f.summary), escape(f.explanation)) for f in report.findings]
        findings = "".join(f"<li><b>{summary}.</b> {why}</li>" for summary, why in found)
        return f"{head}<p>{escape(report.summary)}</p><ul>{findings}</ul>"

    def describe(self) -> str:
        item, report = self.community, self.index.reports.get(self.place)
        size = f"{len(item.members)} entities, {len(item.edges)} relations"
        lines = [f"level {self.state['level']}, community {item.id}: {size}"]
        lines[0] += f", {len(item.children)} parts"
        if report is None:
            return f"{lines[0]}\nno report"
        lines += [f"{report.title} (rating {report.rating:g}, by {report.source})"]
        lines += [f"  - {finding.summary}" for finding in report.findings]
        chunks = self.communities.graph.chunks
        sources = sorted(chunks[i].id for i in cited(self.index, report.text)[1])
        lines += [f"passages cited: {', '.join(sources) or 'none'}"]
        return "\n".join(lines + [f"  part {self._label(child)}" for child in item.children])


class Windows(NamedTuple):
    """What a global search packed: a window for each call of a model, the reduce call last."""

    names: list[str]
    items: list[list[tuple[str, int]]]  # (label, tokens) of what each window holds
    headers: list[int]  # tokens of the instructions and the question
    left_out: list[str]


class PackingExplorer(Explorer):
    """Level, window and seed of a global search: which reports share a window, and which answers
    fill the last one.

    `method`: a `GraphRAGGlobal`; `question`: a text. Windows go from `smallest` to `largest` tokens
    in steps of 100.

    Source: GraphRAG, Sec. 2.6 (sec-2.6)
    """

    def __init__(
        self,
        method: "GraphRAGGlobal",
        question: str,
        level: int = 0,
        window: int = 1500,
        smallest: int = 800,
        largest: int = 8000,
    ) -> None:
        self.method, self.question = method, question
        self._at = lru_cache(maxsize=64)(self._answer)
        deepest = method.index.communities.deepest
        super().__init__(
            Slider("level", "level", 0, deepest, 1, min(level, deepest)),
            Slider("window", "window, tokens", smallest, largest, 100, window),
            Slider("seed", "seed of the shuffle", 0, 9, 1, 0),
        )

    def _answer(self, level: int, window: int, seed: int) -> Answer:
        return self.method.with_options(level=level, window=window, seed=seed).answer(self.question)

    @property
    def answer(self) -> Answer:
        """The `Answer` at the present state."""
        return self._at(*self.state.values())

    def _steps(self) -> tuple[PackStep, MapStep, ReduceStep]:
        trace = self.answer.retrieval.trace
        return trace.last(PackStep), trace.last(MapStep), trace.last(ReduceStep)

    def rows(self) -> Windows:
        """The windows that were packed, in their order."""
        pack, partial, reduce = self._steps()
        count = self.method.chosen.count
        items = self.method.index.communities.items
        reports = self.method.index.reports
        text = {f"report:{items[place].id}": report.text for place, report in reports.items()}
        windows, headers = [], []
        for units, total in zip(pack.windows, pack.tokens):
            held = []
            for unit in units:  # a report that was shortened weighs no more than its window
                tokens = count_tokens(unit_block((unit, text[unit])) + "\n\n", count)
                held.append((unit.removeprefix("report:"), min(tokens, total)))
            windows.append(held)
            headers.append(max(0, total - sum(tokens for _, tokens in held)))
        helpful = [answer for answer in partial.answers if answer.score > 0]
        answers = []
        for i, answer in enumerate(sorted(helpful, key=lambda row: -row.score), start=1):
            tokens = count_tokens(answer_block(i, answer[:2]) + "\n\n", count)
            answers.append((f"#{i} ({answer.score:g})", tokens))
        fit = answers[: len(answers) - reduce.left_out]
        headers.append(max(0, reduce.tokens - sum(tokens for _, tokens in fit)))
        names = [f"map {i}" for i in range(1, len(windows) + 1)]
        lost = [label for label, _ in answers[len(fit) :]]
        return Windows([*names, "reduce"], [*windows, answers], headers, lost)

    def figure(self) -> Figure:
        names, windows, headers, lost = self.rows()
        caption = "A box is a report, or in the last row a partial answer with its score in "
        caption += "brackets; the pale box is the instructions and the question."
        return draw_windows(windows, self.state["window"], headers, names, lost, caption=caption)

    def html(self) -> str:
        author = f"Answers by {escape(self.method.llm.name)}."
        return f"{self.figure().svg}<p style='color:#555555'>{author}</p>"

    def describe(self) -> str:
        pack, partial, reduce = self._steps()
        state, count = self.state, sum(map(len, pack.windows))
        lines = [f"level {state['level']}, window {state['window']}, seed {state['seed']}: "]
        lines[0] += f"{count} reports in {len(pack.windows)} windows"
        for i, (units, total) in enumerate(zip(pack.windows, pack.tokens), start=1):
            reports = ", ".join(unit.removeprefix("report:") for unit in units)
            lines.append(f"  map {i}: {total} tokens: {reports}")
        lines += [f"  shortened: {', '.join(pack.shortened)}"] if pack.shortened else []
        lines += [f"  left out: {', '.join(pack.left_out)}"] if pack.left_out else []
        dropped, lost = partial.dropped, reduce.left_out
        kept = f"{len(partial.answers) - dropped - lost} answers kept"
        lines.append(
            f"  reduce: {reduce.tokens} tokens, {kept}, {dropped} dropped at score 0, "
            f"{lost} did not fit"
        )
        return "\n".join(lines)
