"""A walk of ToG or ToG-2 depth by depth, in which a reader may choose relations in the agent's
place.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.corpus import Question
from ..core.errors import MiniragError
from ..llm import LLM, Completion, Counts
from ..operators.agent import ChoiceStep, triple_text
from ..prompts.agent_walk import ENTITY, THOUGHT, relation_key
from ..prompts.task import Fields, Messages, Task
from ..viz import Figure, draw_graph, layout
from .explorer import CELL, Choice, Explorer, Slider

if TYPE_CHECKING:
    from ..methods.tog import Walker

Spot = tuple[str, tuple[str, ...]]  # an entity, and the triples found on the way to it
Choices = Mapping[Spot, tuple[str, ...]]  # the relations that a reader chose there
Triple = tuple[str, str, str]
AGENT = "agent"
SHOWN = 30  # nodes


class Offered(NamedTuple):
    """The relations that an agent was offered at an entity, and where that was."""

    relations: tuple[str, ...]
    spot: Spot


class Overruled(LLM):
    """The model of a method, except where a reader chooses the relations in its place.

    choices: the reader's relations at each spot. ToG asks for one entity at a time, so that the
    model is not asked there; ToG-2 asks for all at once, and the reader's lines replace the model's
    for that entity. `asked` keeps the name and the fields of every task.
    """

    def __init__(self, live: LLM, choices: Choices) -> None:
        if live.waits:
            raise MiniragError("a walk is shown step by step; a batch cannot answer it in time.")
        self.note, self.is_model, self.name = live.note, live.is_model, live.name
        super().__init__()
        self.live, self.choices = live, choices
        self.name += "; a reader overruled its choice of relations" if choices else ""
        self.asked, self.by_reader = list[tuple[str, Fields]](), 0

    def signed(self, spent: Counts) -> str:
        """Who answered, and at how many entities the reader chose."""
        told = f"; a reader chose the relations of {len(self.choices)}" if self.choices else ""
        return f"{self.live.signed(spent)}{told}"

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        self.asked.append((task.name, fields))
        found, entity = tuple(fields.get("found", ())), fields.get("entity", "")
        if task.name == "choose_relations" and (entity, found) in self.choices:
            self.by_reader += 1
            return Completion(as_reply(self.choices[entity, found]))
        reply = self.live.complete(task, messages, fields)
        if task.name == "choose_relations_of_all":
            names = [name for name, _ in fields["entities"]]
            own = {n: as_reply(self.choices[n, found]) for n in names if (n, found) in self.choices}
            _, *parts = ENTITY.split(THOUGHT.sub(" ", reply.text))
            said = {n.strip(): lines for n, lines in zip(parts[::2], parts[1::2])} if own else {}
            rows = "\n".join(f"Entity 1: {n}\n{text.strip()}" for n, text in (said | own).items())
            reply = replace(reply, text=rows if own else reply.text)
        return reply


def as_reply(relations: Sequence[str]) -> str:
    """Relations in the format of the task, with equal scores that sum to 1."""
    return "\n".join(f"{{{name} (Score: {1 / len(relations):.4f})}}" for name in relations)


class AgentWalk:
    """What ToG or ToG-2 did for one question: what the agent was offered at each depth, what it
    kept, and why the rest was dropped.

    choices: the relations that a reader chose, see `overrule`. `llm` counts the calls of this walk
    alone.
    """

    def __init__(
        self, method: "Walker", question: Question | str, choices: Choices | None = None
    ) -> None:
        self.question = question.text if isinstance(question, Question) else question
        self.method, self.choices, live = copy(method), dict(choices or {}), method.llm
        vars(self.method).pop("agent", None)  # which holds the method's own model
        live = live.live if isinstance(live, Overruled) else live
        self.llm = self.method.llm = Overruled(live, self.choices)
        self.trace = self.method.retrieve(self.question).trace
        self.reason = self.trace.last("stop").summary

    @property
    def depths(self) -> range:
        """The depths at which the agent was asked, from 1 on."""
        return range(1, len(self._offered) + 1)

    @cached_property
    def _offered(self) -> list[dict[str, Offered]]:
        asked = (fields for name, fields in self.llm.asked if name.startswith("choose_relations"))
        found = []
        for step in self._steps("relations"):
            first = next(asked)
            rows = first.get("entities")  # all in one prompt, or a prompt for each
            same = [first, *islice(asked, 0 if rows else len(step.topics) - 1)]
            rows = rows or [(fields["entity"], fields["relations"]) for fields in same]
            spots = [
                (name, tuple(each["found"])) for (name, _), each in zip(rows, same * len(rows))
            ]
            found.append({s[0]: Offered(tuple(r), s) for (_, r), s in zip(rows, spots)})
        return found

    def _steps(self, kind: str) -> list[ChoiceStep]:
        return [step for step in self.trace.all(ChoiceStep) if step.kind == kind]

    def offered(self, depth: int) -> dict[str, Offered]:
        """Entity -> the relations that were offered there; raises `MiniragError` beyond the end."""
        if depth not in self.depths:
            raise MiniragError(f"depth {depth}: the walk has {len(self.depths)} depths.")
        return self._offered[depth - 1]

    def frontier(self, depth: int) -> list[str]:
        """The entities at which the agent chose relations."""
        return list(self.offered(depth))

    def table(self, depth: int) -> list[dict[str, Any]]:  # Any: texts, a score, a truth
        """What was offered, best first: the relations, then the entities behind those followed."""
        spots = [each for each in self.offered(depth).values() if each.spot in self.choices]
        own = {f"{each.spot[0]}: {name}" for each in spots for name in each.relations}
        reader = {"": "the reader's choice", "not chosen": "not chosen by the reader"}
        rows = []
        for step in (s for s in self.trace.all(ChoiceStep) if s.depth == depth):
            for label, score, why in step.offered:
                kept = {"kind": step.kind, "offered": label, "score": score, "kept": not why}
                mine = step.kind == "relations" and label in own
                rows.append({**kept, "why": reader.get(why, why) if mine else why})
        return rows

    def evidence(self, depth: int) -> tuple[list[str], list[str]]:
        """The triples and the passages by which the model last judged whether they are enough."""
        judged = [fields for name, fields in self.llm.asked if name.startswith("examine")]
        last = judged[:depth][-1] if judged else {}
        return list(last.get("triples", ())), list(last.get("passages", ()))

    @property
    def summary(self) -> str:
        """Why the walk stopped, what it cost, and who answered."""
        spent = self.llm.ledger.total - Counts(calls=self.llm.by_reader)
        tokens = f"{spent.prompt_tokens:,} tokens read, {spent.completion_tokens:,} written"
        cost = f"{spent.calls} calls, {tokens}"
        return f"Stopped: {self.reason}.\n{cost}.\nAnswers: {self.llm.signed(spent)}."

    def overrule(self, depth: int, entity: str, *relations: str) -> "AgentWalk":
        """A new walk that follows these relations from an entity of the frontier (none: it goes on
        from the others); the agent, or the rule, chooses everything else.
        """
        if entity not in self.offered(depth):
            listed = ", ".join(self.frontier(depth))
            raise MiniragError(f"{entity!r} is not at the frontier of depth {depth}: {listed}.")
        known, spot = self.offered(depth)[entity]
        wanted = tuple(dict.fromkeys(map(relation_key, relations)))
        if unknown := [name for name in wanted if name not in known]:
            raise MiniragError(f"{unknown[0]!r} is not offered there: {', '.join(known)}.")
        return AgentWalk(self.method, self.question, {**self.choices, spot: wanted})

    def _edges(self, depth: int) -> dict[str, Triple]:
        """Triple as prompts show it -> its names, for all that the offered relations lead to."""
        graph, found = self.method.graph, dict[str, Triple]()
        place = {node.name: i for i, node in enumerate(graph.nodes)}
        for name, (known, _) in self.offered(depth).items():
            for relation in self.method.relations[place[name]]:
                for at in relation.edges if relation_key(relation.name) in known else ():
                    e = graph.edges[at]
                    ends = (graph.nodes[e.source].name, e.name, graph.nodes[e.target].name)
                    found[triple_text(graph, at)] = ends
        return found

    def _kept(self, depth: int) -> list[str]:
        rows = (row for row in self.table(depth) if row["kind"] == "entities" and row["kept"])
        return [row["offered"] for row in rows]

    @cached_property
    def _around(self) -> tuple[list[str], dict[Any, Any]]:
        """The nodes that are drawn and their places: those walked over, then those weighed, then
        other neighbours.
        """
        import networkx as nx

        named, every = [n for d in self.depths for n in self.frontier(d)], dict[str, Triple]()
        for depth in self.depths:
            every |= self._edges(depth)
        kept = [label for depth in self.depths for label in self._kept(depth)]
        weighed = [each.label for step in self._steps("entities") for each in step.offered]
        for label in (*kept, *weighed, *every):
            named += [every[label][0], every[label][2]]
        shown = list(dict.fromkeys(named))[:SHOWN]
        part = nx.Graph()
        part.add_nodes_from(shown)
        part.add_edges_from((s, t) for s, _, t in every.values() if {s, t} <= set(shown))
        return shown, layout(part, highlight={"frontier": self.frontier(1) if self.depths else []})

    def figure(self, depth: int) -> Figure:
        """The graph around the walk: bold what was kept up to this depth, thin what was offered and
        dropped. Nodes keep their places over all depths.
        """
        import networkx as nx

        (shown, places), every = self._around, dict[str, Triple]()
        for each in range(1, depth + 1):
            every |= self._edges(each)
        inside = [row for row in every.values() if {row[0], row[2]} <= set(shown)]
        kept = [every[label] for each in range(1, depth + 1) for label in self._kept(each)]
        drawn = nx.MultiDiGraph()
        drawn.add_nodes_from(shown)
        drawn.add_edges_from((s, t, {"name": name}) for s, name, t in inside)
        seen = {name for s, _, t in every.values() for name in (s, t)}
        new = [n for label in self._kept(depth) for n in (every[label][0], every[label][2])]
        here = self.frontier(depth)
        roles = {"frontier": here, "kept": [n for n in new if n not in here and n in shown]}
        groups = {name: "offered so far" for name in shown if name in seen}
        paths = [[s, t] for s, _, t in kept if {s, t} <= set(shown)]
        left = len(seen - set(shown))
        caption = f"Depth {depth}." + (
            f" {left} neighbours that were offered are not drawn." if left else ""
        )
        return draw_graph(
            drawn, places, highlight=roles, edge_labels=True, node_groups=groups, paths=paths,
            path_name="kept", caption=caption,
        )  # fmt: skip


class WalkStepper(Explorer):
    """A depth, an entity of its frontier, and the relation that the reader follows from there."""

    def __init__(self, method: "Walker", question: Question | str) -> None:
        self.walk = AgentWalk(method, question)
        depth = Slider("depth", "depth", 1, method.chosen.depth, 1, 1)
        super().__init__(
            depth, *(Choice(name, name, (("", AGENT),), AGENT) for name in ("entity", "relation"))
        )
        self._offer()

    @property
    def depth(self) -> int:
        """The depth that is shown: the last one where the walk ended before the slider's."""
        return min(self.state["depth"], len(self.walk.depths))

    def changed(self, name: str) -> None:
        """Walk again where the reader chose; offer what the new state has."""
        if name == "relation" and self.walk.depths:
            spot, chosen = self._here().spot, self.state["relation"]
            choices = {at: names for at, names in self.walk.choices.items() if at != spot}
            choices |= {} if chosen == AGENT else {spot: chosen}
            self.walk = AgentWalk(self.walk.method, self.walk.question, choices)
        self._offer()

    def _here(self) -> Offered:
        return self.walk.offered(self.depth)[self.state["entity"]]

    def _offer(self) -> None:
        """The entities and the relations at this depth."""
        names = self.walk.frontier(self.depth) if self.walk.depths else [""]
        entity = self.state["entity"] if self.state["entity"] in names else names[0]
        self.state["entity"], self.state["relation"] = entity, AGENT
        options = [("as the agent chooses", AGENT), ("none", ())]
        if self.walk.depths:
            options += [(name, (name,)) for name in self._here().relations]
            self.state["relation"] = self.walk.choices.get(self._here().spot, AGENT)
        entities = tuple((name, name) for name in names)
        self.controls["entity"] = Choice("entity", "At", entities, entity)
        label = "Follow"
        self.controls["relation"] = Choice("relation", label, tuple(options), AGENT)

    def figure(self) -> Figure | None:
        return self.walk.figure(self.depth) if self.walk.depths else None

    def _lines(self) -> list[str]:
        """The state above the table."""
        if not self.walk.depths:
            return []
        beyond = self.state["depth"] > self.depth
        ended = f"; the walk ended before depth {self.state['depth']}" if beyond else ""
        lines = [f"Depth {self.depth} of {len(self.walk.depths)}{ended}."]
        lines += [f"Frontier: {', '.join(self.walk.frontier(self.depth))}."]
        shown = "the agent" if self.state["relation"] == AGENT else "a reader"
        return [*lines, f"At {self.state['entity']}, {shown} chooses."]

    def html(self) -> str:
        figure, rows = self.figure(), ""
        for row in self.walk.table(self.depth) if self.walk.depths else ():
            cells = [row["kind"], row["offered"], f"{row['score']:.3f}", row["why"] or "kept"]
            style = "font-weight:bold" if row["kept"] else "color:#555555"
            cells = [f"<td {CELL}>{escape(cell)}</td>" for cell in cells]
            rows += f"<tr style='{style}'>{''.join(cells)}</tr>"
        triples, passages = self.walk.evidence(self.depth)
        parts = [f"<p>{escape(self.walk.question)}</p>", figure.svg if figure else ""]
        parts += [f"<p>{'<br>'.join(map(escape, self._lines()))}</p><table>{rows}</table>"]
        parts += [
            f"<p><b>Evidence so far: {len(triples)} triples, {len(passages)} passages.</b></p>"
        ]
        listed = [*triples, *(f"{text[:120]} ..." for text in passages)]
        parts += ["<ul>", *(f"<li>{escape(text)}</li>" for text in listed), "</ul>"]
        return "".join([*parts, *(f"<p>{escape(x)}</p>" for x in self.walk.summary.split("\n"))])

    def describe(self) -> str:
        lines = [self.walk.question, *self._lines()]
        for row in self.walk.table(self.depth) if self.walk.depths else ():
            lines.append(f"  {row['score']:.3f}  {row['offered']} [{row['why'] or 'kept'}]")
        triples, passages = self.walk.evidence(self.depth)
        lines += [f"evidence so far: {len(triples)} triples, {len(passages)} passages"]
        return "\n".join([*lines, *(f"  {text}" for text in triples), self.walk.summary])


def walk_stepper(method: "Walker", question: Question | str) -> WalkStepper:
    """The stepper for a walk of ToG or ToG-2; `view()` shows it."""
    return WalkStepper(method, question)
