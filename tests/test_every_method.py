"""Every method on every shipped corpus, offline: it retrieves and answers, or the last column of
`minirag methods` says what it needs.
"""

import functools

import pytest

import minirag as mr
from minirag.cli.reproduce import method_rows
from minirag.core.errors import MiniragError

CORPORA = ["professors", *sorted(set(mr.list_corpora()) - {"professors"})]
CELLS = {row[0]: row[-1] for row in method_rows() if row[-1]}
# What an error says where a cell says what is needed.
SAID = {"needs a model": "needs a model", "needs training": "minirag train"}

# IRCoT's replies are recorded over HippoRAG on shipped corpora, over vector search on MuSiQue.
RECORDED = [name for name, cell in CELLS.items() if cell == "needs a model" and name != "ircot"]

corpus_named = functools.cache(mr.load_corpus)


def test_the_issue_of_the_survey_is_whole():
    named = "zeroshot vanilla raptor raptor-k kgp hipporag g-retriever tog dalk graphrag-local"
    named += " graphrag-global fastgraphrag lightrag-local lightrag-global lightrag-hybrid"
    named += " graphrag-er graphrag-cc vgraphrag-cc vgraphrag cheaprag pathrag pathrag-lt grag tog2"
    named += " cok hyde ircot colbert proposition cot cot-sc bm25 dense"
    assert set(named.split()) <= set(CELLS)
    assert set(CELLS.values()) == {"runs", *SAID}


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize(
    "corpus", [CORPORA[0], *(pytest.param(name, marks=pytest.mark.slow) for name in CORPORA[1:])]
)
def test_a_method_runs_offline_or_says_what_it_needs(corpus, name):
    texts = corpus_named(corpus)
    method = mr.METHODS[name].build(texts, encoder="lsa")
    asked = texts.questions[0].text
    if CELLS[name] == "runs":
        found = method.retrieve(asked, k=3)
        assert len(found.passages) <= 3
        assert method.answer(asked, k=3).text
        return
    with pytest.raises(MiniragError, match=SAID[CELLS[name]]):
        method.answer(asked, k=3)


@pytest.mark.parametrize("name", RECORDED)
def test_a_method_that_needs_a_model_runs_on_recorded_replies(name):
    texts = corpus_named("mini_wiki" if name == "cok" else "professors")
    options = {"samples": 5} if name in ("cot-sc", "cok") else {}
    options |= {"extraction": "triples"} if name == "cok" else {}
    method = mr.METHODS[name].build(texts, llm="recorded", **options)
    answer = method.answer(texts.questions[0].text)
    assert answer.text and method.llm.ledger.total.replayed == method.llm.ledger.total.calls
