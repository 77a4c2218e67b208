"""Every task's prompt, parser and offline rule; thousands of broken replies."""

import itertools
import json
import random
import re
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minirag as mr
from minirag.algorithms.voting import normalise_answer
from minirag.core.corpus import Triple
from minirag.core.errors import MiniragError
from minirag.llm.replay import prompt_key
from minirag.methods.pathrag import QUESTION_FIRST
from minirag.prompts import TASKS, Task, find_task
from minirag.prompts.map_reduce import INSTRUCTIONS, best_sentences, content_words
from minirag.prompts.rules import STOP_WORDS, names_in

from .by_hand import best_sentences_by_hand, normalise_answer_by_hand

FIELDS = {
    "passage_entities": {"title": "Selm", "text": "Selm is a port in Veldania."},
    "triples": {"title": "Selm", "text": "Selm is a port in Veldania.", "entities": ("Selm",)},
    "question_entities": {"question": "Where is Selm?"},
    "answer": {"question": "Where is Selm?", "passages": ["Selm\nSelm lies in Veldania."]},
    "full_answer": {"question": "Where is Selm?", "passages": ["Selm\nSelm lies in Veldania."]},
}
LISTS = {
    "passage_entities": "named_entities",
    "question_entities": "named_entities",
    "triples": "triples",
}
NAMES = [
    "Ilse Brandt",
    "Alzheimer's disease",
    '"Zorba" {the} [Greek]',
    "北京大学",
    "São Paulo",
    "a\\b",
    "1,234.5",
    "Łódź\n2",
    "😀 club",
    "ק׳ריית",
    "x: y, z",
]


def items_for(name, rng, count):
    """Distinct well-formed items of a task, as JSON holds them."""
    strings = [f"{rng.choice(NAMES)} {number}" for number in range(3 * count)]
    return (
        [strings[3 * i : 3 * i + 3] for i in range(count)] if name == "triples" else strings[:count]
    )


def values_of(name, items):
    return tuple(
        Triple(*(part.strip() for part in item)) if name == "triples" else item.strip()
        for item in items
    )


def test_the_example_in_a_prompt_is_valid_and_is_sent_before_the_question():
    for name, fields in FIELDS.items():
        task = TASKS[name]
        if not task.example:
            continue
        messages = task.messages(fields)
        assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
        value, dropped = task.parse(task.example[1])
        assert value and not dropped
        assert "Selm" in messages[-1]["content"] and "$" not in messages[-1]["content"]


def test_text_that_looks_like_a_template_or_is_badly_decoded_passes_through():
    content = TASKS["passage_entities"].messages({"title": "$title {x}", "text": "$5 and \ud800."})[
        -1
    ]["content"]
    assert "$title {x}\n$5 and �." in content
    content.encode("utf-8")


def test_a_missing_field_or_an_unknown_task_is_named():
    with pytest.raises(MiniragError, match="'triples' needs the field 'text'"):
        TASKS["triples"].messages({"title": "a", "entities": ()})
    with pytest.raises(MiniragError, match="no task 'poem'; the tasks are: passage_entities"):
        find_task("poem")
    with pytest.raises(MiniragError, match="give it a rule"):
        Task("x", "build", "", "", str, rule=None)


@pytest.mark.parametrize("name", FIELDS)
def test_what_the_rule_writes_the_parser_reads_whole(name):
    value, dropped = TASKS[name].parse(TASKS[name].rule(FIELDS[name]))
    assert value and not dropped


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.text(max_size=300))
def test_rules_take_any_text(title, text):
    fields = {
        "title": title,
        "text": text,
        "entities": (),
        "question": text,
        "passages": [f"{title}\n{text}"],
    }
    for name in FIELDS:
        TASKS[name].parse(TASKS[name].rule(fields))


# Broken replies. Each breakage returns the text, which items must survive, and how many must at
# least be counted as dropped.
PROSE = [
    "Sure, here's what I found: ",
    'The "list" you asked for\n\n',
    "```json\n",
    "<think>maybe [1, 2] or {no}</think>",
    "当然，",
    "It's 6\" long: ",
]


