"""Explorers of GraphRAG: the community hierarchy with its reports, and packed context windows."""

from functools import lru_cache
from html import escape

from ..core.errors import MiniragError
from ..index.sources import cited
from ..prompts.map_reduce import answer_block, unit_block
from ..text.tokens import count_tokens
from ..viz import draw_hierarchy, draw_windows
from .explorer import Choice, Explorer, Slider

BACK = "(stay here)"


class HierarchyExplorer(Explorer):
    """A level, a community on it, and the way down into its parts, with the report that somebody or
    something wrote on each.

    `index`: a `CommunityIndex`.

    Source: GraphRAG, Sec. 2.5 (sec-2.5-higher)
    """

    def __init__(self, index, level=0):
        if not index.communities.items:
            raise MiniragError("The index has no communities: there is nothing to browse.")
        self.index, self.communities = index, index.communities
        first = self._on(level)[0][1]
        super().__init__(
            [
                Choice("community", "Community", self._on(level), first),
                Choice("open", "Open a part", self._parts(first), BACK),
                Slider("level", "level", 0, self.communities.deepest, 1, level),
            ]
        )

    def _label(self, place):
        item, report = self.communities.items[place], self.index.reports.get(place)
        return f"{item.id}, {len(item.members)} entities: {report.title if report else 'no report'}"

    def _on(self, level):
        return tuple(
            (self._label(place), self.communities.items[place].id)
            for place in self.communities.at(level)
        )

    def _parts(self, community):
        children = self.communities.items[self._place(community)].children
        return (
            (BACK, BACK),
            *((self._label(place), self.communities.items[place].id) for place in children),
        )

    def _place(self, community):
        return next(
            place for place, item in enumerate(self.communities.items) if item.id == community
        )

    @property
    def place(self):
        """Position of the open community."""
        return self._place(self.state["community"])

    def changed(self, name):
        """Opening a part goes one level down to it; a level that does not have the open community
        shows the one that holds it, or its first part.
        """
        state = self.state
        if name == "open" and state["open"] != BACK:
            state["community"] = state["open"]
            state["level"] = self.communities.items[self.place].level
        elif name == "level":
            members, here = (
                set(self.communities.items[self.place].members),
                self.communities.at(state["level"]),
            )
            touching = [p for p in here if members & set(self.communities.items[p].members)]
            state["community"] = self.communities.items[touching[0]].id
        state["open"] = BACK
        self.controls["community"] = Choice(
            "community", "Community", self._on(state["level"]), state["community"]
        )
        self.controls["open"] = Choice("open", "Open a part", self._parts(state["community"]), BACK)

    def figure(self):
        names = [node.name for node in self.communities.graph.nodes]
        levels = [
            [{names[i] for i in members} for members in self.communities.partition(k)]
            for k in range(len(self.communities.levels))
        ]
        marked = {names[i] for i in self.communities.items[self.place].members}
        return draw_hierarchy(
            levels,
            highlight=[marked],
            caption="The open community has a thick edge on every level on which it stands.",
        )

    def _sources(self):
        ids = [
            self.communities.graph.chunks[i].id
            for i in cited(self.index, self.index.reports[self.place].text)[1]
        ]
        return ", ".join(sorted(ids)) or "none"

    def html(self):
        return self.figure().svg + self._report_html()

    def _report_html(self):
        report = self.index.reports.get(self.place)
        if report is None:
            return "<p>Nobody wrote a report on this community.</p>"
        findings = "".join(
            f"<li><b>{escape(f.summary)}.</b> {escape(f.explanation)}</li>" for f in report.findings
        )
        head = f"<h4>{escape(report.title)}</h4><p style='color:#555555'>Written by: {escape(report.source)}. Rating {report.rating:g} of 10.</p>"
        return f"{head}<p>{escape(report.summary)}</p><ul>{findings}</ul>"

    def describe(self):
        item, report = self.communities.items[self.place], self.index.reports.get(self.place)
        lines = [
            f"level {self.state['level']}, community {item.id}: {len(item.members)} entities, {len(item.edges)} relations, {len(item.children)} parts"
        ]
        if report is None:
            return lines[0] + "\nno report"
        lines += [f"{report.title} (rating {report.rating:g}, by {report.source})"]
        lines += [f"  - {finding.summary}" for finding in report.findings] + [
            f"passages cited: {self._sources()}"
        ]
        return "\n".join(lines + [f"  part {self._label(child)}" for child in item.children])


