"""Delimited tuples: what a model may do to them, and what must survive it."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minirag.prompts import TASKS
from minirag.prompts.records import (
    END,
    ClaimRecord,
    EntityRecord,
    RelationshipRecord,
    fields_of,
    read_claims,
    read_instances,
    read_instances_as_released,
    write_records,
)
from minirag.prompts.rules import guess_type, names_in

NAMES = [
    "Ilse Brandt",
    "Alzheimer's disease",
    "北京大学",
    "Lin Yuzhen (林毓珍)",
    "São Paulo",
    "U.S. (1911)",
    "A & B",
    "x: y, z",
    "#1 club",
    "😀",
]
FIELDS = {
    "title": "Selm",
    "text": "Selm is a port in Veldania. Ilse Brandt reported in 1911 that Selm sinks.",
    "entities": ("Selm",),
}
FIELDS |= {
    "records": END,
    "name": "Selm",
    "descriptions": ("A port.", "A port. It sinks."),
    "texts": ("Selm sinks. Oh.", "Selm is a port."),
}
OURS = [
    "elements",
    "rich_elements",
    "glean_check",
    "gleaning",
    "claims",
    "summarise",
    "cluster_summary",
]


def records_for(rng, count):
    """Distinct records of both kinds."""
    made = []
    for number in range(count):
        a, b = f"{rng.choice(NAMES)} {number}", f"{rng.choice(NAMES)} {number + 50}"
        said = f"{rng.choice(NAMES)} is said of it (perhaps). {number}"
        made.append(
            EntityRecord(a, "person", said)
            if rng.random() < 0.6
            else RelationshipRecord(a, b, said, float(rng.randrange(1, 11)))
        )
    return made


def split(records):
    return tuple(r for r in records if isinstance(r, EntityRecord)), tuple(
        r for r in records if isinstance(r, RelationshipRecord)
    )


def broken(records, rng):
    """(kind, reply, records that must survive or None, number that must be counted as dropped or
    None).
    """
    whole = write_records(records)
    kind = rng.choice(
        [
            "cut",
            "no end",
            "prose",
            "no separator",
            "newlines",
            "bad record",
            "untagged",
            "quotes",
            "fence",
            "strength",
            "script",
            "noise",
        ]
    )
    if kind == "cut":
        end = rng.randrange(1, len(whole) - len(END))
        kept = [
            r
            for place, r in enumerate(records)
            if len(write_records(records[: place + 1])) - len(END) - 4 <= end
        ]
        return kind, whole[:end], kept, None
    if kind == "no end":
        return kind, whole.removesuffix(END).rstrip("\n#"), records, 0
    if kind == "prose":
        before, after = (
            rng.choice(["Sure (as asked): ", "Entities:\n", "<think>(x<|>y)</think>"]),
            rng.choice(["", "\nAnything else (more)?"]),
        )
        return kind, before + whole + after, records, 0
    if kind == "no separator":
        return kind, whole.replace("\n##\n", rng.choice(["", "\n", " ", "\n\n"])), records, 0
    if kind == "newlines":
        return kind, whole.replace("<|>", "\n<|>\n"), records, 0
    if kind == "bad record":
        bad = rng.choice(
            [
                '("entity"<|>only a name)',
                '("relationship"<|>A<|>B)',
                '("planet"<|>a<|>b<|>c)',
                '("entity"<|><|>t<|>d)',
                "<|><|>",
            ]
        )
        place = rng.randrange(len(records) + 1)
        parts = [write_records([r]).removesuffix("\n##\n" + END) for r in records]
        return kind, "\n##\n".join([*parts[:place], bad, *parts[place:], END]), records, 1
    if kind == "untagged":
        return (
            kind,
            whole.replace('"entity"', "entity").replace('"relationship"', "Relationship"),
            records,
            0,
        )
    if kind == "quotes":
        return (
            kind,
            whole.replace('"entity"', "“entity”").replace('"relationship"', "'relationship'"),
            records,
            0,
        )
    if kind == "fence":
        return kind, "```text\n" + whole + "\n```", records, 0
    if kind == "strength":
        changed = [
            r._replace(strength=1.0) if isinstance(r, RelationshipRecord) else r for r in records
        ]
        lines = [
            f'("relationship"<|>{r.source}<|>{r.target}<|>{r.description}'
            f"<|>{rng.choice(['strong', '', 'nan', '-'])})"
            for r in split(records)[1]
        ]
        lines = [write_records([r]).removesuffix("\n##\n" + END) for r in split(records)[0]] + lines
        return kind, "##".join([*lines, END]), changed, 0
    if kind == "script":
        return (
            kind,
            rng.choice(
                [
                    "实体：北京、上海。",
                    "",
                    " ",
                    "\x00",
                    "I cannot help with that.",
                    "<|>",
                    "##",
                    "()",
                ]
            ),
            [],
            1,
        )
    place = rng.randrange(len(whole))
    return (
        kind,
        whole[:place] + rng.choice(list('()<|>#"\n\x00x')) + whole[place + rng.randrange(2) :],
        None,
        None,
    )


def test_two_thousand_broken_replies_never_raise_and_what_is_lost_is_counted():
    rng, seen = random.Random(7), {}
    for _ in range(2000):
        records = records_for(rng, rng.randrange(1, 6))
        kind, text, kept, lost = broken(records, rng)
        found, dropped = read_instances(text)
        seen[kind] = seen.get(kind, 0) + 1
        assert found.text == text and type(dropped) is int
        if kept is not None:
            assert (found.entities, found.relationships) == split(kept), (kind, text)
        if lost is not None:
            assert dropped == lost, (kind, text)
        if kind == "cut":  # a cut between two records leaves no trace, one within a record does
            rest = text[len(write_records(kept)) - len(END) - 4 :] if kept else text
            assert dropped == int("<|>" in rest or not kept), text
        if kind == "noise":
            gone = set(records) - set(found.entities + found.relationships)
            assert len(gone) <= 2, text
    assert len(seen) == 12 and min(seen.values()) > 100


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            list('(<|>#"entityrla ship)19é\n')
            + ["<|>", "##", END, '("entity"', '("entity"<|>"Ada"<|>"person"<|>"A painter.")##']
        ),
        max_size=80,
    )
)
def test_any_text_is_read_by_every_parser(pieces):
    text = "".join(pieces)
    for name in OURS:
        _value, dropped = TASKS[name].parse(text)
        assert dropped >= 0
    read_instances_as_released(text)
    assert all(isinstance(field, str) for record in fields_of(text)[0] for field in record)


def test_monstrous_replies_are_read_in_linear_time():
    monsters = [
        "(" * 200_000,
        ")" * 200_000,
        "<|>" * 60_000,
        "##" * 100_000,
        '("entity"<|>' * 20_000,
        END * 20_000,
        ") (" * 60_000,
    ]
    monsters += [
        '("entity"<|>a<|>b<|>c)' * 20_000,
        '("entity"<|>a<|>b<|>' + "(" * 100_000,
        ")" + " " * 100_000,
        "<think>" * 20_000,
    ]
    started = time.perf_counter()
    for text in monsters:
        read_instances(text), read_claims(text)
    assert time.perf_counter() - started < 10


FIRST = '("entity"<|>A<|>person<|>one)##("relationship"<|>A<|>B<|>they met<|>9)' + END
GLEANED = '("entity"<|>C<|>person<|>two)##("entity"<|>D<|>person<|>three)' + END


def test_replies_glued_together_lose_a_record_and_a_strength():
    """Worked example of the gleaning join: the released reading gives {A, D} and weight 1, the
    intent {A, C, D} and 9.
    """
    glued, _dropped = read_instances_as_released(FIRST + GLEANED)
    assert [e.name for e in glued.entities] == ["A", "D"] and glued.relationships[0].strength == 1.0
    meant, lost = read_instances(FIRST + "\n" + GLEANED)
    assert (
        [e.name for e in meant.entities] == ["A", "C", "D"]
        and meant.relationships[0].strength == 9.0
        and not lost
    )
    assert read_instances(FIRST + GLEANED)[0].entities == meant.entities


def test_the_released_reading_drops_what_is_not_tagged_in_plain_quotes():
    found, dropped = read_instances_as_released(
        '(entity<|>A<|>t<|>d)##("entity"<|>B<|>t<|>d)##("relationship"<|>A<|>B<|>met)##'
    )
    assert [e.name for e in found.entities] == ["B"] and not found.relationships and dropped == 2


def test_a_description_may_span_lines_and_hold_escapes_and_brackets():
    (entity,), _, _ = read_instances(
        '("entity"<|>"A&amp;B"<|>org<|>One (1)\nline.\x07 Two.)##' + END
    )[0]
    assert entity == EntityRecord("A&B", "org", "One (1) line. Two.")


@pytest.mark.parametrize(
    "written, strength",
    [
        ("9", 9.0),
        (" 7.5 ", 7.5),
        ("8/10", 8.0),
        ("strong", 1.0),
        ("-3", 1.0),
        ("inf", 1.0),
        ("0", 1.0),
    ],
)
def test_a_strength_that_is_no_number_counts_one(written, strength):
    assert (
        read_instances(f'("relationship"<|>A<|>B<|>d<|>{written})')[0].relationships[0].strength
        == strength
    )


def test_rich_records_have_keywords_and_content_keywords_are_no_loss():
    text = (
        '("relationship"<|>A<|>B<|>d<|>power, trade<|>8)##("content_keywords"<|>all, of, '
        'it)##("relationship"<|>A<|>B<|>d<|>trade)##' + END
    )
    found, dropped = TASKS["rich_elements"].parse(text)
    assert [(r.keywords, r.strength) for r in found.relationships] == [
        ("power, trade", 8.0),
        ("trade", 1.0),
    ] and not dropped


def test_claims_have_eight_fields_and_missing_ones_are_empty():
    full = ClaimRecord("A", "B", "FRAUD", "TRUE", "1911", "1912", "A did it.", "He did it.")
    text = (
        write_records([full]).removesuffix(END) + "(A<|>NONE<|>FRAUD)##(<|>x<|>y)##(A<|>B)##" + END
    )
    assert read_claims(text) == ((full, ClaimRecord("A", "", "FRAUD")), 2)
    assert read_claims(END) == ((), 0) and read_claims("nothing to report") == ((), 1)
    assert read_claims('("claim"<|>A<|>B<|>FRAUD)')[0] == (ClaimRecord("A", "B", "FRAUD"),)


@pytest.mark.parametrize(
    "reply, missed, dropped",
    [
        ("YES", True, 0),
        ("No.", False, 0),
        ("**Y**", True, 0),
        ("n", False, 0),
        ("Perhaps", False, 1),
        ("", False, 1),
    ],
)
def test_the_check_takes_the_first_yes_or_no(reply, missed, dropped):
    assert TASKS["glean_check"].parse(reply) == (missed, dropped)


@pytest.mark.parametrize("name", OURS)
def test_prompts_show_all_fields_and_rules_write_what_parsers_read(name):
    task = TASKS[name]
    messages = task.messages(FIELDS)
    assert "Selm" in messages[-1]["content"] and "$" not in messages[-1]["content"]
    value, dropped = task.parse(task.rule(FIELDS))
    assert not dropped and (value or name in ("glean_check", "gleaning"))


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.text(max_size=300))
def test_rules_take_any_text(title, text):
    fields = {
        **FIELDS,
        "title": title,
        "text": text,
        "entities": (title,),
        "descriptions": (title, text),
        "texts": (title, text),
    }
    for name in OURS:
        _value, dropped = TASKS[name].parse(TASKS[name].rule(fields))
        if name in ("elements", "rich_elements", "claims", "gleaning"):
            assert not dropped


def ask(task, **fields):
    return TASKS[task].parse(TASKS[task].rule(fields))[0]


def test_the_rule_lists_names_types_and_the_sentences_they_stand_in():
    found = ask(
        "elements",
        title="Ilse Brandt",
        text="She met Otto Lenz at Selm in 1911. Students of the University of Selm love Otto "
        "Lenz.",
    )
    assert {e.name: e.type for e in found.entities} == {
        "Ilse Brandt": "person",
        "Otto Lenz": "person",
        "Selm": "geo",
        "University of Selm": "organization",
    }
    assert found.entities[1].description.count(".") == 2
    assert [(r.source, r.target, r.strength) for r in found.relationships][:2] == [
        ("Ilse Brandt", "Otto Lenz", 1.0),
        ("Otto Lenz", "Selm", 1.0),
    ]
    twice = ask("elements", title="", text="Ada Lo met Ben Ro. Ben Ro left Ada Lo.")
    assert [r.strength for r in twice.relationships] == [2.0]


def test_entity_types_and_examples_change_prompt_and_rule():
    text = "Otto Lenz works at the University of Selm."
    assert [
        e.name for e in ask("elements", title="", text=text, entity_types=("person",)).entities
    ] == ["Otto Lenz"]
    prompt = TASKS["elements"].prompt(
        {
            "text": text,
            "entity_types": ("gene", "protein"),
            "examples": (("TP53 binds MDM2.", "THE RECORDS"),),
        }
    )
    assert "gene, protein" in prompt and "THE RECORDS" in prompt and "Harrowgate" not in prompt
    assert "organization, person" in TASKS["elements"].prompt(
        {"text": text}
    ) and "Harrowgate" in TASKS["elements"].prompt({"text": text})


@pytest.mark.parametrize(
    "name, before, kind",
    [
        ("1911", "", "date"),
        ("May", "in ", "date"),
        ("University of Selm", "", "organization"),
        ("Kittering Expedition", "the ", "event"),
        ("Anchor Street", "", "geo"),
        ("Selm", "was born in ", "geo"),
        ("Dr Ilse Brandt", "", "person"),
        ("Brandt", "said Dr ", "person"),
        ("Ilse Brandt", "", "person"),
        ("Selm", "", "other"),
        ("Lost Hour", "the ", "other"),
    ],
)
def test_types_follow_visible_cues(name, before, kind):
    assert guess_type(name, before) == kind


def test_names_part_at_years_and_small_words_and_sentence_openers_are_none():
    text = (
        "Born in Selm, Brandt joined the University of Selm in 1911. Students liked "
        "Brandt's lectures. Brandt left."
    )
    first = text[:59]
    assert [first[a:b] for a, b in names_in(first, text)] == [
        "Selm",
        "Brandt",
        "University of Selm",
        "1911",
    ]
    second = text[60:94]
    assert [second[a:b] for a, b in names_in(second, text)] == ["Brandt"]
    assert names_in("the clinic in lorne", "the clinic in lorne") == [(4, 10), (14, 19)]


def test_the_check_says_no_after_the_rule_and_yes_while_a_name_is_missing():
    fields = {"title": "", "text": "Ada Lo met Ben Ro in Selm."}
    everything = TASKS["elements"].rule(fields)
    assert (
        ask("glean_check", **fields, records=everything) is False
        and not ask("gleaning", **fields, records=everything).entities
    )
    partial = write_records([EntityRecord("Ada Lo", "person", "x")])
    assert ask("glean_check", **fields, records=partial) is True
    gleaned = ask("gleaning", **fields, records=partial)
    assert [e.name for e in gleaned.entities] == ["Ben Ro", "Selm"] and len(
        gleaned.relationships
    ) == 2


def test_claims_by_rule_are_dated_or_reported_sentences_and_judge_nothing():
    text = "Ada Lo founded Selm in 1911 and left it in 1920. Ben Ro denied that. Ben Ro likes tea."
    dated, reported = ask("claims", title="", text=text, entities=("Ada Lo", "Ben Ro", "Selm"))
    assert (dated.subject, dated.object, dated.type, dated.start, dated.end) == (
        "Ada Lo",
        "Selm",
        "DATED",
        "1911",
        "1920",
    )
    assert (reported.subject, reported.type, reported.status) == ("Ben Ro", "REPORTED", "")


def test_summaries_by_rule_are_distinct_sentences_up_to_the_limit():
    assert (
        ask("summarise", name="A", descriptions=("One. Two.", "Two. Three.")) == "One. Two. Three."
    )
    assert (
        ask("summarise", name="A", descriptions=("One two three. Four five.", "Six."), max_tokens=4)
        == "One two three."
    )
    assert (
        ask("cluster_summary", texts=("A one. A two.", "B one."), max_tokens=100)
        == "A one. B one. A two."
    )