def broken(name, items, rng):
    whole = json.dumps({LISTS[name]: items}, ensure_ascii=rng.random() < 0.5)
    kind = rng.choice(
        ["cut", "doubled", "prose", "types", "comma", "script", "python", "wrapped", "noise"]
    )
    if kind == "cut":
        end = rng.randrange(len(whole))
        kept = [
            item
            for place, item in enumerate(items)
            if len(json_up_to(name, items[: place + 1], whole)) <= end
        ]
        return kind, whole[:end], kept, int(end < len(whole) - 1)
    if kind == "doubled":
        return kind, whole + rng.choice(["", "\n", " and again: "]) + whole, items, 0
    if kind == "prose":
        return (
            kind,
            rng.choice(PROSE)
            + whole
            + rng.choice(["", "\n```", "\nI hope this helps!", " Anything else?"]),
            items,
            0,
        )
    if kind == "types":
        wrong = [
            None,
            True,
            [],
            {},
            "",
            "  ",
            [["a"]],
            {"a": "b"},
            ["a", "b"],
            ["a", "b", "c", "d"],
            ["a", None, "c"],
            [1, [2], 3],
        ]
        extra = [rng.choice(wrong) for _ in range(3)]
        mixed = items + extra
        rng.shuffle(mixed)
        return kind, json.dumps({LISTS[name]: mixed}), [item for item in mixed if item in items], 3
    if kind == "comma":
        return kind, re.sub(r"\]\}$", ",],}", whole), items, 0
    if kind == "script":
        return (
            kind,
            rng.choice(
                ["实体：北京、上海。", "Сущности: Москва", "「東京」", "", " ", "\x00\x01", "أسماء"]
            ),
            [],
            1,
        )
    if kind == "python":
        return kind, repr({LISTS[name]: items}), None, 0
    if kind == "wrapped":
        return (
            kind,
            json.dumps([{"result": {LISTS[name].replace("_", " ").title(): items}}])
            + rng.choice(["", ";"]),
            items,
            0,
        )
    place = rng.randrange(len(whole))
    return (
        kind,
        whole[:place] + rng.choice(list("[]{}\",:\\'\n\x00x")) + whole[place + rng.randrange(2) :],
        None,
        0,
    )


def json_up_to(name, items, whole):
    """The shortest beginning of the reply that holds these items to the end."""
    for ascii_only in (True, False):
        start = json.dumps({LISTS[name]: items}, ensure_ascii=ascii_only)[:-2]
        if whole.startswith(start):
            return start
    raise AssertionError("the reply does not start with its own items")


@pytest.mark.parametrize("name", LISTS)
def test_two_thousand_broken_replies_never_raise_and_what_is_lost_is_counted(name):
    rng = random.Random(20)
    seen = set()
    for _ in range(2000):
        items = items_for(name, rng, rng.randrange(1, 6))
        kind, text, kept, at_least = broken(name, items, rng)
        value, dropped = TASKS[name].parse(text)
        seen.add(kind)
        assert type(value) is tuple and type(dropped) is int
        if kept is not None:
            assert value == values_of(name, kept), (kind, text)
            assert dropped >= at_least and (dropped == at_least or kind != "types"), (kind, text)
            assert dropped == 0 or kind in ("cut", "types", "script"), (kind, text)
        elif kind == "noise":
            lost = len(set(values_of(name, items)) - set(value))
            assert lost <= 1 or dropped >= 1, text
    assert len(seen) == 9


def test_two_thousand_broken_answers_never_raise():
    rng, parse = random.Random(3), TASKS["answer"].parse
    for _ in range(2000):
        good = f"Thought: {rng.choice(NAMES)}.\nAnswer: {rng.choice(NAMES).split(chr(10))[0]}"
        wanted = good.split("Answer: ")[1]
        assert parse(good) == (wanted, 0)
        assert parse(good + "\n" + good) == (wanted, 0)
        assert parse(
            rng.choice(["", "Well. ", "<think>Answer: no</think>"])
            + good.replace("Answer:", "**Answer:**")
        ) == (wanted, 0)
        end = rng.randrange(len(good))
        value, dropped = parse(good[:end])
        assert isinstance(value, str) and dropped == int(not value)
    assert parse("  Selm ") == ("Selm", 0) and parse("") == ("", 1)
    assert parse("Thought: a.\nanswer : yes\nThought: b") == ("yes", 0)


