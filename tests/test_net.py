"""Every method finds, reads and asks what it did when `tests/recorded/net_*.json` was written.

The recordings are of one machine. Where another rounds a cosine otherwise, two equal passages may
change places: then compare two full recordings of `tests/net.py`, both made there.
"""

import json
from pathlib import Path

import pytest
from net import PUBLISHED, ROUGHLY, SHIPPED, compact, differences, lines

RECORDED = Path(__file__).parent / "recorded"


def changed(kind):
    before = json.loads((RECORDED / f"net_{kind}.json").read_text(encoding="utf-8"))
    return list(differences(before, compact(lines(kind)), ROUGHLY))


@pytest.mark.slow
def test_nothing_changed_over_the_shipped_corpora():
    assert changed(SHIPPED) == []


@pytest.mark.slow
@pytest.mark.needs("musique_train", "dulce", "expla_graphs")
def test_nothing_changed_over_published_data():
    assert changed(PUBLISHED) == []
