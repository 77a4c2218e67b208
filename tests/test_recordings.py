"""The kit's recordings: they hold exactly what is asked, their request files can be written again
byte for byte, and what their cards claim is true.
"""

import json
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import minirag as mr
from minirag.core.files import cache_folder, read_jsonl
from minirag.corpora.shipped_and_folders import shipped
from minirag.evaluate import exact_match
from minirag.llm import load_llm
from minirag.llm.recorded import all_recordings, recording
from minirag.reproduce import answers, judged
from minirag.workshop import recorded_runs, recordings
from minirag.workshop.recorded_runs import RUNS, Request, requests_of
from minirag.workshop.recordings import differing, hashes, read_replies, rebuilt

ANSWERING = ("answer", "answer_open", "full_answer", "direct", "chain_of_thought")
MARKS = ('"gold"', '"answers"', "gold passage", "accepted answer", "expected answer")


def broken_claims(files, replies):
    """Every claim of the cards that a request file breaks: a question that stands twice in a file,
    a closed-book prompt beside passages of its corpus, a question's gold passages or accepted
    answers named as such, or another answer in a prompt that asks for one.
    """
    texts = {key: reply for key, reply in replies.items() if len(reply) > 60}
    found = []
    for name, requests in files.items():
        about = Counter(request.about for request in requests)
        found += [f"{name}: {text!r} stands {n} times" for text, n in about.items() if n > 1]
        kinds = {(request.part, request.closed_book) for request in requests}
        mixed = {part for part, _ in kinds if {(part, True), (part, False)} <= kinds}
        found += [f"{name}: closed-book prompts beside passages of {part}" for part in mixed]
        for request in requests:
            shown = "\n".join(message["content"] for message in request.messages)
            marks = [mark for mark in MARKS if mark in shown.lower()]
            if request.task.name in ANSWERING:
                marks += [key for key, reply in texts.items() if reply in shown]
            found += [f"{name}: {request.key} shows {mark}" for mark in marks]
    return found


def read_recording(part):
    return list(read_jsonl(shipped(f"recordings/{part}.jsonl")))


PARTS = [
    pytest.param(part, marks=pytest.mark.needs(part)) if part == "musique_train" else part
    for part in RUNS
]


@pytest.fixture(scope="module")
def encoder():
    return mr.load_encoder("minilm")


@contextmanager
def with_kept_vectors():
    """An empty cache folder, but for the vectors: of texts that were encoded already."""
    (cache_folder() / "embeddings").mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        (Path(folder) / "embeddings").symlink_to((cache_folder() / "embeddings").resolve())
        yield folder


@pytest.fixture(scope="module")
def requests(encoder):
    """Every prompt of every part whose texts are here, found by running the parts; without the row
    of token vectors over MuSiQue, which `test_all_of_musique...` runs.
    """
    found = {}

    def of(part) -> list[Request]:
        if part not in found:
            replies = {row["key"]: row["reply"] for row in read_recording(part)}
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(recorded_runs, "TemporaryDirectory", with_kept_vectors)
                rows = [row for row in answers.MUSIQUE if row.name != "colbert"]
                patch.setitem(answers.PARTS, "musique_train", tuple(rows))
                found[part] = requests_of(part, replies, encoder)
        return found[part]

    return of


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(part, marks=pytest.mark.slow)  # over a minute of one core
        if part == "harbor_news"
        else pytest.param(part, marks=[pytest.mark.needs(part), pytest.mark.slow])
        if part == "musique_train"
        else part
        for part in RUNS
    ],
)
def test_a_recording_holds_every_prompt_that_is_asked_and_no_other(part, requests):
    recorded = {row["key"] for row in read_recording(part)}
    asked = {request.key for request in requests(part)}
    assert asked <= recorded
    # MuSiQue: one prompt for each of the 50 questions of the row that is left out.
    assert len(recorded - asked) <= (50 if part == "musique_train" else 0)