@pytest.mark.parametrize("name", FIELDS)
def test_monstrous_replies_are_read_in_linear_time(name):
    monsters = [
        "[" * 100_000,
        "{" * 100_000,
        '{"a":' * 20_000,
        "[" * 50_000 + "}" * 50_000,
        "[" * 50_000 + "]" * 50_000,
    ]
    monsters += [
        '"' * 100_001,
        '"\\' * 50_000,
        "['" * 50_000,
        ",'x" * 30_000,
        "[" + "9" * 100_000 + "]",
        "[a" * 50_000,
    ]
    monsters += ["answer" + " " * 100_000, "\n" * 100_000, "```" * 30_000, "<think>" * 15_000]
    monsters += [
        "".join(f'{{"named_entities":["{i}"]}}' for i in range(4000)),
        "[" + "\ud800" * 1000 + "]",
        "[" + "'a' " * 30_000,
    ]
    started = time.perf_counter()
    for text in monsters:
        TASKS[name].parse(text)
    assert time.perf_counter() - started < 10  # the naive pattern took minutes for one of them


def test_numbers_are_names_and_a_triple_that_was_cut_is_none():
    assert TASKS["triples"].parse('{"triples": [["A", "founded in", 1911], ["B", "r", "C"')[0] == (
        Triple("A", "founded in", "1911"),
    )
    assert TASKS["passage_entities"].parse('{"named_entities": [1911, 2.5, NaN, "Par') == (
        ("1911", "2.5"),
        2,
    )
    assert TASKS["passage_entities"].parse("{'named_entities': ['Alzheimer's disease', 'B',]}") == (
        ("Alzheimer's disease", "B"),
        0,
    )
    assert TASKS["passage_entities"].parse('{"named_entities": "Paris"}') == ((), 1)
    assert TASKS["passage_entities"].parse('["A", "B", "A"]') == (("A", "B"), 0)
    assert (
        TASKS["triples"].parse('{"triples": [["a","b","c"],["a","b","c"]]}')[0]
        == (Triple("a", "b", "c"),) * 2
    )


# Offline rules.


def ask_rule(name, **fields):
    return TASKS[name].parse(TASKS[name].rule(fields))[0]


REQUESTS = {
    "Tell me about Ronald Fisher": ("Ronald Fisher",),
    "How do I uninstall what pyenv installed?": (),
    "Explain ownership": (),
    "Uninstall pyenv": (),
    "List all rivers.": (),
    "Please list the professors of Selm.": ("Selm",),
    "I'd like to know who founded Acme in Oslo": ("Acme in Oslo",),
    "Can I visit Harrowgate Observatory in 1911?": ("Harrowgate Observatory in 1911",),
    "Could you compare Selm and Carrow?": ("Selm", "Carrow"),
    "Compare Selm with Carrow": ("Selm", "Carrow"),
    "Why was Brandt awarded the Orrin Prize in 1921?": ("Brandt", "Orrin Prize in 1921"),
    "Hello! Don't you know Selm? Thanks. May I ask who O'Neil is?": ("Selm", "O'Neil"),
    "In 1911 Ilse Brandt founded what?": ("1911", "Ilse Brandt"),
    "Who's Ada Lo?": ("Ada Lo",),
    "Wer war Ilse Brandt?": ("Ilse Brandt",),
    "Wer hat Selm in Veldania gegründet?": ("Selm in Veldania",),
    "Können Sie bitte Selm beschreiben?": ("Selm",),
    "wer gründete selm?": ("gründete", "selm"),
    "¿Quién es Ilse Brandt?": ("Ilse Brandt",),
    "Por favor, explica la propiedad.": (),
    "Qui a fondé Selm ?": ("Selm",),
    "请告诉我洛恩诊所的历史": ("洛恩诊所", "历史"),
    "比较北京大学和清华大学": ("北京大学", "清华大学"),
    "tell me about ronald fisher": ("ronald", "fisher"),
}


@pytest.mark.parametrize("question", REQUESTS)
def test_what_opens_a_request_is_no_entity(question):
    assert ask_rule("question_entities", question=question) == REQUESTS[question]
    assert ask_rule("keywords", question=question).low == REQUESTS[question]


