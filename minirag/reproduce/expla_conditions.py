"""GRAG and its ablations on ExplaGraphs: which model sees what, and how the small ones are trained.

Sizes, rates and epochs were chosen on the validation part, with seed 0, of a few tries; the test
part was not looked at for it.
"""

from functools import cache, partial
from pathlib import Path

from ..corpora.expla_graphs import load_expla_graphs
from ..encoders.text_encoders import load_encoder
from ..neural import CODE
from ..neural.pretraining import Pretraining
from ..neural.training import Plan
from .graph_prompts import Bench, Condition, mean_and_spread, run_all, table_of

SEEDS = (0, 1, 2)  # fixed before any reported run
PRETRAINING = Pretraining(steps=150, batch=32, batch_with_text=16, keyword=0.9, answer_weight=5.0)
PLAN = Plan(
    alignment_epochs=4,
    alignment_rate=1e-3,
    epochs=1,
    rate=5e-4,
    language_rate=1e-3,
    batch=32,
    weight_decay=0.05,
)
TUNED = {"epochs": 3, "language_rate": 5e-4}  # a language model without a graph token learns slowly
NO_TOKEN, TOKEN = {"graph_token": "none"}, {"dropout": 0.3}
UNPRUNED = {**TOKEN, "pruning": "none"}

CONDITIONS = (
    Condition("LM only", settings=NO_TOKEN),
    Condition("LM with hard prompt", text="description", settings=NO_TOKEN),
    Condition(
        "constant token with hard prompt", text="description", settings={"graph_token": "constant"}
    ),
    Condition("graph token unpruned", settings=UNPRUNED),
    Condition(
        "graph token unpruned and without relations",
        settings={**UNPRUNED, "edges_in_messages": False},
    ),
    Condition("graph token", settings=TOKEN),
    Condition("graph token unpruned with hard prompt", text="description", settings=UNPRUNED),
    Condition("GRAG", text="description", settings=TOKEN),
    Condition(
        "GRAG by elementwise distance",
        text="description",
        settings={**TOKEN, "pruning": "elementwise"},
    ),
    Condition("G-Retriever", retrieve="steiner", text="flat", settings=UNPRUNED),
    Condition("BM25 top-3", retrieve="bm25", top=3, text="flat", settings=NO_TOKEN),
    Condition("BM25 top-5", retrieve="bm25", top=5, text="flat", settings=NO_TOKEN),
    Condition("MiniLM top-3", retrieve="dense", top=3, text="flat", settings=NO_TOKEN),
    Condition("MiniLM top-5", retrieve="dense", top=5, text="flat", settings=NO_TOKEN),
    Condition("top-10 (all of it)", retrieve="whole", text="flat", settings=NO_TOKEN),
    Condition(
        "LM with hard prompt and LoRA",
        text="description",
        settings=NO_TOKEN,
        tuning="lora",
        plan=TUNED,
    ),
    Condition("GRAG with LoRA", text="description", settings=TOKEN, tuning="lora"),
)
AS_CODE = Condition(
    "GRAG as in its code", text="flat", settings={**TOKEN, **CODE}
)  # all questions look the same to its encoder
CONDITION_NAMES = (*(condition.name for condition in CONDITIONS), AS_CODE.name)


@cache
def make_bench(folder, encoder="minilm", follow="paper"):
    """What all conditions share; the tiny language models lie in `folder`."""
    task = load_expla_graphs(follow=follow)
    table = table_of([*task.train, *task.validation, *task.test], load_encoder(encoder))
    return Bench(task, table, Path(folder), PRETRAINING, PLAN, (CONDITIONS[1],))


def measure_conditions(folder, names, encoder="minilm", seeds=SEEDS, jobs=None, others=()):
    """`(rows, runs, found)`: for each named condition `{"method", "accuracy", "sd", "seeds"}` in
    percent, over the seeds; the row of every single run; and what `others` gave, which ran beside
    them (see `run_all`).

    folder: keeps the tiny language models.

    Source: GRAG, Table 2 (tab-2); GRAG, Eq. 11 (eq-11)
    """
    bench = partial(make_bench, folder, encoder)
    rows = [*((bench, condition) for condition in CONDITIONS), (partial(bench, "code"), AS_CODE)]
    runs, found = run_all([row for row in rows if row[1].name in names], seeds, jobs, others)
    spread = mean_and_spread(runs)
    return (
        [
            {"method": name, "accuracy": mean, "sd": sd, "seeds": count}
            for name, (mean, sd, count) in spread.items()
        ],
        runs,
        found,
    )