@pytest.mark.slow  # token vectors of 1,890 passages are not kept: over a minute of one core
@pytest.mark.needs("musique_train")
def test_all_of_musique_is_asked_and_all_request_files_are_written_again(encoder):
    recorded = {row["key"] for row in read_recording("musique_train")}
    replies = {row["key"]: row["reply"] for row in read_recording("musique_train")}
    asked = requests_of("musique_train", replies, encoder)
    assert {request.key for request in asked} == recorded
    card = json.loads(shipped("recordings/cards.json").read_text(encoding="utf-8"))
    assert hashes(rebuilt(encoder)) == card["request_files"]


@pytest.mark.parametrize("part", PARTS)
def test_the_cards_numbers_are_those_of_the_recording(part):
    rows = read_recording(part)
    card = json.loads(shipped("recordings/cards.json").read_text(encoding="utf-8"))["parts"][part]
    assert card["replies"] == len(rows) == len({row["key"] for row in rows})
    assert sum(card["tasks"].values()) == len(rows)


@pytest.mark.slow
@pytest.mark.needs("musique_train")
def test_the_request_files_are_written_again_byte_for_byte(encoder, requests, monkeypatch):
    # A part whose recording holds every prompt it asks needs no other's replies.
    monkeypatch.setattr(recordings, "requests_of", lambda part, *_: requests(part))
    files = rebuilt(encoder)
    card = json.loads(shipped("recordings/cards.json").read_text(encoding="utf-8"))
    whole = {name for name, found in hashes(files).items() if card["request_files"][name] == found}
    assert len(whole) >= len(card["request_files"]) - 3  # these hold the row that is left out
    assert differing(files) == []
    assert differing({**files, "a01": files["a01"][::-1]}) == ["a01"]
    rows = [row for part in RUNS for row in read_recording(part)]
    written = {row["key"]: row["reply"] for row in rows if row["task"] in ANSWERING}
    assert len(written) > 900 and broken_claims(files, written) == []


def test_a_broken_claim_is_found(requests):
    """Each claim, broken on purpose: a question twice in a file, passages beside a closed-book
    prompt, a gold marker, another answer in a prompt.
    """
    some = requests("professors")
    closed = next(r for r in some if r.task.name == "direct")
    read = [r for r in some if r.task.name == "answer" and r.about == closed.about]
    shown = {"key": read[0].messages[-1]["content"][:200]}
    found = broken_claims({"f": [closed, *read[:2]]}, shown)
    assert any("stands 3 times" in line for line in found)
    assert any("closed-book" in line for line in found)
    assert any("shows key" in line for line in found)
    marked = [{**message, "content": message["content"] + ' "gold"'} for message in closed.messages]
    gold = Request(closed.key, closed.part, closed.about, closed.task, marked)
    assert any('shows "gold"' in line for line in broken_claims({"f": [gold]}, {}))


def test_a_recorded_question_is_answered_by_a_model_and_says_so(encoder):
    corpus = mr.load_corpus("professors")
    method = mr.METHODS["bm25"].build(corpus, llm="recorded", encoder=encoder)
    question = corpus.questions[0]
    answer = method.answer(question.text)
    assert answer.llm == "recorded replies of a large language model"
    assert exact_match(answer.text, question.answers)


def test_another_question_falls_back_to_the_rule_and_says_so(encoder):
    corpus = mr.load_corpus("professors")
    method = mr.METHODS["bm25"].build(corpus, llm="recorded", encoder=encoder)
    with pytest.warns(UserWarning, match="offline rule answers, not a model: no recording holds"):
        answer = method.answer("Who paid for the harbour wall?")
    assert answer.llm == (
        "offline rules (not a language model); not recorded for this wording, method and k"
    )
    needy = mr.METHODS["zeroshot"].build(corpus, llm="recorded")
    with pytest.raises(
        mr.MiniragError, match="no recording holds this prompt of the task 'direct'"
    ):
        needy.answer("Who paid for the harbour wall?")


