"""What ToG and ToG-2 ask while they walk: which relations to follow, how well the nodes behind them
fit, which topics to start from, and whether the evidence is enough.

The formats of the replies are those of the released codes. The rules look for the words of the
question that neither the node nor the triples on the way to it hold yet.

Differs from the released codes in: a line that cannot be read is dropped, there an unreadable score
loses the whole reply; a brace is no part of a relation's name; an empty list of topics keeps all.
"""

import json
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from .json_replies import LONGEST, THOUGHT, is_array, read_text, read_values
from .map_reduce import stems
from .task import Fields, Task

LINE = re.compile(r"\{([^(){}]*)\(Score:\s+([0-9.]+)\)\}")
ENTITY = re.compile(r"^Entity[ \t]*\d+:([^\n]*)$", re.MULTILINE)
DECIMAL = re.compile(r"\d+\.\d+")
BRACED = re.compile(r"\{([^{}\n]*)\}")
YES_OR_NO = re.compile(r"\W*(yes|no)\b\W*", re.IGNORECASE)
READABLE = str.maketrans("(){};", "[][],")  # what the format of the replies has no room for
FIRST_WORDS = 100
LONGEST_CLUE = 500  # characters

Scored = tuple[str, float]  # a relation, and how useful it is


class Verdict(NamedTuple):
    """sufficient: the evidence is enough. mentions_yes: "yes" is one of the reply's first 100
    words. text: the answer, or the clue to look for next.
    """

    sufficient: bool = False
    mentions_yes: bool = False
    text: str = ""


def relation_key(name: str) -> str:
    """A relation as prompts show it and replies are compared with it."""
    plain = name.replace("wiki.relation.", "").replace("_", " ").translate(READABLE)
    return " ".join(plain.split())


def read_relations(text: str) -> tuple[tuple[Scored, ...], int]:
    """Every `{relation (Score: 0.7)}` of a reply, in its order."""
    found, dropped = [], 0
    for name, score in LINE.findall(THOUGHT.sub(" ", text[:LONGEST])):
        try:
            number = float(score)
        except ValueError:
            number = float("inf")
        readable = name.strip() and name[-1].isspace() and ";" not in name and number < 1e6
        found += [(relation_key(name), number)] if readable else []
        dropped += not readable
    return tuple(found), dropped + (not found and not dropped)


def read_relations_of_all(text: str) -> tuple[tuple[tuple[str, str, float], ...], int]:
    """(entity, relation, score) of every relation under a line `Entity 1: name`."""
    before, *parts = ENTITY.split(THOUGHT.sub(" ", text[:LONGEST]))
    found, dropped = [], len(LINE.findall(before))
    for entity, lines in zip(parts[::2], parts[1::2]):
        scored, lost = read_relations(lines)
        found += [(entity.strip(), *row) for row in scored]
        dropped += lost
    return tuple(found), dropped + (not found and not dropped)


def read_scores(text: str) -> tuple[tuple[float, ...], int]:
    """Every decimal number of a reply; "1" is none, "1.0" is."""
    found = DECIMAL.findall(THOUGHT.sub(" ", text[:LONGEST]))
    numbers = tuple(number for number in map(float, found) if number < 1e6)
    return numbers, len(found) - len(numbers) + (not found)


def read_topics(text: str) -> tuple[tuple[str, ...], int]:
    """The values of a JSON object, or the items of an array, each once."""
    values, objects = read_values(text)
    items = [value for pairs in objects for _, value in pairs]
    items += [item for value in values if is_array(value) for item in value]
    names = tuple(dict.fromkeys(filter(None, map(read_text, items))))
    return names, int(not names)


def read_verdict(text: str) -> tuple[Verdict, int]:
    """Sufficient where the first braces hold yes, or where a reply without braces opens with it."""
    text = THOUGHT.sub(" ", text[:LONGEST])
    first = first_braced(text).replace(" ", "").lower()
    opening, braced = YES_OR_NO.match(text), BRACED.findall(text)
    told = opening[1].lower() if opening and "}" not in text else first
    words = re.findall(r"\w+(?:-\w+)*", " ".join(text.split()[:FIRST_WORDS]).lower())
    said = braced[1] if len(braced) > 1 else YES_OR_NO.sub("", text, count=1)
    said = " ".join(said.split())[:LONGEST_CLUE]
    return Verdict(told == "yes", "yes" in words, said), int(told not in ("yes", "no"))


