"""A walk of ToG or ToG-2 depth by depth, in which a reader may choose relations in the agent's
place.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from html import escape
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..core.errors import MiniragError
from ..llm import LLM, Completion, Counts
from ..operators.agent import ChoiceStep, triple_text
from ..prompts.agent_walk import ENTITY, THOUGHT, relation_key
from ..prompts.task import Fields, Messages, Task
from ..viz import Figure, draw_graph, layout
from .explorer import Choice, Explorer, Slider

if TYPE_CHECKING:
    from ..methods.tog import Walker

Spot = tuple[str, tuple[str, ...]]  # an entity, and the triples found on the way to it
Choices = Mapping[Spot, tuple[str, ...]]  # the relations that a reader chose there
Triple = tuple[str, str, str]
AGENT = "agent"
STOOD = "offered and dropped", "kept so far"
READER = {"": "the reader's choice", "not chosen": "not chosen by the reader"}
DRAWN, WRAPPED = 30, "white-space:pre-wrap"  # nodes; the text below the figure


class Overruled(LLM):
    """The model of a method, except where a reader chooses the relations in its place.

    ToG asks for one entity at a time, and the model is not asked about the reader's; ToG-2 asks for
    all at once, and the reader's lines replace the model's for that entity. `offered` has for each
    depth the relations of each entity, and its spot; `judged` what the model judged to be enough or
    not.
    """

    def __init__(self, live: LLM, choices: Choices) -> None:
        if live.waits:
            raise MiniragError("a walk that waits for a batch cannot be shown step by step.")
        super().__init__()
        told = f"; a reader overruled it at {len(choices)} of its choices" if choices else ""
        self.live, self.choices, self.told, self.is_model = live, choices, told, live.is_model
        self.name, self.by_reader, self.last = live.name + told, 0, ""
        self.offered, self.judged = list[dict[str, tuple[list[str], Spot]]](), list[Fields]()

    def signed(self, spent: Counts) -> str:
        return self.live.signed(spent - Counts(calls=self.by_reader)) + self.told

    def complete(self, task: Task, messages: Messages, fields: Fields) -> Completion:
        before, self.last = self.last, task.name
        self.judged += [fields] if task.name.startswith("examine") else []
        if not task.name.startswith("choose_relations"):
            return self.live.complete(task, messages, fields)
        self.offered += [] if before == task.name == "choose_relations" else [{}]
        found, own = tuple(fields["found"]), dict[str, str]()
        for name, known in fields.get("entities") or [(fields["entity"], fields["relations"])]:
            self.offered[-1][name] = list(known), (name, found)
            if (chosen := self.choices.get((name, found))) is not None:
                lines = (f"{{{each} (Score: {1 / len(chosen):.4f})}}" for each in chosen)
                own[name] = "\n".join(lines)
        if own and "entity" in fields:
            self.by_reader += 1
            return Completion(own[fields["entity"]])
        reply = self.live.complete(task, messages, fields)
        _, *parts = ENTITY.split(THOUGHT.sub(" ", reply.text))
        said = [row for row in zip(map(str.strip, parts[::2]), parts[1::2]) if row[0] not in own]
        rows = [f"Entity 1: {name}\n{text.strip()}" for name, text in [*own.items(), *said]]
        return replace(reply, text="\n".join(rows)) if own else reply


class AgentWalk:
    """What ToG or ToG-2 did for one question: what the agent was offered at each depth, what it
    kept, and why the rest was dropped.

    choices: the relations that a reader chose, see `overrule`. `llm` counts this walk alone.
    """

    def __init__(self, method: "Walker", question: str, choices: Choices | None = None) -> None:
        self.method, self.question, self.choices = copy(method), question, choices or {}
        vars(self.method).pop("agent", None)  # which holds the method's own model
        live = method.llm.live if isinstance(method.llm, Overruled) else method.llm
        self.method.llm = self.llm = Overruled(live, self.choices)
        self.trace = self.method.retrieve(self.question).trace
        self.reason = self.trace.last("stop").summary
        self.depths = range(1, len(self.llm.offered) + 1)

    def offered(self, depth: int) -> dict[str, tuple[list[str], Spot]]:
        """Entity of the frontier -> the relations that it has to offer, and where that is."""
        if depth not in self.depths:
            raise MiniragError(f"depth {depth}: this walk ended after depth {len(self.depths)}.")
        return self.llm.offered[depth - 1]

    def frontier(self, depth: int) -> list[str]:
        """The entities at which the agent chose relations."""
        return list(self.offered(depth))

    def table(self, depth: int) -> list[dict[str, Any]]:  # Any: texts, a score, a truth
        """What was offered, best first: the relations, then the entities behind those followed."""
        offers, rows = self.offered(depth).values(), []
        own = {f"{at[0]}: {name}" for known, at in offers if at in self.choices for name in known}
        for step in (step for step in self.trace.all(ChoiceStep) if step.depth == depth):
            for label, score, why in step.offered:
                row = {"kind": step.kind, "offered": label, "score": score, "kept": not why}
                rows.append({**row, "why": READER.get(why, why) if label in own else why})
        return rows

    def evidence(self, depth: int) -> tuple[list[str], list[str]]:
        """The triples and passages by which the model last judged whether they are enough."""
        last = (self.llm.judged[:depth] or [{}])[-1]
        return list(last.get("triples", ())), list(last.get("passages", ()))

    @property
    def summary(self) -> str:
        """Why the walk stopped, what it cost, and who answered."""
        spent = self.llm.ledger.total
        calls = f"{spent.calls - self.llm.by_reader} calls, {spent.prompt_tokens:,} tokens read"
        cost = f"{calls}, {spent.completion_tokens:,} written"
        return f"Stopped: {self.reason}.\n{cost}.\nAnswered by: {self.llm.signed(spent)}."

    def overrule(self, depth: int, entity: str, *relations: str) -> "AgentWalk":
        """A new walk, in which the reader follows these relations (or none) from an entity of the
        frontier, and the agent chooses all else.
        """
        chosen, offers = tuple(dict.fromkeys(map(relation_key, relations))), self.offered(depth)
        if entity not in offers or not {*chosen} <= {*offers[entity][0]}:
            there = {name: known for name, (known, _) in offers.items()}
            raise MiniragError(f"{entity}: {', '.join(chosen)} is not offered, but {there}.")
        return AgentWalk(self.method, self.question, {**self.choices, offers[entity][1]: chosen})

    def _drawn(self, last: int) -> tuple[dict[str, Triple], list[list[Triple]]]:
        """Up to a depth: all triples that were weighed, by their texts, and those kept at each
        depth.
        """
        graph, every, kept = self.method.graph, dict[str, Triple](), list[list[Triple]]()
        nodes = [node.name for node in graph.nodes]
        for depth in range(1, last + 1):
            ways = dict[str, Triple]()
            for name, (known, _) in self.offered(depth).items():
                for way in self.method.relations[nodes.index(name)]:
                    for at in way.edges if relation_key(way.name) in known else ():
                        e = graph.edges[at]
                        ways[triple_text(graph, at)] = nodes[e.source], e.name, nodes[e.target]
            rows = [row for row in self.table(depth) if row["kind"] == "entities"]
            every |= {row["offered"]: ways[row["offered"]] for row in rows}
            kept.append([ways[row["offered"]] for row in rows if row["kept"]])
        return every, kept

    @cached_property
    def _places(self) -> dict[Any, tuple[int, int]]:
        """Where nodes are drawn at every depth: those kept, then those offered."""
        every, kept = self._drawn(len(self.depths))
        names = dict.fromkeys(self.frontier(1)) | names_of([*chain(*kept), *every.values()])
        return layout(as_graph([*names][:DRAWN], every.values()))

    def figure(self, depth: int) -> Figure:
        """The graph around the walk: bold and named what was kept up to this depth, thin what was
        offered and dropped. Nodes keep their places over all depths; those that only a later depth
        offers are pale and have no name.
        """
        (every, kept), places, here = self._drawn(depth), self._places, self.frontier(depth)
        bold, seen = list(chain(*kept)), names_of(every.values())
        new = [name for name in names_of(kept[-1]) if name in places and name not in here]
        stood, joined = names_of(bold), {frozenset(row[::2]) for row in bold}
        # A dropped triple between two names that a kept one joins would hide under it.
        rows = [r for r in every.values() if r in bold or frozenset(r[::2]) not in joined]
        later = [name for name in places if name not in seen and name not in here]
        caption = f"Depth {depth}." + (" Pale, ?: offered at a later depth only." if later else "")
        missing = len(seen.keys() - places)
        caption += f" Not drawn: {missing} names that were offered." if missing else ""
        names = {n: STOOD[n in stood] for n in seen if n in places}
        return draw_graph(
            as_graph([*places], rows), places, caption=caption,
            highlight={"frontier": here, "kept at this depth": new},
            node_groups=names, node_labels=dict.fromkeys(later, "?"),
            edge_labels={(s, t): name for s, name, t in bold},
            paths=[[s, t] for s, _, t in bold if {s, t} <= {*places}], path_name="kept",
        )  # fmt: skip


def names_of(triples: Iterable[Triple]) -> dict[str, None]:
    """The subjects and objects, each once."""
    return dict.fromkeys(name for row in triples for name in row[::2])


def as_graph(names: list[str], triples: Iterable[Triple]) -> Any:  # a networkx graph
    """The triples among these nodes."""
    import networkx as nx

    graph = nx.MultiDiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((s, t, {"name": name}) for s, name, t in triples if {s, t} <= {*names})
    return graph


class WalkStepper(Explorer):
    """A depth, an entity of its frontier, and the relation that the reader follows from there."""

    def __init__(self, method: "Walker", question: str) -> None:
        self.walk = AgentWalk(method, question)
        if not self.walk.depths:
            raise MiniragError(f"there is no walk to show: {self.walk.reason}.")
        super().__init__(Slider("depth", "depth", 1, method.chosen.depth, 1, 1))
        self.changed("depth")

    def changed(self, name: str) -> None:
        """Walk again where the reader chose; offer what the new state has."""
        state, walk = self.state, self.walk
        if name == "relation":
            spot = walk.offered(state["depth"])[state["entity"]][1]
            rows = {**walk.choices, spot: state["relation"]}.items()
            choices = {at: chosen for at, chosen in rows if chosen != AGENT}
            walk = self.walk = AgentWalk(walk.method, walk.question, choices)
        state["depth"] = min(state["depth"], len(walk.depths))
        here = walk.frontier(state["depth"])
        state["entity"] = here[0] if state.get("entity") not in here else state["entity"]
        known, spot = walk.offered(state["depth"])[state["entity"]]
        state["relation"] = walk.choices.get(spot, AGENT)
        options = [("as the agent chooses", AGENT), ("none", ()), *((n, (n,)) for n in known)]
        self.controls["entity"] = Choice("entity", "At", tuple(zip(here, here)), here[0])
        self.controls["relation"] = Choice("relation", "Follow", tuple(options), AGENT)

    def figure(self) -> Figure:
        return self.walk.figure(self.state["depth"])

    def describe(self) -> str:
        depth, walk, by = self.state["depth"], self.walk, self.state["relation"]
        here = f"Depth {depth} of {len(walk.depths)}, frontier: {', '.join(walk.frontier(depth))}"
        chooser = f"At {self.state['entity']} the {by if by == AGENT else 'reader'} chooses"
        rows, (triples, passages) = walk.table(depth), walk.evidence(depth)
        lines, did = [f"{chooser}; at all:"], {"relations": "followed", "entities": "kept"}
        lines += [
            f"  {r['score']:.3f}  {r['offered']} [{r['why'] or did[r['kind']]}]" for r in rows
        ]
        lines += [f"Evidence so far: {len(triples)} triples, {len(passages)} passages"]
        lines += [f"  {' '.join(text.split())[:100]}" for text in (*triples, *passages)]
        return "\n".join([walk.question, here, *lines, walk.summary])

    def html(self) -> str:
        return f"{self.figure().svg}<pre style='{WRAPPED}'>{escape(self.describe())}</pre>"


def walk_stepper(method: "Walker", question: str) -> WalkStepper:
    """The stepper for a walk of ToG or ToG-2; `view()` shows it."""
    return WalkStepper(method, question)
