"""No recall in 03_hipporag hangs on the last digits of a score: around every cut two scores are either the same or clearly apart."""

import numpy as np
import pytest

import minirag as mr

CUTS = (2, 5)  # recall is measured there
SAME, APART = 1e-12, 5e-6
ABLATIONS = [{}, {"specificity": False}, {"synonymy": "none"}, {"propagation": "query-nodes"}, {"propagation": "neighbours"}, {"passage_matrix": "facts"}]


def doubtful(scores):
    """The cuts at which another machine's rounding might swap two passages."""
    ordered = np.sort(scores)[::-1]
    gaps = {k: ordered[k - 1] - ordered[k] for k in CUTS}
    return [k for k, gap in gaps.items() if SAME < gap < APART]


@pytest.fixture(scope="module", params=["annotations", None], ids=["annotations", "offline rules"])
def method(request):
    return mr.HippoRAG.build(mr.load_corpus("professors"), llm="offline", encoder="minilm", extraction=request.param)


@pytest.mark.parametrize("choice", ABLATIONS, ids=str)
def test_no_cut_is_doubtful(method, choice):
    questions = mr.load_corpus("professors").questions
    traces = method.with_options(**choice).score_many([q.text for q in questions])
    assert not {q.id: cuts for q, trace in zip(questions, traces) if (cuts := doubtful(trace[-1].data["scores"]))}


def test_a_doubtful_cut_is_found():
    assert doubtful(np.array([0.3, 0.2, 0.2 - 1e-7, 0.1, 0.1, 0.1])) == [2]
    assert doubtful(np.array([0.3, 0.2, 0.2 - 1e-15, 0.1, 0.1, 0.05])) == []