def first_braced(text: str) -> str:
    """What stands between the first { and the first }, if they come in this order."""
    start, end = text.find("{"), text.find("}")
    return text[start + 1 : end].strip() if -1 < start < end else ""


def lacking(question: str, known: Iterable[str]) -> set[str]:
    """The words of the question that are not known yet, or all of them where none is left."""
    words = stems(question)
    return words - stems(" ".join(known)) or words


def fits(wanted: set[str], texts: Sequence[str], similarities: Sequence[float]) -> list[float]:
    """For each text the share of its words that are wanted, or its similarity where that is
    higher: from 0 to 1.
    """
    found = []
    for text, similarity in zip(texts, similarities):
        words = stems(text)
        found.append(min(1.0, max(0.0, similarity, len(words & wanted) / max(1, len(words)))))
    return found


def relations_by_rule(fields: Fields) -> str:
    """The relations whose words the question still lacks, or those most like it."""
    wanted = lacking(fields["question"], [fields["entity"], *fields["found"]])
    relations = fields["relations"]
    scored = zip(relations, fits(wanted, relations, fields["similarities"]))
    best = sorted(scored, key=lambda row: -row[1])[: fields["width"]]
    return "\n".join(f"{{{name} (Score: {score:.2f})}}" for name, score in best)


def relations_of_all_by_rule(fields: Fields) -> str:
    """The same for every entity, with the words of the clue among those that are wanted."""
    asked, lines = f"{fields['question']} {fields['clue']}", []
    rows = enumerate(zip(fields["entities"], fields["similarities"]), start=1)
    for number, ((entity, relations), cosines) in rows:
        one = {"question": asked, "entity": entity, "relations": relations, "similarities": cosines}
        lines += [f"Entity {number}: {entity}", relations_by_rule({**fields, **one})]
    return "\n".join(lines)


def scores_by_rule(fields: Fields) -> str:
    """How well each candidate fits what the question still lacks; together they make 1."""
    known = [fields["entity"], fields["relation"], *fields["found"]]
    fit = fits(lacking(fields["question"], known), fields["candidates"], fields["similarities"])
    return ", ".join(f"{each / (sum(fit) or 1):.4f}" for each in fit)


def topics_by_rule(fields: Fields) -> str:
    """The topics that share a word with the question, or all of them."""
    asked, topics = stems(fields["question"]), fields["topics"]
    kept = [name for name in topics if stems(name) & asked] or topics
    return json.dumps({str(topics.index(name) + 1): name for name in kept}, ensure_ascii=False)


def enough_by_rule(fields: Fields) -> str:
    """Yes where every word of the question stands in the evidence; no with the words that do
    not.
    """
    asked, evidence = fields["question"], [*fields["triples"], *fields.get("passages", ())]
    missing = stems(asked) - stems(" ".join(evidence))
    if not missing and evidence:
        return "{Yes}. By rule, no language model: every word of the question was found."
    words = [word for word in re.findall(r"\w+", asked) if stems(word) & missing]
    return f"{{No}}. {{{' '.join(words) or ' '.join(BRACED.sub('', asked).split())}}}"


def show_relations(fields: Fields) -> Fields:
    """One relation a line."""
    return {**fields, "relations": "\n".join(f"- {name}" for name in fields["relations"])}


def show_relations_of_all(fields: Fields) -> Fields:
    """Every entity with its relations under it."""
    lines = []
    for number, (entity, relations) in enumerate(fields["entities"], start=1):
        lines += [f"Entity {number}: {entity}", *(f"- {name}" for name in relations)]
    return {**fields, "entities": "\n".join(lines), "clue": fields["clue"] or "(none yet)"}


def show_candidates(fields: Fields) -> Fields:
    """The candidates in one line."""
    return {**fields, "candidates": "; ".join(fields["candidates"])}