def test_a_table_fails_where_a_call_is_not_recorded(tmp_path, encoder):
    rows = read_recording("professors")
    lost = tmp_path / "professors.jsonl"
    kept = [row for row in rows if row["task"] != "direct"]
    lost.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
    [row] = [row for row in answers.PROFESSORS if row.name == "zeroshot"]
    with pytest.raises(mr.MiniragError, match="has no answer to this prompt of the task 'direct'"):
        answers.score_rows("professors", load_llm(f"replay:{lost}"), encoder, [row])


def test_the_answers_of_the_professors_are_those_of_a_model():
    """Every row from recorded replies; passages help a closed-book model in an invented world."""
    table = answers.reproduce_answers([f"professors {row.name}" for row in answers.PROFESSORS])
    found = {row["method"]: row for row in table["rows"]}
    assert all(cell.state in ("OK", "OKISH") for cell in table["comparison"])
    assert found["professors bm25"]["EM low"] > found["professors zeroshot"]["EM high"]


def test_a_round_needs_a_name_of_its_own(tmp_path, encoder, monkeypatch):
    """A round under an old name would overwrite the files that were answered."""
    some = requests_of("professors", {}, encoder)[:3]
    monkeypatch.setattr(recordings, "shipped_replies", dict)
    monkeypatch.setattr(recordings, "RUNS", {"professors": ()})
    monkeypatch.setattr(recordings, "requests_of", lambda *_: some)
    for name in ("a", "new"):
        if name == "new":
            [line] = recordings.write_round(tmp_path, "new", encoder)
            assert line.endswith("requests_new01.jsonl: 3 requests")
            (tmp_path / "requests_new01.jsonl").write_text("", encoding="utf-8")
        with pytest.raises(mr.MiniragError, match="give the round another name"):
            recordings.write_round(tmp_path, name, encoder)


def test_every_verdict_is_compared_with_the_stored_one():
    pair = "textbook pathrag over flat"
    table = judged.reproduce_judged([pair])
    assert {row["method"].rpartition(":")[0] for row in table["rows"]} == {pair}
    assert all(cell.state == "OK" for cell in table["comparison"]) and len(table["rows"]) == 6
    assert "inconclusive" in table["notes"][-1]


def test_the_recordings_are_small_and_of_one_form():
    assert sum(path.stat().st_size for path in shipped("recordings").iterdir()) < 6e6
    assert {row["model"] for row in all_recordings().values()} == {"a large language model"}
    assert recording("professors").is_model


def test_a_match_is_judged_in_both_orders_or_alternating():
    calls = []

    class Judge(type(load_llm("offline"))):
        def map(self, task, items, executor=None, description=""):
            calls.extend((row["first"], row["second"]) for row in items)
            return [[("logicality", 1, ""), ("overall winner", 0, "")] for _ in items]

    texts = {"q1": "?", "q2": "??"}
    given = {"a": {"q1": "a1", "q2": "a2"}, "b": {"q1": "b1", "q2": "b2"}}
    match = judged.Match("textbook", "a", "b", texts, ("logicality",), both_orders=False)
    [logic, overall] = judged.rates(match, judged.judge(Judge(), match, given))
    assert calls == [("a1", "b1"), ("b2", "a2")]
    assert (logic["won"], logic["tied"], logic["lost"], overall["tied"]) == (1, 0, 1, 2)
    calls.clear()
    both = match._replace(both_orders=True)
    [logic, _] = judged.rates(both, judged.judge(Judge(), both, given))
    assert calls == [("a1", "b1"), ("a2", "b2"), ("b1", "a1"), ("b2", "a2")]
    assert (logic["won"], logic["tied"], logic["rate"]) == (0, 2, 50)


def test_a_broken_line_of_replies_loses_no_other(tmp_path):
    def line(key, **response):
        return json.dumps({"custom_id": key, "response": response})

    body = {"choices": [{"message": {"content": "yes"}}]}
    lines = [line("a", status_code=200, body=body), line("b", status_code=500, body={}), "{half"]
    (tmp_path / "responses_x01.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert read_replies(tmp_path) == {"a": "yes"}
