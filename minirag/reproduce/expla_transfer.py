"""Does what a graph encoder learns on one task help on another? Table 4's question, between
ExplaGraphs and the synthetic task `detours`.

The paper trains on one data set and asks its language model about the other. A small frozen model
cannot do that: the two tasks have no answer in common. So there are several readings. "own test":
the trained model on the task that it learnt. "as it is": on the other one, with the answers of both
to choose from. "new projector": pruning and encoder stay as trained on the one task, only the
projector learns on the other. "untrained encoder": the same with a random encoder, as control.
"""

import copy
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch.nn import functional as F

from ..corpora.detours import detours
from ..corpora.expla_graphs import load_expla_graphs
from ..encoders.text_encoders import load_encoder
from ..neural import Settings
from ..neural.batches import Collator
from ..neural.language_model import LanguageModel
from ..neural.model import GraphPrompt
from ..neural.training import Plan, Trainer
from .expla_conditions import SEEDS, make_bench
from .graph_prompts import Condition, examples, table_of
from .stance_baselines import accuracy

SETTINGS = Settings(hidden=32)
PLANS = {
    "detours": Plan(alignment_epochs=6, epochs=0, alignment_rate=3e-3, batch=32, weight_decay=0.05),
    "ExplaGraphs": Plan(
        alignment_epochs=4, epochs=0, alignment_rate=1e-3, batch=32, weight_decay=0.05
    ),
}
SEEN = {"detours": Condition("detours", retrieve="named"), "ExplaGraphs": Condition("ExplaGraphs")}
READINGS = ("own test", "as it is", "new projector", "untrained encoder")
TRANSFER_NAMES = tuple(
    f"{one} to {other}: {reading}"
    for one, other in (("detours", "ExplaGraphs"), ("ExplaGraphs", "detours"))
    for reading in READINGS
)


def measure_transfer(encoder="minilm", seeds=SEEDS, folder=None, task=None):
    """Rows of `{"method", "accuracy", "sd", "seeds"}`, in percent of the other task's test
    questions; no language model writes.

    The answer is the one whose word embedding is nearest to the graph token. folder: keeps the tiny
    language models of ExplaGraphs, whose word embeddings these are. task: another `detours(...)`
    than the default.

    Source: GRAG, Table 4 (tab-4)
    """
    tasks = {"detours": task or detours(train=4000), "ExplaGraphs": load_expla_graphs()}
    questions = [
        question for one in tasks.values() for part in (one.train, one.test) for question in part
    ]
    table = table_of(questions, load_encoder(encoder))
    collate = Collator(table)
    seen = {
        name: [examples(part, SEEN[name], table)[0] for part in (one.train, one.test)]
        for name, one in tasks.items()
    }
    found = {name: [] for name in TRANSFER_NAMES}
    with TemporaryDirectory() as temporary:
        bench = make_bench(folder or temporary, encoder)
        for seed in seeds:
            language = LanguageModel.load(bench.language_model("tiny", seed))
            for one, other in (("detours", "ExplaGraphs"), ("ExplaGraphs", "detours")):
                for reading, percent in _transferred(
                    one, other, seen, tasks, language, collate, seed
                ):
                    found[f"{one} to {other}: {reading}"].append(percent)
    return [
        {
            "method": name,
            "accuracy": float(np.mean(some)),
            "sd": float(np.std(some)),
            "seeds": len(some),
        }
        for name, some in found.items()
    ]


def _transferred(one, other, seen, tasks, language, collate, seed):
    """(reading, percent right on the test part of `other`) for each reading of a model trained on
    `one`.
    """
    torch.manual_seed(seed)
    model = GraphPrompt(language, collate.table.dimensions, SETTINGS)
    untrained = copy.deepcopy(model.state_dict())
    Trainer(model, collate, replace(PLANS[one], seed=seed)).fit(seen[one][0], [])
    yield (
        "own test",
        accuracy(nearest(model, collate, seen[one][1], tasks[one].answers), tasks[one].test),
    )
    yield (
        "as it is",
        accuracy(
            nearest(
                model, collate, seen[other][1], sorted({*tasks[one].answers, *tasks[other].answers})
            ),
            tasks[other].test,
        ),
    )
    trained = copy.deepcopy(model.state_dict())
    for reading, state in (("new projector", trained), ("untrained encoder", untrained)):
        model.load_state_dict(
            {name: (untrained if name.startswith("projector.") else state)[name] for name in state}
        )
        model.fit_pruning(collate, seen[other][0])
        head, look = encoded_once(
            model, collate, [example for part in seen[other] for example in part]
        )
        Trainer(head, look, replace(PLANS[other], seed=seed)).fit(seen[other][0], [])
        yield (
            reading,
            accuracy(nearest(head, look, seen[other][1], tasks[other].answers), tasks[other].test),
        )


@dataclass(frozen=True)
class Encoded:
    """A batch whose graphs have been read: `vectors` (B, hidden)."""

    vectors: torch.Tensor

    def to(self, device):
        return Encoded(self.vectors.to(device))


class Encoding(torch.nn.Module):
    """Stands where the encoder stood, and gives what it said."""

    def forward(self, batch, factors=None):
        return batch.vectors


@torch.no_grad()
def encoded_once(model, collate, some):
    """`(model, collate)` of which only the projector is left to learn: pruning and encoder stay as
    they are, so they read every example once.
    """
    model.eval()
    parts = [some[start : start + 128] for start in range(0, len(some), 128)]
    vectors = torch.cat(
        [model.encoder(batch, model.factors(batch)) for batch in map(collate, parts)]
    )
    place = {id(example): row for row, example in enumerate(some)}
    head = copy.deepcopy(model)
    head.pruning, head.encoder = None, Encoding()
    return head, lambda examples: Encoded(vectors[[place[id(example)] for example in examples]])


def nearest(model, collate, some, answers):
    """For each example the answer, of all `answers`, whose word embedding is nearest to the graph
    token.
    """
    model.eval()
    with torch.no_grad():
        vectors = F.normalize(model.language.answer_vectors(answers), dim=1)
        best = [
            place
            for start in range(0, len(some), 128)
            for place in (model.direction(collate(some[start : start + 128])) @ vectors.T).argmax(
                dim=1
            )
        ]
    return [answers[place] for place in best]
