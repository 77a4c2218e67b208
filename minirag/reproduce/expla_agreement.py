"""What a graph encoder has learnt on ExplaGraphs: how often it says what the rules of one and of
two bits say, and where they differ.

Only GRAG's graph part is trained here, by the alignment warm-up; the answer is the one whose word
embedding is nearest to the graph token.
"""

from dataclasses import replace
from tempfile import TemporaryDirectory

import numpy as np
import torch

from ..neural import Settings
from ..neural.language_model import LanguageModel
from ..neural.model import GraphPrompt
from ..neural.training import Trainer
from .expla_conditions import SEEDS, TOKEN, UNPRUNED, make_bench
from .expla_transfer import nearest
from .graph_prompts import Condition
from .stance_baselines import BASELINES, accuracy, percent_equal

PARTS = {"graph part": TOKEN, "graph part unpruned": UNPRUNED}
AGREEMENT_NAMES = tuple(PARTS)
RULES = {"one bit": "any negated relation", "two bits": "negated relation xor denying belief"}


def measure_agreement(
    names=AGREEMENT_NAMES, encoder="minilm", seeds=SEEDS, folder=None, bench=None
):
    """A row for each part: means over the seeds, in percent of the test questions.

    accuracy, sd: as elsewhere. "as one bit", "as two bits": how often it answers as that rule.
    "where they differ as one bit": among the questions to which the two rules give different
    answers, how often it sides with the first. folder: keeps the tiny language models.
    bench: another one than that of ExplaGraphs.

    Source: GRAG, Eq. 9-10 (eq-9, eq-10)
    """
    with TemporaryDirectory() as temporary:
        bench = bench or make_bench(folder or temporary, encoder)
        test = bench.task.test
        rules = {
            short: [_rule(name)(question, None) for question in test]
            for short, name in RULES.items()
        }
        seen = [bench.seen(part, Condition("whole graph"))[0] for part in ("train", "test")]
        rows = []
        for name in names:
            said = [_answers(PARTS[name], bench, seen, seed) for seed in seeds]
            right = [accuracy(one, test) for one in said]
            row = {
                "method": name,
                "accuracy": float(np.mean(right)),
                "sd": float(np.std(right)),
                "seeds": len(seeds),
            }
            row |= {
                f"as {short}": float(np.mean([percent_equal(one, rule) for one in said]))
                for short, rule in rules.items()
            }
            differ = [
                place
                for place in range(len(test))
                if rules["one bit"][place] != rules["two bits"][place]
            ]
            sides = [
                percent_equal(
                    [one[place] for place in differ], [rules["one bit"][place] for place in differ]
                )
                for one in said
            ]
            rows.append(row | {"where they differ as one bit": float(np.mean(sides))})
    return rows


def _rule(name):
    return next(baseline.look for baseline in BASELINES if baseline.name == name)


def _answers(settings, bench, seen, seed):
    """What the graph part of one seed answers to the test questions."""
    taught = bench.language_model("tiny", seed)
    torch.manual_seed(seed)
    language = LanguageModel.load(taught)
    model = GraphPrompt(language, bench.table.dimensions, Settings(**settings))
    Trainer(model, bench.collate, replace(bench.plan, epochs=0, seed=seed)).fit(seen[0], [])
    return nearest(model, bench.collate, seen[1], bench.task.answers)