class PackingExplorer(Explorer):
    """Level, window and seed of a global search: which reports share a window, and which answers
    fill the last one.

    `method`: a `GraphRAGGlobal`; `question`: a text. Windows go from `smallest` to `largest` tokens
    in steps of 100.

    Source: GraphRAG, Sec. 2.6 (sec-2.6)
    """

    def __init__(self, method, question, level=0, window=1500, smallest=800, largest=8000):
        self.method, self.question = method, question
        self._at = lru_cache(maxsize=64)(self._answer)
        deepest = method.index.communities.deepest
        super().__init__(
            [
                Slider("level", "level", 0, deepest, 1, min(level, deepest)),
                Slider("window", "window, tokens", smallest, largest, 100, window),
                Slider("seed", "seed of the shuffle", 0, 9, 1, 0),
            ]
        )

    def _answer(self, level, window, seed):
        return self.method.with_options(level=level, window=window, seed=seed).answer(self.question)

    @property
    def answer(self):
        """The `Answer` at the present state."""
        return self._at(*self.state.values())

    def _steps(self):
        return {step.operator: step.data for step in self.answer.retrieval.trace}

    def rows(self):
        """`(names, windows, headers, left out)` as `viz.draw_windows` takes them: a row a window,
        and the reduce window last.
        """
        steps, choices = (
            self._steps(),
            self.method.chosen,
        )
        index = self.method.index
        text = {
            f"report:{index.communities.items[p].id}": report.text
            for p, report in index.reports.items()
        }
        weigh = lambda unit: count_tokens(unit_block((unit, text[unit])) + "\n\n", choices.count)
        packed = zip(
            steps["pack"]["windows"], steps["pack"]["tokens"]
        )  # a report that was shortened weighs no more than its window
        windows = [
            [(unit.removeprefix("report:"), min(weigh(unit), total)) for unit in held]
            for held, total in packed
        ]
        headers = [
            max(0, total - sum(t for _, t in held))
            for total, held in zip(steps["pack"]["tokens"], windows)
        ]
        helpful = sorted(
            (row for row in steps["map"]["answers"] if row[1] > 0), key=lambda row: -row[1]
        )
        boxes = [
            (f"#{i} ({row[1]:g})", count_tokens(answer_block(i, row) + "\n\n", choices.count))
            for i, row in enumerate(helpful, start=1)
        ]
        lost = steps["reduce"]["left_out"]
        fit = boxes[: len(boxes) - lost]
        headers.append(max(0, steps["reduce"]["tokens"] - sum(t for _, t in fit)))
        names = [f"map {i}" for i in range(1, len(windows) + 1)] + ["reduce"]
        return names, [*windows, boxes], headers, [label for label, _ in boxes[len(fit) :]]

    def figure(self):
        names, windows, headers, lost = self.rows()
        caption = "A box is a report, or in the last row a partial answer with its score in brackets; the pale box is the instructions and the question."
        return draw_windows(windows, self.state["window"], headers, names, lost, caption=caption)

    def html(self):
        said = f"<p style='color:#555555'>Answers by {escape(self.method.llm.name)}.</p>"
        return self.figure().svg + said

    def describe(self):
        steps, state = self._steps(), self.state
        pack, reduce = steps["pack"], steps["reduce"]
        count, held = sum(map(len, pack["windows"])), zip(pack["windows"], pack["tokens"])
        lines = [
            f"level {state['level']}, window {state['window']}, seed {state['seed']}: {count} reports in {len(pack['windows'])} windows"
        ]
        lines += [
            f"  map {i}: {total} tokens: {', '.join(u.removeprefix('report:') for u in some)}"
            for i, (some, total) in enumerate(held, start=1)
        ]
        for key in ("shortened", "left_out"):
            lines += [f"  {key.replace('_', ' ')}: {', '.join(pack[key])}"] * bool(pack[key])
        kept = len(steps["map"]["answers"]) - steps["map"]["dropped"] - reduce["left_out"]
        dropped, lost = steps["map"]["dropped"], reduce["left_out"]
        return "\n".join(
            [
                *lines,
                f"  reduce: {reduce['tokens']} tokens, {kept} answers kept, {dropped} dropped at score 0, {lost} did not fit",
            ]
        )