@pytest.mark.parametrize(
    "question, names",
    [
        ("Selm is the port of which country?", ("Selm",)),
        ("Brandt's birthplace", ("Brandt",)),
        ("Selm", ("Selm",)),
        ("NASA launched what?", ("NASA",)),
        ("Is the US larger than Selm?", ("US", "Selm")),
        ("Will Smith met whom?", ("Will Smith",)),
        ("Who wrote The Lord of the Rings?", ("Lord of the Rings",)),
        ("Did Alice in Wonderland inspire A. Milne?", ("Alice in Wonderland", "A. Milne")),
        ('Is "Orrin and Selm" by Lenz?', ("Orrin and Selm", "Lenz")),
        ("Who won the 2010 Selm Cup and Euro 2016?", ("2010 Selm Cup", "Euro 2016")),
        (
            "Did the University of Selm in Carrow employ Otto van Lenz?",
            ("University of Selm in Carrow", "Otto van Lenz"),
        ),
    ],
)
def test_names_are_kept_where_a_question_opens_with_one_or_they_hold_small_words(question, names):
    assert ask_rule("question_entities", question=question) == names


def test_the_words_that_open_a_request_are_no_theme_either():
    assert ask_rule("keywords", question="Please compare the harbours of Selm").high == (
        "harbours",
    )
    assert ask_rule("keywords", question="Uninstall pyenv").high == ("Uninstall", "pyenv")


def test_passages_about_one_name_are_joined_by_it():
    def nodes(text):
        return {
            name
            for triple in ask_rule("triples", title="", text=text, entities=())
            for name in (triple.subject, triple.object)
        }

    assert "Acme" in nodes("Then Alice founded Acme in Oslo.") & nodes(
        "Here Acme was bought by Zed Ltd."
    )
    assert nodes("Then Acme left Oslo in 1911.") == {"Acme", "Oslo", "1911"}
    assert nodes("In 1911 Acme won the 1910 Selm Cup, not the Lord of the Rings.") == {
        "1911",
        "Acme",
        "1910 Selm Cup",
        "Lord of the Rings",
    }
    assert nodes("Students of the University of Selm met Otto van Lenz of the Trust.") == {
        "University of Selm",
        "Otto van Lenz",
        "Trust",
    }


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            sorted(STOP_WORDS) + "Selm Brandt U.S. O'Neil 1911 19111 of de the – ' .".split()
        ),
        max_size=12,
    )
)
def test_no_name_is_one_function_word_and_no_name_overlaps_another(words):
    text = " ".join(word.capitalize() if number % 2 else word for number, word in enumerate(words))
    found = names_in(text, text, evidence=bool) if any(letter.isupper() for letter in text) else []
    assert not [text[a:b] for a, b in found if text[a:b].lower() in STOP_WORDS]
    assert all(b <= c for (_, b), (c, _) in itertools.pairwise(found)) and all(
        a < b for a, b in found
    )


def test_any_language_gives_entities_to_start_from():
    assert ask_rule("question_entities", question="谁创立了洛恩诊所？") == ("创立", "洛恩诊所")
    assert "Московский" in ask_rule(
        "question_entities", question="Кто основал Московский университет?"
    )
    assert ask_rule("question_entities", question="who founded the clinic in lorne?") == (
        "founded",
        "clinic",
        "lorne",
    )
    assert ask_rule("question_entities", question="Émile Zola et l'Éducation") == (
        "Émile Zola",
        "Éducation",
    )
    assert "カタカナ" in ask_rule("question_entities", question="「東京」のカタカナは？")
    for question in (
        "من أسس جامعة القاهرة؟",
        "मुंबई में क्या है?",
        "서울대학교는 어디에 있나요?",
        "ใครก่อตั้งมหาวิทยาลัย",
    ):
        assert ask_rule("question_entities", question=question)
    assert ask_rule("question_entities", question="When did it start?") == ()


def test_passage_rules_make_a_small_graph():
    text = "Ilse Brandt was born in Selm. She met Otto Lenz in 1911."
    assert ask_rule("passage_entities", title="Ilse Brandt", text=text) == (
        "Ilse Brandt",
        "Selm",
        "Otto Lenz",
        "1911",
    )
    triples = ask_rule("triples", title="Ilse Brandt", text=text, entities=())
    assert ("Ilse Brandt", "was born in", "Selm") in triples and (
        "Otto Lenz",
        "in",
        "1911",
    ) in triples
    assert all(triple.subject != triple.object for triple in triples)
    lower = ask_rule(
        "triples", title="", text="the clinic in lorne employs marta weiss", entities=()
    )
    assert ("clinic", "in", "lorne") in lower