def show_topics(fields: Fields) -> Fields:
    """The topics as a JSON object."""
    numbered = dict(enumerate(fields["topics"], start=1))
    return {**fields, "topics": json.dumps(numbered, ensure_ascii=False)}


def show_evidence(fields: Fields) -> Fields:
    """Triples one a line, passages a blank line apart, the clue if there is one."""
    passages = "\n\n".join(fields.get("passages", ())) or "(none)"
    shown = {"passages": passages, "clue": fields.get("clue") or "(none yet)"}
    return {**fields, **shown, "triples": "\n".join(fields["triples"])}


walk_task = partial(Task, stage="retrieve", max_tokens=256)
FORMAT = (
    "Score every relation that you choose between 0 and 1; the scores sum to 1. Copy its name"
    " letter by letter. One relation a line, in this form: 1. {name of the relation (Score: 0.6)}:"
    " a short reason."
)
CHOOSE_RELATIONS = walk_task(
    name="choose_relations", parse=read_relations, rule=relations_by_rule, show=show_relations,
    system=(
        "You help to answer a question by walking over a knowledge graph. You stand at an entity"
        f" and choose which of its relations lead towards the answer. {FORMAT}"
    ),
    template="""Question: $question
Entity: $entity
Relations:
$relations

Choose at most $width of them.""",
)  # fmt: skip
CHOOSE_RELATIONS_OF_ALL = walk_task(
    name="choose_relations_of_all", parse=read_relations_of_all, max_tokens=512,
    rule=relations_of_all_by_rule, show=show_relations_of_all,
    system=(
        "You help to answer a question by walking over a knowledge graph from several entities at"
        " once. For each of them choose the relations that lead to what is still missing, with all"
        " of them in mind. Repeat the line of an entity as it stands (Entity 1: its name), then"
        f" write the relations that you choose for it. {FORMAT}"
    ),
    template="""Question: $question
Clue: $clue

$entities

Choose at most $width relations for each entity.""",
)  # fmt: skip
SCORE_ENTITIES = walk_task(
    name="score_entities", parse=read_scores, rule=scores_by_rule, show=show_candidates,
    system=(
        "You judge how much each candidate entity helps to answer a question. Reply with one"
        " decimal number between 0.0 and 1.0 for every candidate, in their order, separated by"
        " commas, and nothing else; together they make 1.0."
    ),
    template="Question: $question\nEntity: $entity\nRelation: $relation\nCandidates: $candidates",
)  # fmt: skip
EXAMINE_TRIPLES = walk_task(
    name="examine_triples", parse=read_verdict, rule=enough_by_rule, show=show_evidence,
    system=(
        "You judge whether a question can be answered from the triples that were found, together"
        " with what you know. Reply with {Yes} or {No}, then one sentence that says why."
    ),
    template="Question: $question\nTriples:\n$triples",
)  # fmt: skip
PRUNE_TOPICS = walk_task(
    name="prune_topics", parse=read_topics, rule=topics_by_rule, show=show_topics,
    system=(
        "You choose from which entities of a question a search in a knowledge graph should start:"
        " those that lead to its answer. Reply with a JSON object of the entities that you keep,"
        " with their numbers, and nothing else."
    ),
    template="Question: $question\nEntities: $topics",
)  # fmt: skip
EXAMINE = walk_task(
    name="examine", parse=read_verdict, rule=enough_by_rule, show=show_evidence,
    system=(
        "You judge whether triples and passages are complete and consistent enough to answer a"
        " question. If they are, reply {Yes} and then the answer in braces: {Yes}. {answer}. If"
        " they are not, reply {No} and then, in braces, one short query for what is missing, made"
        " of the question and what was found: {No}. {query}."
    ),
    template="""Question: $question
Clue so far: $clue
Triples:
$triples

Passages:

$passages""",
)  # fmt: skip
WALK_TASKS = (
    *(CHOOSE_RELATIONS, CHOOSE_RELATIONS_OF_ALL, SCORE_ENTITIES),
    *(EXAMINE_TRIPLES, PRUNE_TOPICS, EXAMINE),
)
