"""The public sets of Wang's Table II, read from small files of the same shape."""

import json

import pytest

from minirag.core.errors import MiniragError
from minirag.corpora.kgqa import READERS, read_table_ii

PARSES = [{"Answers": [{"EntityName": "Selm", "AnswerArgument": "m.1"}]}]
PARSES += [{"Answers": [{"EntityName": None, "AnswerArgument": "1911"}]}]
ROWS = {
    "webqsp": {"QuestionId": "WebQTest-0", "RawQuestion": "where?", "Parses": PARSES},
    "advhotpotqa": {"_id": "5a8b", "question": "where?", "answer": "Selm"},
    "qald-10-en": {"question": "Where?", "answer": {"Q1": "Selm", "Q2": "Carrow"}},
    "zero-shot-re": {
        "input": "Orrin Bridge [SEP] crosses", "answer": "Ine", "alias": ["Ine", "River Ine"],
        "template_questions": ["What river does Orrin Bridge cross?"],
    },
    "fever": {"id": 75397, "claim": "Selm is a port.", "label": "NOT ENOUGH INFO"},
    "creak": {"ex_id": "dev_0", "sentence": "Ports have water.", "label": "true"},
}  # fmt: skip
READ = {
    "webqsp": ("WebQTest-0", "where?", ("Selm", "1911"), ""),
    "advhotpotqa": ("5a8b", "where?", ("Selm",), ""),
    "qald-10-en": ("qald-10-en-1", "Where?", ("Selm", "Carrow"), ""),
    "zero-shot-re": (
        "Orrin Bridge [SEP] crosses", "What river does Orrin Bridge cross?", ("Ine", "River Ine"),
        "",
    ),
    "fever": ("75397", "Selm is a port.", ("NOT ENOUGH INFO",), "claim"),
    "creak": ("dev_0", "Ports have water.", ("SUPPORTS",), "claim"),
}  # fmt: skip


@pytest.mark.paper("Wang", "tab-2")
@pytest.mark.parametrize("name", sorted(READERS))
@pytest.mark.parametrize("form", ["list", "lines"])
def test_a_set_is_read(name, form, tmp_path):
    path = tmp_path / ("rows.jsonl" if form == "lines" else "rows.json")
    text = json.dumps(ROWS[name]) + "\n" if form == "lines" else json.dumps([ROWS[name]])
    path.write_text(text, encoding="utf-8")
    (question,) = read_table_ii(path, name)
    assert (question.id, question.text, question.answers, question.kind) == READ[name]


def test_webqsp_as_its_authors_wrap_it(tmp_path):
    path = tmp_path / "WebQSP.json"
    path.write_text(json.dumps({"Questions": [ROWS["webqsp"]]}), encoding="utf-8")
    assert len(read_table_ii(path, "webqsp")) == 1


def test_what_is_no_row_or_no_set_says_so(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"question": "Where?"}]), encoding="utf-8")
    with pytest.raises(MiniragError, match="row 1: not a row of fever"):
        read_table_ii(path, "fever")
    with pytest.raises(MiniragError, match="there are: webqsp"):
        read_table_ii(path, "squad")