def test_the_answer_rule_picks_a_sentence_and_a_fitting_span():
    passages = [
        "Selm\nSelm is a port. It has 3,200 people.",
        "Ilse Brandt\nIlse Brandt was born in Selm on 3 May 1870. She liked tea.",
    ]
    assert ask_rule("answer", question="Where was Ilse Brandt born?", passages=passages) == "Selm"
    assert (
        ask_rule("answer", question="When was Ilse Brandt born?", passages=passages) == "3 May 1870"
    )
    assert ask_rule("answer", question="How many people has Selm?", passages=passages) == "3,200"
    assert (
        ask_rule(
            "answer",
            question="Who teaches law?",
            passages=["Law\nSince 1999 law has been taught by Ada Renner."],
        )
        == "Ada Renner"
    )
    assert ask_rule("answer", question="Qqq?", passages=passages) == "unknown"
    assert ask_rule("answer", question="Who?", passages=[]) == "unknown"
    assert content_words("北京大学") == {"北京", "京大", "大学"}


def test_a_recording_of_the_answers_still_fits():
    """What an answer is stored under: a recording made before must be found again."""
    task, fields = (
        find_task("answer"),
        {"question": "Where was Ada born?", "passages": ["Ada\nAda was born in Selm."]},
    )
    assert prompt_key(task, task.messages(fields)) == "64a94dcf087b441f4c8981bd884a31ab"
    first = replace(task, template=QUESTION_FIRST)
    assert prompt_key(first, first.messages(fields)) == "5621ffe4e0db48061f71c4cd980c3008"


def test_two_readers_differ_in_what_binds_them_to_the_passages():
    closed, opened = (find_task(name) for name in ("answer", "answer_open"))
    assert "nothing else" in closed.system and "from the passages" in closed.system
    assert "from" not in opened.system and (opened.example, opened.parse) == (
        closed.example,
        closed.parse,
    )
    assert opened.rule(FIELDS["answer"]) == closed.rule(FIELDS["answer"]), (
        "a rule knows nothing to add"
    )
    full, reduced = find_task("full_answer"), find_task("reduce_answer")
    assert (
        INSTRUCTIONS in full.system
        and INSTRUCTIONS in reduced.system
        and "short" not in full.system
    )


def test_a_full_answer_by_rule_is_an_extract_with_its_sources():
    rows = [f"n{i}\nThe mill of Selm burnt in {1900 + i}. It was rebuilt." for i in range(9)]
    said = find_task("full_answer").rule(
        {"question": "When did the mill of Selm burn?", "passages": rows}
    )
    notice, *lines = said.splitlines()
    assert "no language model" in notice and lines == [
        f"- The mill of Selm burnt in {1900 + i}. [n{i}]" for i in range(4)
    ]
    alone = find_task("full_answer").rule(
        {"question": "Who sings?", "passages": ["[n1]\nSelm", "SELM — PORT: Selm has one."]}
    )
    assert "No sentence shares a word" in alone


def test_the_thought_prompt_shows_a_whole_chain():
    task = find_task("thought")
    assert (
        task.system.endswith("So the answer is: Selm")
        and "Thoughts so far: Harrowgate" in task.system
    )
    asked = task.prompt({"question": "Who?", "passages": ["p"], "thoughts": ["One.", "Two."]})
    assert asked.endswith("Question: Who?\nThoughts so far: One. Two.")


CITED_TWICE = (
    "# Head\nThe ferry [Data: Reports (1)] sank .  It was Ada's [a] [b] [c].\n\n东京大学。"
)


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["professors", "harbor_news"])
def test_texts_kept_in_sentences_are_quoted_as_texts_read_anew(corpus):
    """Twice, so that the second time nothing is cut."""
    texts = mr.load_corpus(corpus)
    units = [("cited", CITED_TWICE), *((each.id, each.passage) for each in texts.chunks)]
    asked = ["", "Whose ferry sank?", "东京大学", *(each.text for each in texts.questions)]
    for question in (*asked, *asked):
        assert best_sentences(question, units) == best_sentences_by_hand(question, units)


@given(st.text(max_size=300))
def test_answers_are_normalised_letter_by_letter(text):
    assert normalise_answer(text) == normalise_answer_by_hand(text)
